"""Tokens over HTTP: shown once, within their user, listed without their secret, revoked at once."""

import json
from typing import Any

import pytest
from django.test import Client

from agentadmin.access.models import ApiToken
from agentadmin.access.tokens import create_token
from tests.access.conftest import PASSWORD, SYSTEM, People, last_entry

pytestmark = pytest.mark.django_db
URL = "/api/v1/tokens"


def program(people: People, name: str, **given: Any) -> Client:
    made = create_token(actor=SYSTEM, user=people[name], **given)
    return Client(headers={"Authorization": f"Bearer {made.secret}"})


def post(client: Client, **body: Any) -> Any:
    return client.post(URL, json.dumps(body), "application/json")


def test_a_secret_is_in_the_answer_that_made_it_and_nowhere_else(people: People) -> None:
    client = program(people, "operator")
    made = post(client, name="CI", scopes=["sessions:read"], days=7)
    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")
    body = made.json()
    assert body["token"].startswith("aa_")
    assert (body["name"], body["scopes"], body["state"]) == ("CI", ["sessions:read"], "active")
    listed = client.get(URL).json()["items"]
    assert body["id"] in {item["id"] for item in listed}
    assert body["token"] not in json.dumps(listed)
    assert body["token"] not in last_entry().header + str(last_entry().body)
    theirs = Client(headers={"Authorization": f"Bearer {body['token']}"})
    assert theirs.get("/api/v1/sessions").status_code == 200
    assert theirs.get("/api/v1/audit").status_code == 403


def test_a_revoked_token_is_refused_with_the_next_request(people: People) -> None:
    client = program(people, "operator")
    made = post(client).json()
    theirs = Client(headers={"Authorization": f"Bearer {made['token']}"})
    assert theirs.get("/api/v1/sessions").status_code == 200
    gone = client.delete(f"{URL}/{made['id']}")
    assert (gone.status_code, gone.json()["state"]) == (200, "revoked")
    assert theirs.get("/api/v1/sessions").json()["code"] == "token_revoked"
    assert client.delete(f"{URL}/{made['id']}").json() == gone.json()


def test_another_ones_token_does_not_exist_and_the_attempt_is_audited(people: People) -> None:
    token = create_token(actor=SYSTEM, user=people["operator"]).token
    answer = program(people, "viewer").delete(f"{URL}/{token.pk}")
    assert answer.status_code == 404
    token.refresh_from_db()
    assert token.revoked_at is None
    entry = last_entry()
    assert (entry.outcome, entry.actor, entry.target) == ("denied", "viewer", f"token:{token.pk}")


@pytest.mark.parametrize(
    ("body", "status", "path"),
    [
        ({"scopes": ["sessions:fly"]}, 422, "scopes"),
        ({"scopes": []}, 422, "scopes"),
        ({"days": 91}, 422, "days"),
        ({"days": "7"}, 422, "days"),
        ({"bound_user_id": ""}, 422, "bound_user_id"),
        ({"name": "a\u0000b"}, 422, "name"),
        ({"secret": "x"}, 422, "secret"),
        ({"scopes": ["sessions:erase"]}, 403, None),
        ({"user": "admin"}, 403, None),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_made(
    people: People, body: dict[str, Any], status: int, path: str | None
) -> None:
    client = program(people, "operator")
    answer = post(client, **body)
    assert (answer.status_code, answer.json().get("path")) == (status, path)
    assert ApiToken.objects.count() == 1


def test_an_admin_makes_tokens_for_others_within_what_they_may(people: People) -> None:
    client = program(people, "admin")
    made = post(client, user="viewer").json()
    assert (made["user"], "runs:submit" in made["scopes"]) == ("viewer", False)
    assert post(client, user="nobody").json()["path"] == "user"
    assert {item["user"] for item in client.get(URL).json()["items"]} == {"admin", "viewer"}


def test_the_list_goes_on_behind_its_cursor(people: People) -> None:
    client = program(people, "viewer")
    for _ in range(3):
        create_token(actor=SYSTEM, user=people["viewer"])
    first = client.get(URL, {"limit": 3}).json()
    rest = client.get(URL, {"limit": 3, "cursor": first["next_cursor"]}).json()
    ids = [item["id"] for item in first["items"] + rest["items"]]
    assert (len(ids), len(set(ids)), rest["next_cursor"]) == (4, 4, None)
    assert client.get(URL, {"cursor": "x"}).json()["code"] == "bad_cursor"
    assert client.get(URL, {"limit": 0}).json()["path"] == "limit"


def test_a_bound_token_manages_no_tokens(people: People) -> None:
    client = program(people, "operator", bound_user_id="bob")
    token = ApiToken.objects.get()
    assert client.get(URL).status_code == 403
    assert post(client).status_code == 403
    assert client.delete(f"{URL}/{token.pk}").status_code == 403


def test_a_browser_needs_its_password_again_for_a_token_that_may_widen(people: People) -> None:
    client = Client()
    client.force_login(people["operator"])
    assert post(client).json()["code"] == "step_up_required"
    assert post(client, scopes=["sessions:read"]).status_code == 201
    client.post("/step-up", {"password": PASSWORD})
    assert "permissions:widen" in post(client).json()["scopes"]


def test_a_token_outlives_none_that_it_makes(people: People) -> None:
    client = program(people, "operator", days=2)
    parent = ApiToken.objects.get()
    child = ApiToken.objects.get(pk=post(client, days=90).json()["id"])
    assert child.expires_at == parent.expires_at
