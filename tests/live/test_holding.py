"""A pause and a word to a turn outlive the worker that was to obey them."""

import pytest

from agentadmin.engine.identity import new_id
from runs_app.models import Run
from tests.live.conftest import Client
from tests.live.test_worker import kill
from tests.services.product import Product, until

pytestmark = pytest.mark.live


def test_a_pause_is_kept_by_the_next_worker_and_resumed_by_revision(
    product: Product, client: Client
) -> None:
    turn_id = client.submit('/tool sleep {"seconds": 5}')
    until(lambda: client.facts("tool/dispatch"), "the tool runs")
    asked = client.post(f"/turns/{turn_id}/pause", request_id=new_id())
    assert asked["state"] == "pausing"
    kill(product)
    product.start_worker()
    turn = client.wait(turn_id, "paused")
    assert client.get(f"/controls/{asked['control_id']}")["state"] == "effective"
    assert client.turn(client.submit("/echo behind"))["state"] == "queued"
    stale = client.http.post(
        f"/turns/{turn_id}/resume", json={"request_id": new_id(), "revision": 1}
    )
    assert (stale.status_code, stale.json()["code"]) == (409, "stale_revision")
    assert stale.json()["revision"] == turn["revision"]
    client.post(f"/turns/{turn_id}/resume", request_id=new_id(), revision=turn["revision"])
    assert client.wait(turn_id, "completed")["outcome"] == "done"
    statuses = Run.objects.filter(turn_id=turn_id).order_by("start_seq")
    assert [run.status for run in statuses] == ["lost", "suspended", "completed"]


def test_what_a_turn_was_told_is_read_once_by_the_next_worker(
    product: Product, client: Client
) -> None:
    turn_id = client.submit("/slow 60 20")
    client.wait(turn_id, "running")
    told = client.post(f"/turns/{turn_id}/steer", request_id=new_id(), input="/echo steered")
    kill(product)
    product.start_worker()
    assert client.wait(turn_id, "completed")["outcome"] == "done"
    assert client.reply() == "steered"
    assert len(client.facts("input/applied")) == 1
    assert client.get(f"/controls/{told['control_id']}")["state"] == "effective"
    late = client.http.post(f"/turns/{turn_id}/steer", json={"request_id": "x", "input": "late"})
    assert (late.status_code, late.json()["code"]) == (409, "turn_finished")
