"""Pages cost the same number of queries however much they show."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs_app.models import Run
from sessions_app.models import AgentThread
from tests.pages.conftest import Talk, Visit, Visitor, address, new_thread

pytestmark = pytest.mark.django_db(transaction=True)
MOST = 25


def queries(who: Visitor, path: str, **query: str) -> int:
    who.get(path, **query)
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert who.get(path, **query).status_code == 200
    return len(seen)


def test_the_list_costs_the_same_for_one_and_for_forty(visit: Visit) -> None:
    new_thread()
    one = queries(visit("operator"), "/sessions")
    for _ in range(39):
        new_thread()
    assert queries(visit("operator"), "/sessions") == one <= MOST


@pytest.mark.parametrize(
    "tab", ["conversation", "state", "permissions", "runs", "history", "audit"]
)
def test_a_tab_costs_the_same_for_one_turn_and_for_ten(
    visit: Visit, thread: AgentThread, talk: Talk, tab: str
) -> None:
    call = '/tool calculator {"expression": "1"}'
    talk(thread, call)
    one = queries(visit("operator"), address(thread, tab))
    talk(thread, *[call] * 9)
    assert queries(visit("operator"), address(thread, tab)) == one <= MOST


def test_the_inbox_costs_the_same_for_one_and_for_six(visit: Visit, talk: Talk) -> None:
    def ask() -> None:
        talk(new_thread(), '/tool create_order {"sku": "x"}')

    _grows(visit, ask, lambda: "/approvals")


def test_a_run_costs_the_same_for_one_call_and_for_eight(
    visit: Visit, thread: AgentThread, talk: Talk
) -> None:
    counts = []
    for n in (1, 8):
        calls = ",".join(['{"name":"calculator","input":{"expression":"1"}}'] * n)
        talk(thread, f"/tools [{calls}]")
        run = Run.objects.order_by("-start_seq")[0]
        counts.append(queries(visit("operator"), f"/runs/{run.id}"))
    assert counts[0] == counts[1] <= MOST


def _grows(visit: Visit, more: Callable[[], None], path: Callable[[], str]) -> None:
    more()
    one = queries(visit("operator"), path())
    for _ in range(5):
        more()
    assert queries(visit("operator"), path()) == one <= MOST
