"""What every thread journal owes, whatever it stores in. Subclasses give a `journal` fixture."""

import asyncio
import itertools

import pytest

from agentadmin.engine.errors import Fenced, StaleVersion, ThreadBusy
from agentadmin.engine.identity import ThreadKey, new_id
from agentadmin.engine.journal.base import Batch, CommitKind, Release, ThreadJournalStore, ThreadRef
from agentadmin.engine.journal.facts import FactType, NewFact
from agentadmin.engine.journal.loading import load, refresh
from agentadmin.engine.journal.projection import digest
from agentadmin.engine.journal.writer import JournalWriter
from agentadmin.engine.messages import user_message

HOSTILE = 'NUL \x00, surrogate \ud800, RTL \u202e, emoji 👩‍👩‍👧, quote " slash \\ </script>'
BIG = 123456789012345678901234567890
_names = itertools.count()


def key(session: str | None = None, **more: str | None) -> ThreadKey:
    """A thread identity that no other test uses."""
    parts = {"namespace": "default", "user_id": "alice", "agent_id": "demo", **more}
    return ThreadKey(session_id=session or f"s-{next(_names)}-{new_id()}", **parts)


def queued(payload: dict[str, object] | None = None, turn_id: str = "t1") -> Batch:
    """A queue commit of one turn."""
    fact = NewFact(FactType.TURN_START, payload or {"input": []}, turn_id=turn_id)
    return Batch(CommitKind.QUEUE, [fact.seal()])


async def opened(journal: ThreadJournalStore, seconds: float = 30) -> JournalWriter:
    """A writer with a fresh lease on a fresh thread."""
    ref = await journal.ensure(key())
    lease = await journal.claim(ref, "worker", seconds)
    return await JournalWriter.open(journal, ref, lease=lease)


async def say(writer: JournalWriter, text: str) -> None:
    """One committed user message."""
    writer.state.context_mutable().append(user_message(text))
    await writer.flush(reason="test")


