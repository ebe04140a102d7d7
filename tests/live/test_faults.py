"""Workers that die at a chosen place: inside the tool, and between commit and publication."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from runs_app.models import DemoOrder
from tests.live.conftest import Client
from tests.services.product import Product, until

pytestmark = pytest.mark.live


@contextmanager
def faulty_worker(product: Product, fault: str) -> Iterator[None]:
    """The only worker is one that will die; the block waits for its death."""
    product.stop_worker()
    product.environment |= {"AGENTADMIN_AGENTS": "tests.live.faults:agent", "FAULT": fault}
    worker = product.start_worker("faulty")
    try:
        yield
        until(lambda: not worker.alive, "the faulty worker has died")
    finally:
        del product.environment["AGENTADMIN_AGENTS"], product.environment["FAULT"]
        product.workers.pop("faulty").stop()


def test_a_worker_that_dies_while_it_orders_never_orders_twice(
    product: Product, client: Client
) -> None:
    with faulty_worker(product, "order"):
        turn_id = client.submit('/tool create_order {"sku": "d"}')
        client.approve(turn_id)
    product.start_worker()
    until(lambda: client.turn(turn_id)["wait"] is not None, "the turn waits")
    assert client.turn(turn_id)["wait"]["kind"] == "reconcile"
    assert DemoOrder.objects.get(thread_id=client.thread).times_asked == 1


@pytest.mark.parametrize("fact", ["tool/result", "turn/completed"])
def test_what_was_committed_but_not_published_is_there(
    product: Product, client: Client, fact: str
) -> None:
    with faulty_worker(product, f"publish:{fact}"):
        turn_id = client.submit('/tool calculator {"expression": "6 * 7"}')
        until(lambda: client.facts(fact), f"{fact} is committed")
    product.start_worker()
    assert client.wait(turn_id, "completed")["outcome"] == "done"
    assert client.reply() == "calculator returned: 42"
    assert len(client.facts("tool/dispatch")) == 1
    assert len(client.facts("turn/completed")) == 1
