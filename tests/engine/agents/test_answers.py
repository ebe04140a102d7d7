"""Answers that the journal holds: what a resumed run makes of each kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from agentadmin.engine.agents.admission import Answer
from agentadmin.engine.messages import ToolResultBlock
from agentadmin.engine.tools.toolkit import tool
from tests.engine.agents.scene import (
    BYPASS,
    CountingJournal,
    ScriptModel,
    calls,
    harness,
    last,
    says,
)
from tests.engine.agents.test_durable_turns import approve, host, results

if TYPE_CHECKING:
    from agentadmin.engine.agents.admission import Admission
    from tests.engine.agents.scene import Host


async def asked(scene: Host, text: str) -> tuple[Admission, dict[str, object]]:
    """A turn that waits, and what it asks."""
    admission = await scene.submit(text)
    await scene.run(admission)
    return admission, last(await scene.facts(), "interaction/requested").payload


async def test_an_approval_of_another_call_is_none_and_an_unknown_one_is_ignored() -> None:
    journal = CountingJournal()
    scene = host(harness(journal).build(), journal)
    admission, question = await asked(scene, '/tool calculator {"expression": "1"}')
    other = Answer("c9", "approve", interaction_id="x")
    wrong = Answer(str(question["call_id"]), "approve", call_hash="0" * 64)
    result = await scene.run(replace(admission, kind="resume", answers=[other, wrong]))
    assert result.wait is not None
    assert result.wait["ids"] == [question["interaction_id"]]


async def test_a_withdrawn_question_is_an_interrupted_result() -> None:
    journal = CountingJournal()
    scene = host(harness(journal).build(), journal)
    admission, _ = await asked(scene, '/tool calculator {"expression": "1"}')
    await scene.run(await approve(scene, admission, decision="cancelled"))
    assert results(await scene.messages())[0][1] == "interrupted"


@pytest.mark.parametrize(
    ("answer", "text", "state"),
    [
        ("plain", "plain", "success"),
        ({"output": "x", "state": "error"}, "x", "error"),
        ({"output": [{"type": "text", "text": "y"}], "state": "running"}, "y", "success"),
        ({"any": 1}, '{"any":1}', "success"),
    ],
)
async def test_an_answer_from_outside_becomes_the_result(
    answer: object, text: str, state: str
) -> None:
    @tool(effect="external", waits="external", name="outside")
    def outside() -> str:
        return "never called"

    journal = CountingJournal()
    model = ScriptModel(calls(("outside", "{}")), says("done"))
    builder = harness(journal, model).tools(outside).permission_context(BYPASS)
    scene = host(builder.build(), journal)
    admission, question = await asked(scene, "go")
    assert question["kind"] == "external"
    await scene.run(await approve(scene, admission, decision="answer", answer=answer))
    block = (await scene.messages())[2].blocks(ToolResultBlock)[0]
    assert (block.text, block.state) == (text, state)
    dispatched = [f.payload["tool"] for f in await scene.facts() if f.type == "tool/dispatch"]
    assert dispatched == []


async def test_who_declines_to_give_a_result_denies_no_permission() -> None:
    @tool(effect="external", waits="external", name="outside")
    def outside() -> str:
        return "never called"

    journal = CountingJournal()
    model = ScriptModel(calls(("outside", "{}")), says("done"))
    builder = harness(journal, model).tools(outside).permission_context(BYPASS)
    scene = host(builder.build(), journal)
    admission, _ = await asked(scene, "go")
    await scene.run(await approve(scene, admission, decision="deny", reason="nobody knows"))
    block = (await scene.messages())[2].blocks(ToolResultBlock)[0]
    assert (block.text, block.state) == ("No result was given: nobody knows", "denied")