class JournalConformance:
    """Run these against a journal by giving the `journal` fixture."""

    async def test_a_thread_is_made_once(self, journal: ThreadJournalStore) -> None:
        identity = key()
        assert await journal.find(identity) is None
        first = await journal.ensure(identity)
        assert await journal.ensure(identity) == first
        assert await journal.find(identity) == first

    async def test_identities_that_look_alike_are_different_threads(
        self, journal: ThreadJournalStore
    ) -> None:
        session = new_id()
        alike = [
            key(session, user_id=None),
            key(session, user_id="None"),
            key(session, user_id="anonymous"),
            key(session, user_id="a/b"),
            key(f"b/{session}", user_id="a"),
            key(session, user_id="Alice"),
            key(session, user_id="alice"),
            key(session, thread_id="research"),
            key(session, namespace="other"),
        ]
        refs = [await journal.ensure(identity) for identity in alike]
        assert len({ref.id for ref in refs}) == len(alike)

    async def test_facts_come_back_as_they_went_in(self, journal: ThreadJournalStore) -> None:
        ref = await journal.ensure(key())
        payload = {"z": HOSTILE, "a": BIG, "n": {"deep": [None, True, -0.0]}}
        await journal.commit(ref, queued(payload))
        (fact,) = await journal.facts(ref)
        assert fact.payload == payload
        assert list(fact.payload) == ["z", "a", "n"]
        assert (fact.seq, fact.turn_id, fact.erased) == (1, "t1", False)

    async def test_long_payloads_come_back_whole(self, journal: ThreadJournalStore) -> None:
        ref = await journal.ensure(key())
        await journal.commit(ref, queued({"input": ["x" * 200_000]}))
        await journal.commit(ref, queued({"input": []}, turn_id="t2"))
        first, second = await journal.facts(ref)
        assert len(first.payload["input"][0]) == 200_000
        assert second.payload == {"input": []}

    async def test_a_live_lease_keeps_others_out(self, journal: ThreadJournalStore) -> None:
        ref = await journal.ensure(key())
        lease = await journal.claim(ref, "one", 30)
        with pytest.raises(ThreadBusy):
            await journal.claim(ref, "two", 30)
        await journal.release(ref, lease)
        assert (await journal.claim(ref, "two", 30)).epoch > lease.epoch

    async def test_an_expired_lease_is_taken_over_and_its_writer_fenced(
        self, journal: ThreadJournalStore
    ) -> None:
        writer = await opened(journal, seconds=0.05)
        await say(writer, "before")
        await asyncio.sleep(0.1)
        await journal.claim(writer.ref, "successor", 30)
        writer.state.context_mutable().append(user_message("too late"))
        with pytest.raises(Fenced):
            await writer.flush(reason="late")
        assert writer.lease is not None
        with pytest.raises(Fenced):
            await journal.renew(writer.ref, writer.lease, 30)
        assert (await load(journal, writer.ref)).state().context[0].text == "before"

    async def test_a_released_lease_cannot_release_its_successor(
        self, journal: ThreadJournalStore
    ) -> None:
        ref = await journal.ensure(key())
        old = await journal.claim(ref, "one", 30)
        await journal.release(ref, old)
        await journal.claim(ref, "two", 30)
        await journal.release(ref, old)
        assert (await journal.head(ref)).live

    async def test_renewing_keeps_a_lease_alive(self, journal: ThreadJournalStore) -> None:
        ref = await journal.ensure(key())
        lease = await journal.claim(ref, "one", 0.05)
        await journal.renew(ref, lease, 30)
        await asyncio.sleep(0.1)
        with pytest.raises(ThreadBusy):
            await journal.claim(ref, "two", 30)

    async def test_an_edit_waits_for_no_lease_but_a_live_one_refuses_it(
        self, journal: ThreadJournalStore
    ) -> None:
        writer = await opened(journal)
        editor = await JournalWriter.open(journal, writer.ref, lease=None)
        editor.state.set_summary("edited")
        with pytest.raises(ThreadBusy):
            await editor.flush(reason="edit")

    async def test_an_edit_fences_a_worker_that_slept_past_its_lease(
        self, journal: ThreadJournalStore
    ) -> None:
        writer = await opened(journal, seconds=0.05)
        await asyncio.sleep(0.1)
        editor = await JournalWriter.open(journal, writer.ref, lease=None)
        editor.state.set_summary("edited")
        await editor.flush(reason="edit")
        with pytest.raises(Fenced):
            await say(writer, "too late")
        assert (await load(journal, writer.ref)).state().summary == "edited"

    async def test_of_two_edits_of_one_version_exactly_one_wins(
        self, journal: ThreadJournalStore
    ) -> None:
        ref = await journal.ensure(key())
        one = await JournalWriter.open(journal, ref, lease=None)
        two = await JournalWriter.open(journal, ref, lease=None)
        one.state.set_summary("one")
        two.state.set_summary("two")
        await one.flush(reason="one")
        with pytest.raises(StaleVersion) as refused:
            await two.flush(reason="two")
        assert refused.value.current == 1
        assert (await load(journal, ref)).state().summary == "one"

    async def test_queue_commits_never_fail_a_run_and_leave_no_gap(
        self, journal: ThreadJournalStore
    ) -> None:
        writer = await opened(journal)
        await say(writer, "one")
        for n in range(3):
            await journal.commit(writer.ref, queued(turn_id=f"q{n}"))
            await say(writer, f"more {n}")
        facts = await journal.facts(writer.ref)
        assert [fact.seq for fact in facts] == list(range(1, len(facts) + 1))
        assert writer.projection.seq == len(facts)
        assert [fact.turn_id for fact in writer.projection.inputs.values()] == ["q0", "q1", "q2"]

    async def test_a_failing_row_undoes_the_whole_commit(self, journal: ThreadJournalStore) -> None:
        writer = await opened(journal)
        await say(writer, "kept")
        writer.state.context_mutable().append(user_message("undone"))

        def fail(_: object) -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await writer.flush(reason="test", rows=[fail])
        head = await journal.head(writer.ref)
        assert (head.version, len(await journal.facts(writer.ref))) == (1, head.seq)
        await writer.flush(reason="again")
        texts = [message.text for message in (await load(journal, writer.ref)).messages()]
        assert texts == ["kept", "undone"]

    async def test_the_final_commit_gives_the_lease_back(self, journal: ThreadJournalStore) -> None:
        writer = await opened(journal)
        writer.state.context_mutable().append(user_message("last"))
        committed = await writer.flush(reason="end", release=Release.IF_IDLE)
        assert committed is not None
        assert committed.released
        assert not (await journal.head(writer.ref)).live

    async def test_facts_are_read_in_pages_and_by_type(self, journal: ThreadJournalStore) -> None:
        ref = await journal.ensure(key())
        for n in range(7):
            await journal.commit(ref, queued({"n": n}))
        page = await journal.facts(ref, after=2, limit=3)
        assert [fact.seq for fact in page] == [3, 4, 5]
        assert await journal.facts(ref, types=["message/user"]) == []
        assert [f.seq for f in await journal.facts(ref, through=2)] == [1, 2]
        assert set(await journal.facts_at(ref, [1, 7, 99])) == {1, 7}

    async def test_a_run_id_is_known_once_used(self, journal: ThreadJournalStore) -> None:
        writer = await opened(journal)
        writer.run_id = "r1"
        await writer.flush(before=[writer.fact(FactType.RUN_START, {"attempt": 1})], reason="go")
        assert await journal.has_run(writer.ref, "r1")
        assert not await journal.has_run(writer.ref, "r2")

    async def test_an_input_is_stored_once_and_referred_to(
        self, journal: ThreadJournalStore
    ) -> None:
        ref = await journal.ensure(key())
        message = user_message("only once")
        await journal.commit(ref, queued({"input": [message.raw]}))
        lease = await journal.claim(ref, "worker", 30)
        writer = await JournalWriter.open(journal, ref, lease=lease)
        writer.bind_inputs([message], seq=1)
        writer.state.context_mutable().append(message)
        await writer.flush(reason="begin")
        facts = await journal.facts(ref, types=["message/user"])
        assert "message" not in facts[0].payload
        assert (await load(journal, ref)).messages() == [message]

    async def test_a_projection_catches_up_with_what_others_wrote(
        self, journal: ThreadJournalStore
    ) -> None:
        writer = await opened(journal)
        await say(writer, "one")
        held = await load(journal, writer.ref)
        await say(writer, "two")
        await refresh(journal, held)
        assert (held.version, held.seq) == (writer.projection.version, writer.projection.seq)
        assert held.messages() == writer.projection.messages()

    async def test_a_projection_that_caught_up_writes_valid_digests(
        self, journal: ThreadJournalStore
    ) -> None:
        writer = await opened(journal)
        await say(writer, "one")
        held = await load(journal, writer.ref)
        writer.state.set_summary("changed by somebody else")
        await writer.flush(reason="edit")
        await refresh(journal, held)
        later = JournalWriter(journal, held, lease=writer.lease)
        await say(later, "two")
        snapshot = await journal.snapshot(writer.ref)
        assert snapshot is not None
        fresh = await load(journal, writer.ref)
        assert fresh.state().summary == "changed by somebody else"
        again = digest(snapshot.version, snapshot.substate_commit, fresh.items.values())
        assert (again, fresh.substate_commit) == (snapshot.digest, snapshot.substate_commit)
        one = await journal.snapshot(writer.ref, 2)
        assert one is not None
        assert one.substate_commit == snapshot.substate_commit


async def state_texts(journal: ThreadJournalStore, ref: ThreadRef) -> list[str]:
    """Every version's state as text, oldest first."""
    head = await journal.head(ref)
    return [
        (await load(journal, ref, version)).state().to_json()
        for version in range(1, head.version + 1)
    ]
