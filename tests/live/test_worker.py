"""A real worker process: turns over HTTP, crashes, freezes, lost messages, shutdown."""

from collections.abc import Callable

import pytest

from agentadmin.engine.identity import new_id
from runs_app.models import DemoOrder, Run
from sessions_app.models import AgentThread
from tests.live.conftest import Client
from tests.services.product import Product, until

pytestmark = pytest.mark.live


def kill(product: Product) -> None:
    product.workers.pop("worker").kill()


def has_order(client: Client) -> Callable[[], bool]:
    return lambda: DemoOrder.objects.filter(thread_id=client.thread).exists()


def test_a_turn_is_answered_by_a_worker(client: Client) -> None:
    turn = client.wait(client.submit("/echo hello"), "completed")
    assert turn["outcome"] == "done"
    assert client.reply() == "hello"


def test_a_worker_killed_mid_stream_is_succeeded(product: Product, client: Client) -> None:
    turn_id = client.submit("/slow 60 20")
    client.wait(turn_id, "running")
    kill(product)
    product.start_worker()
    turn = client.wait(turn_id, "completed")
    assert turn["attempts"] == 2
    runs = Run.objects.filter(turn_id=turn_id).order_by("attempt")
    assert [run.status for run in runs] == ["lost", "completed"]
    assert client.reply().endswith("word-60")
    assert len(client.facts("message/user")) == 1


def test_a_worker_killed_before_the_order_leaves_the_outcome_to_a_person(
    product: Product, client: Client
) -> None:
    turn_id = client.submit('/tool create_order {"sku": "a", "delay_before": 60}')
    client.approve(turn_id)
    until(lambda: client.facts("tool/dispatch"), "the call is dispatched")
    kill(product)
    product.start_worker()
    until(lambda: client.turn(turn_id)["wait"] is not None, "the turn waits")
    turn = client.turn(turn_id)
    assert turn["wait"]["kind"] == "reconcile"
    (call_id,) = turn["wait"]["ids"]
    results = {call_id: {"output": "it was never sent", "state": "error"}}
    client.post(f"/threads/{client.thread}/reconcile", results=results, reason="asked the shop")
    assert client.wait(turn_id, "completed")["outcome"] == "done"
    assert not DemoOrder.objects.filter(thread_id=client.thread).exists()


def test_a_worker_killed_after_the_order_never_orders_twice(
    product: Product, client: Client
) -> None:
    turn_id = client.submit('/tool create_order {"sku": "b", "delay_after": 60}')
    client.approve(turn_id)
    until(has_order(client), "the order is recorded")
    kill(product)
    product.start_worker()
    until(lambda: client.turn(turn_id)["wait"] is not None, "the turn waits")
    assert client.turn(turn_id)["wait"]["kind"] == "reconcile"
    order = DemoOrder.objects.get(thread_id=client.thread)
    assert order.times_asked == 1


def test_a_worker_killed_after_the_result_was_saved_just_goes_on(
    product: Product, client: Client
) -> None:
    calls = (
        '/tools [{"name": "create_order", "input": {"sku": "c"}},'
        ' {"name": "sleep", "input": {"seconds": 3}}]'
    )
    turn_id = client.submit(calls)
    client.approve(turn_id)
    until(lambda: client.facts("tool/result"), "the order's result is committed")
    kill(product)
    product.start_worker()
    turn = client.wait(turn_id, "completed", "waiting")
    assert (turn["state"], turn["outcome"]) == ("completed", "done")
    assert DemoOrder.objects.get(thread_id=client.thread).times_asked == 1


def test_a_frozen_worker_that_wakes_up_writes_nothing(product: Product, client: Client) -> None:
    turn_id = client.submit("/slow 40 50")
    client.wait(turn_id, "running")
    frozen = product.workers["worker"]
    frozen.freeze()
    product.start_worker("second")
    until(lambda: client.turn(turn_id)["attempts"] == 2, "the second worker took over")
    frozen.thaw()
    client.wait(turn_id, "completed")
    until(lambda: "gone to another worker" in product.logs("worker"), "the first one noticed")
    assert len(client.facts("message/assistant")) == 1
    assert len(client.facts("turn/completed")) == 1


def test_a_lost_message_is_made_up_for(product: Product, client: Client) -> None:
    product.stop_worker()
    turn_id = client.submit("/echo found")
    assert product.valkey is not None
    flush(product)
    product.start_worker()
    assert client.wait(turn_id, "completed")["outcome"] == "done"


def flush(product: Product) -> None:
    from redis import Redis

    with Redis.from_url(product.environment["REDIS_URL"]) as redis:
        redis.flushall()


def test_a_flushed_redis_loses_no_fact(product: Product, client: Client) -> None:
    turn_id = client.submit("/slow 20 30")
    client.wait(turn_id, "running")
    flush(product)
    after = client.submit("/echo after")
    flush(product)
    assert client.wait(turn_id, "completed")["outcome"] == "done"
    assert client.wait(after, "completed")["outcome"] == "done"
    seqs = [fact.seq for fact in client.facts()]
    assert seqs == list(range(1, len(seqs) + 1))


def test_an_interrupt_reaches_the_stream(product: Product, client: Client) -> None:
    turn_id = client.submit("/slow 2000 20")
    client.wait(turn_id, "running")
    answer = client.post(f"/sessions/{client.session}/interrupt", reason="enough")
    turn = client.wait(turn_id, "completed", seconds=5)
    assert turn["outcome"] == "interrupted"
    control = client.get(f"/controls/{answer['control_id']}")
    assert control["state"] == "effective"


def test_a_dead_workers_run_is_settled_after_its_interrupt(
    product: Product, client: Client
) -> None:
    turn_id = client.submit("/slow 2000 20")
    client.wait(turn_id, "running")
    kill(product)
    client.post(f"/sessions/{client.session}/interrupt", reason="hangs")
    product.start_worker()
    assert client.wait(turn_id, "completed")["outcome"] == "interrupted"
    assert client.wait(client.submit("/echo next"), "completed")["outcome"] == "done"


def test_a_dead_workers_turn_is_cancelled(product: Product, client: Client) -> None:
    turn_id = client.submit("/slow 2000 20")
    client.wait(turn_id, "running")
    kill(product)
    receipt = client.post(f"/turns/{turn_id}/cancel", request_id=new_id(), reason="hangs")
    assert receipt["state"] == "cancelling"
    product.start_worker()
    client.wait(turn_id, "cancelled")
    assert client.wait(client.submit("/echo next"), "completed")["outcome"] == "done"


def test_a_stopped_worker_saves_and_the_next_one_goes_on(product: Product, client: Client) -> None:
    turn_id = client.submit("/slow 100 50")
    client.wait(turn_id, "running")
    worker = product.workers["worker"].process
    product.stop_worker()
    assert worker.returncode == 0, "it had to be killed"
    assert Run.objects.get(turn_id=turn_id).status == "suspended"
    assert AgentThread.objects.get(id=client.thread).lease_owner is None
    assert client.turn(turn_id)["state"] == "running"
    product.start_worker()
    turn = client.wait(turn_id, "completed")
    assert (turn["outcome"], turn["attempts"]) == ("done", 2)
