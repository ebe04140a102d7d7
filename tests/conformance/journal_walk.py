"""A seeded random walk over everything that may change a state, checked after every commit."""

from contextlib import suppress
from random import Random
from typing import Any

from agentadmin.engine.clock import now
from agentadmin.engine.errors import InvalidOperation
from agentadmin.engine.journal.base import ThreadJournalStore, ThreadRef
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.journal.loading import forward, load
from agentadmin.engine.journal.projection import ThreadProjection, digest
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import TextBlock, assistant_message, user_message
from agentadmin.engine.state.agent_state import AgentState
from agentadmin.engine.state.mutations import apply
from agentadmin.engine.state.permissions import PermissionMode
from tests.conformance.journal_suite import HOSTILE, opened, queued, state_texts


def append(random: Random, writer: JournalWriter) -> None:
    """One to three messages, some without an id, some with an id that is taken."""
    context = writer.state.context_mutable()
    for _ in range(random.randint(1, 3)):
        message = user_message(f"{random.random()} {HOSTILE}")
        fate = random.random()
        if fate < 0.2:
            message = message.replace(id=None)
        elif fate < 0.4 and context:
            message = message.replace(id=random.choice(context).id)
        context.append(message)


def reply(random: Random, writer: JournalWriter) -> None:
    """An assistant message of several blocks."""
    blocks = [TextBlock.make(f"part {random.random()}") for _ in range(random.randint(1, 3))]
    writer.state.context_mutable().append(assistant_message(blocks, name="demo"))


def redact(random: Random, writer: JournalWriter) -> None:
    """Replace a message in place, keeping its id."""
    context = writer.state.context_mutable()
    if context:
        place = random.randrange(len(context))
        context[place] = context[place].replace(content=[{"type": "text", "text": "[redacted]"}])


def clear(_: Random, writer: JournalWriter) -> None:
    """What `clear_context` does."""
    writer.state.context_mutable().clear()
    writer.state.set_summary("")


def compact(random: Random, writer: JournalWriter) -> None:
    """Keep a tail, put a new message in front."""
    context = writer.state.context_mutable()
    keep = random.randint(0, len(context))
    context[:] = [user_message("summary"), *context[len(context) - keep :]]


def shuffle(random: Random, writer: JournalWriter) -> None:
    """What a patch may do: any order, some dropped."""
    context = writer.state.context_mutable()
    random.shuffle(context)
    del context[random.randint(0, len(context)) :]


def substate(random: Random, writer: JournalWriter) -> None:
    """Change what is not a message."""
    state = writer.state
    if random.random() < 0.3:
        state.set_summary(f"summary {random.random()}")
    elif random.random() < 0.5:
        # A field that comes, changes, and goes.
        if state.extra.pop("later", None) is None:
            state.extra["later"] = random.random()
    else:
        mode = random.choice(list(PermissionMode))
        state.permission_context = state.permission_context.with_mode(mode)


def operate(random: Random, writer: JournalWriter) -> None:
    """Any operation of `updateAgentState` on a state, with what is looked up for it."""
    context = writer.state.context
    named = random.choice(context).id if context else None
    cut = random.randint(0, len(context))
    operation: dict[str, Any] = random.choice(
        [
            {"op": "redact_message", "message_id": named or "none", "replacement": HOSTILE},
            {"op": "compact", "cut": cut, "summary": "short"},
            {"op": "add_working_directory", "path": random.choice(["/a", "b"])},
            {"op": "remove_working_directory", "path": "/a"},
            {"op": "enter_plan_mode"},
            {"op": "exit_plan_mode"},
            {
                "op": "set_todos",
                "todos": [{"content": HOSTILE.strip() or "a"}] * random.randint(0, 2),
            },
            {"op": "begin_task", "objective": "ship", "requirements": [{"id": "r", "text": "a"}]},
            {"op": "decide_requirement", "id": "r", "decision": "confirm"},
            {"op": "set_subject_version", "subject_version": str(random.randint(0, 2))},
            {"op": "activate_tool_groups", "groups": random.sample(["web", "shell"], 1)},
            {"op": "json_patch", "patch": [{"op": "add", "path": "/note", "value": [HOSTILE]}]},
        ]
    )
    with suppress(InvalidOperation):
        writer.state = apply(writer.state, operation, now=now())


async def restore(random: Random, writer: JournalWriter) -> None:
    """Go back to an earlier version, append-only; by reference, or as if nobody knew the facts."""
    if writer.projection.version:
        version = random.randint(1, writer.projection.version)
        earlier = await load(writer.store, writer.ref, version)
        writer.state = earlier.state()
        if random.random() < 0.7:
            writer.refer_to(list(earlier.items.values()))


CHANGES = (append, append, reply, redact, clear, compact, shuffle, substate, operate, operate)


async def walk(journal: ThreadJournalStore, seed: int, steps: int) -> None:
    """After every commit fold(facts) is the state; in the end every version still is."""
    random = Random(seed)
    writer = await opened(journal)
    told: list[str] = []
    for step in range(steps):
        if random.random() < 0.15:
            await restore(random, writer)
        else:
            random.choice(CHANGES)(random, writer)
        if random.random() < 0.2:
            await journal.commit(writer.ref, queued(turn_id=f"t{step}"))
        fact = NewFact(FactType.REQUEST_PREPARED, {"items": len(writer.state.context)})
        before = writer.projection.version
        await writer.flush([fact], reason=f"step {step}")
        assert writer.projection.version - before in {0, 1}
        if writer.projection.version > before:
            told.append(writer.state.to_json())
        await _check(journal, writer)
    assert await state_texts(journal, writer.ref) == told
    await _check_from_nothing(journal, writer.ref, told)


async def _check_from_nothing(journal: ThreadJournalStore, ref: ThreadRef, told: list[str]) -> None:
    """Every version as the facts alone tell it, and as a step from the one before it."""
    facts = await journal.facts(ref, limit=100_000)
    known, folded = {fact.seq: fact for fact in facts}, ThreadProjection(ref)
    stepped = await load(journal, ref, 1)
    for version, text in enumerate(told, 1):
        snapshot = await journal.snapshot(ref, version)
        assert snapshot is not None
        for fact in facts:
            if folded.seq < fact.seq <= snapshot.seq:
                folded.apply(fact, known)
        assert AgentState.from_json(text) == folded.state()
        stepped = await forward(journal, stepped, version)
        assert AgentState.from_json(text) == stepped.state()


async def _check(journal: ThreadJournalStore, writer: JournalWriter) -> None:
    fresh = await load(journal, writer.ref)
    assert fresh.state().to_json() == writer.state.to_json()
    assert fresh.seq == writer.projection.seq
    assert [i.commit for i in fresh.items.values()] == [
        i.commit for i in writer.projection.items.values()
    ]
    snapshot = await journal.snapshot(writer.ref)
    if snapshot is not None:
        again = digest(snapshot.version, snapshot.substate_commit, fresh.items.values())
        assert again == snapshot.digest
        assert snapshot.messages == len(fresh.items)
