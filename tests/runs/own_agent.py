"""An agent of somebody's own package: a function that returns a builder."""

from agentadmin.engine.agents.harness import HarnessAgent, HarnessAgentBuilder
from agentadmin.engine.state.permissions import Behavior, PermissionContext, PermissionRule
from agentadmin.engine.tools.toolkit import tool


@tool(effect="none")
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def build() -> HarnessAgentBuilder:
    allowed = PermissionRule("shout", None, Behavior.ALLOW, "own")
    return (
        HarnessAgent.builder()
        .name("shouter")
        .model("offline:demo")
        .tools(shout)
        .permission_context(PermissionContext().with_rule(allowed))
    )
