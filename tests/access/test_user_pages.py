"""Accounts: who manages them, what is asked for, and that nobody locks everybody out."""

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from agentadmin.access.models import RoleAssignment
from agentadmin.access.selectors import grants_of
from agentadmin.access.services import create_user, grant_role, set_active
from agentadmin.access.tokens import create_token
from agentadmin.engine.errors import InvalidInput
from tests.access.conftest import PASSWORD, SYSTEM, People, last_entry

pytestmark = pytest.mark.django_db
WHY = "Works on the billing team now."
ROLE = {"role": "operator", "namespace": "billing-*", "agent": "*", "reason": WHY}


@pytest.fixture
def admin(people: People) -> Client:
    client = Client()
    assert client.post("/sign-in", {"username": "admin", "password": PASSWORD}).status_code == 302
    return client


def test_an_account_is_made_with_a_password_that_is_shown_once(admin: Client) -> None:
    answer = admin.post("/admin/users/new", ROLE | {"name": "carol"})
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (201, True)
    found = re.search(r'<code tabindex="0"[^>]*>([^<]+)</code>', answer.content.decode())
    assert found
    assert (last_entry().action, last_entry().reason) == ("users.create", WHY)
    assert found[1] not in last_entry().header + str(last_entry().body)
    carol = {"username": "carol", "password": found[1]}
    assert Client().post("/sign-in", carol).status_code == 302
    assert grants_of(User.objects.get(username="carol"))[0].namespace == "billing-*"
    assert "carol" in admin.get("/admin/users").content.decode()
    again = admin.post("/admin/users/new", ROLE | {"name": "carol"})
    assert (again.status_code, 'id="id_name-error"' in again.content.decode()) == (409, True)


@pytest.mark.parametrize("field", ["name", "role", "namespace", "agent", "reason"])
def test_what_is_missing_stands_at_its_field(admin: Client, field: str) -> None:
    before = User.objects.count()
    answer = admin.post("/admin/users/new", {"name": "carol", **ROLE, field: ""})
    assert answer.status_code == 422
    assert f'id="id_{field}-error"' in answer.content.decode()
    assert User.objects.count() == before


def test_a_role_is_granted_and_withdrawn_with_a_reason(admin: Client, people: People) -> None:
    viewer = people["viewer"]
    assert admin.post(f"/admin/users/{viewer.pk}", ROLE).status_code == 302
    assert last_entry().action == "users.grant_role"
    given = RoleAssignment.objects.get(user=viewer, role="operator")
    url = f"/admin/users/{viewer.pk}/roles/{given.pk}/withdraw"
    assert "namespace billing-*" in admin.get(url).content.decode()
    assert admin.post(url, {"reason": "short"}).status_code == 422
    assert admin.post(url, {"reason": WHY}).status_code == 302
    assert (last_entry().action, last_entry().reason) == ("users.withdraw_role", WHY)
    assert not RoleAssignment.objects.filter(pk=given.pk).exists()
    assert admin.get(url).status_code == 404


def test_who_is_deactivated_is_out_with_browser_and_token(admin: Client, people: People) -> None:
    viewer = people["viewer"]
    theirs = Client()
    theirs.force_login(viewer)
    secret = create_token(actor=SYSTEM, user=viewer).secret
    program = Client(headers={"Authorization": f"Bearer {secret}"})
    assert theirs.get("/sessions").status_code == 200
    assert admin.post(f"/admin/users/{viewer.pk}/active", {"reason": WHY}).status_code == 302
    assert theirs.get("/sessions").status_code == 302
    assert program.get("/api/v1/sessions").status_code == 401
    assert admin.post(f"/admin/users/{viewer.pk}/active", {"reason": WHY}).status_code == 302
    assert program.get("/api/v1/sessions").status_code == 200


def test_a_lost_password_is_renewed_and_shown_once(admin: Client, people: People) -> None:
    viewer = people["viewer"]
    theirs = Client()
    theirs.force_login(viewer)
    answer = admin.post(f"/admin/users/{viewer.pk}/password", {"reason": WHY})
    found = re.search(r'<code tabindex="0"[^>]*>([^<]+)</code>', answer.content.decode())
    assert found
    assert theirs.get("/sessions").status_code == 302
    given = {"username": "viewer", "password": found[1]}
    assert Client().post("/sign-in", given).status_code == 302


def test_the_last_administrator_stays(admin: Client, people: People) -> None:
    me = people["admin"]
    role = RoleAssignment.objects.get(user=me)
    for url in (f"/admin/users/{me.pk}/active", f"/admin/users/{me.pk}/roles/{role.pk}/withdraw"):
        answer = admin.post(url, {"reason": WHY})
        assert answer.status_code == 409
        assert "no administrator left" in answer.content.decode()
    assert admin.get("/admin/users").status_code == 200
    create_user(actor=SYSTEM, name="second", password=PASSWORD, role="admin")
    assert admin.post(f"/admin/users/{me.pk}/active", {"reason": WHY}).status_code == 302


def test_a_change_needs_a_fresh_password(people: People) -> None:
    client = Client()
    client.force_login(people["admin"])
    url = f"/admin/users/{people['viewer'].pk}"
    assert client.post(url, ROLE).status_code == 403
    assert client.post(f"{url}/active", {"reason": WHY}).status_code == 403
    assert client.post(url, ROLE | {"password": "wrong"}).status_code == 403
    assert RoleAssignment.objects.filter(user=people["viewer"]).count() == 1
    assert client.post(url, ROLE | {"password": PASSWORD}).status_code == 302


def test_an_admin_of_one_place_manages_nobody(people: People) -> None:
    local = create_user(
        actor=SYSTEM, name="local", password=PASSWORD, role="admin", namespace="team-a"
    )
    client = Client()
    client.force_login(local)
    for url in ("/admin/users", "/admin/users/new", f"/admin/users/{people['viewer'].pk}"):
        assert client.get(url).status_code == 403
        assert client.post(url, ROLE | {"name": "x"}).status_code in {403, 405}
    assert not User.objects.filter(username="x").exists()


@pytest.mark.parametrize("pattern", ["", " ", "x" * 257, "a\0b"])
def test_a_pattern_is_printable_text(people: People, pattern: str) -> None:
    for place in ("namespace", "agent"):
        given = {place: pattern}
        with pytest.raises(InvalidInput) as refused:
            grant_role(actor=SYSTEM, user=people["viewer"], role="viewer", **given)
        assert refused.value.path == place


def test_the_command_line_is_never_locked_out(people: People) -> None:
    set_active(actor=SYSTEM, user=people["admin"], active=False)
    assert not User.objects.get(username="admin").is_active


def test_the_list_is_searched_and_goes_on_page_by_page(admin: Client, people: People) -> None:
    for number in range(51):
        User.objects.create(username=f"many&{number:02}")
    page = admin.get("/admin/users", {"q": "many&"}).content.decode()
    assert "many&amp;49" in page
    assert "viewer" not in page.partition("<tbody")[2]
    (older,) = re.findall(r'href="([^"]+)" rel="next"', page)
    assert "many&amp;50" in admin.get(f"/admin/users{unescape(older)}").content.decode()
    assert "No user fits" in admin.get("/admin/users", {"q": "nobody"}).content.decode()
