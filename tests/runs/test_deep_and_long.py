"""Deep and long input: refused with its path, or stored so that everything shows it again."""

import pytest

from agentadmin.access.actor import Actor
from agentadmin.engine.errors import TooDeep
from agentadmin.engine.state import codec
from agentadmin.engine.state.agent_state import AgentState
from runs_app.services.submit import submit_turn
from sessions_app.models import AgentThread
from sessions_app.selectors import weight
from sessions_app.selectors.exporting import export_text
from sessions_app.selectors.transcript import transcript
from tests.runs.conftest import Work, turn_of
from tests.runs.test_api import caller

pytestmark = pytest.mark.django_db(transaction=True)

READS = ["state", "transcript", "facts?limit=200", "snapshot"]


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def is_shown(thread: AgentThread) -> bool:
    """Through every door; the state can leave and come in again."""
    reader = caller("viewer")
    for name in READS:
        reader.get(f"/threads/{thread.id}/{name}")
    text = export_text(thread, "native")
    return AgentState.from_json(text).to_json() == codec.dumps(codec.loads(text))


@pytest.mark.parametrize("levels", [980, 994, 995, 996, 999, 1001, 5000])
@pytest.mark.parametrize("tool", ["calculator", "create_order"])
def test_arguments_of_any_depth_leave_a_thread_that_everybody_can_read(
    thread: AgentThread, actor: Actor, work: Work, tool: str, levels: int
) -> None:
    call = f'/tool {tool} {{"expression": "1", "sku": "a", "odd": {nested(levels - 1)}}}'
    turn_id = submit_turn(actor=actor, thread=thread, input=call).turn_id
    work(thread)
    assert turn_of(turn_id).state in {"completed", "waiting"}
    assert is_shown(thread)


def test_a_block_as_deep_as_a_state_can_hold_is_kept(
    thread: AgentThread, actor: Actor, work: Work
) -> None:
    block = {"type": "text", "text": "/echo x", "odd": codec.loads(nested(995))}
    turn_id = submit_turn(actor=actor, thread=thread, input=[block]).turn_id
    work(thread)
    assert turn_of(turn_id).state == "completed"
    assert is_shown(thread)
    deeper = {**block, "odd": codec.loads(nested(996))}
    with pytest.raises(TooDeep) as refused:
        submit_turn(actor=actor, thread=thread, input=[deeper])
    assert refused.value.path == "input"


def test_a_page_of_long_questions_ends_early(
    thread: AgentThread, actor: Actor, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weight, "PAGE_CHARACTERS", 150_000)
    for n in range(3):
        submit_turn(actor=actor, thread=thread, input=f"/count {n} " + "x" * 100_000)
    work(thread)
    pages = [transcript(thread)]
    while (before := pages[-1].before) is not None:
        pages.append(transcript(thread, before=before))
    sizes = [[len(str(entry.message)) > 100_000 for entry in page.items] for page in pages]
    assert sizes == [[False, True, False], [False, True], [True]]
