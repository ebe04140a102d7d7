"""The real web server and worker: a turn's events over a socket and over HTTP."""

from __future__ import annotations

import json
from contextlib import suppress
from socket import SHUT_RDWR
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.services.product import Product

pytestmark = pytest.mark.live


def open_socket(product: Product, path: str, **headers: str) -> ClientConnection:
    url = product.url.replace("http", "ws") + path
    sent = {"Authorization": f"Bearer {product.token}", **headers}
    return connect(url, additional_headers=sent, open_timeout=10)


def new_thread(product: Product) -> str:
    with product.client() as client:
        body = {"agent_id": "demo", "session_id": uuid4().hex}
        answer = client.post("/sessions", json=body)
        assert answer.status_code == 201, answer.text
        thread_id: str = answer.json()["threads"][0]["id"]
        return thread_id


def submit(product: Product, thread_id: str, text: str) -> None:
    with product.client() as client:
        body = {"request_id": uuid4().hex, "input": text}
        answer = client.post(f"/threads/{thread_id}/turns", json=body)
        assert answer.status_code == 202, answer.text


def events(socket: ClientConnection, last: str) -> Iterator[dict[str, Any]]:
    """Event frames until one of this type."""
    while True:
        frame = json.loads(socket.recv(timeout=20))
        if frame["type"] != "event":
            assert frame["type"] in {"ready", "ping"}, frame
            continue
        yield frame
        if frame["event"]["type"] == last:
            return


def sse_frames(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """The ids and data of an event stream's events."""
    block: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            block[name] = value
            continue
        if "data" in block and "event" not in block:
            yield block["id"], json.loads(block["data"])
        block = {}


def test_a_turn_streams_over_the_socket_and_over_http_alike(product: Product) -> None:
    thread_id = new_thread(product)
    with open_socket(product, f"/ws/threads/{thread_id}?after=0") as socket:
        submit(product, thread_id, "/slow 20 10")
        frames = list(events(socket, "run/end"))
    told = [frame["event"] for frame in frames]
    seqs = [event["seq"] for event in told if "seq" in event]
    assert seqs == list(range(1, len(seqs) + 1))
    deltas = [event["data"] for event in told if event["type"] == "text_block_delta"]
    text = ""
    for delta in deltas:
        assert delta["offset"] == len(text)
        text += delta["delta"]
    assert text.split() == [f"word-{n}" for n in range(1, 21)]
    with (
        product.client() as client,
        client.stream("GET", f"/threads/{thread_id}/events?after=0") as response,
    ):
        assert response.headers["content-type"] == "text/event-stream"
        listed = []
        for id_, event in sse_frames(response):
            listed.append((id_, event))
            if event["type"] == "run/end":
                break
    facts = [(f["cursor"], f["event"]) for f in frames if "seq" in f["event"]]
    assert [(i, e) for i, e in listed if "seq" in e] == facts


def test_a_client_that_was_away_gets_the_end_at_once(product: Product) -> None:
    thread_id = new_thread(product)
    with open_socket(product, f"/ws/threads/{thread_id}?after=0") as socket:
        submit(product, thread_id, "/slow 30 20")
        cursor = ""
        for frame in events(socket, "text_block_delta"):
            cursor = frame["cursor"]
    with open_socket(product, f"/ws/threads/{thread_id}?after={cursor}") as socket:
        again = list(events(socket, "run/end"))
    head = int(cursor.partition(".")[2].partition("-")[0])
    seqs = [frame["event"]["seq"] for frame in again if "seq" in frame["event"]]
    assert seqs == list(range(head + 1, head + 1 + len(seqs)))


def test_a_page_of_another_site_is_refused_at_the_handshake(product: Product) -> None:
    thread_id = new_thread(product)
    with pytest.raises(InvalidStatus) as refused:
        open_socket(product, f"/ws/threads/{thread_id}", Origin="https://evil.example")
    assert refused.value.response.status_code == 403


def test_close_codes_reach_the_client(product: Product) -> None:
    thread_id = new_thread(product)
    for path, code in (
        (f"/ws/threads/{thread_id}?after=nonsense", 4400),
        (f"/ws/threads/{uuid4()}", 4404),
    ):
        with open_socket(product, path) as socket:
            assert json.loads(socket.recv(timeout=10))["type"] == "error"
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=10)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == code


def test_clients_that_vanish_leave_no_error_in_the_log(product: Product) -> None:
    thread_id = new_thread(product)
    for _ in range(5):
        with (
            suppress(ConnectionClosed),
            open_socket(product, f"/ws/threads/{thread_id}") as socket,
        ):
            socket.recv(timeout=10)
            socket.socket.shutdown(SHUT_RDWR)
    submit(product, thread_id, "/echo still here")
    with open_socket(product, f"/ws/threads/{thread_id}?after=0") as socket:
        list(events(socket, "run/end"))
    assert "Traceback" not in product.logs("web")
