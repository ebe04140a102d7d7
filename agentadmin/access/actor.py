"""Who is acting, and what they may do where: every door turns its caller into an `Actor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from django.db.models import Q

from agentadmin.access.errors import Hidden, Refused
from agentadmin.access.patterns import ANYTHING, matches, pattern_filter
from agentadmin.access.permissions import PERMISSIONS
from agentadmin.engine.clock import now
from agentadmin.engine.errors import Forbidden, NotAuthenticated, StepUpRequired

if TYPE_CHECKING:
    from datetime import datetime

    from agentadmin.audit.format import Target

READ = "sessions:read"
WIDEN = "permissions:widen"


class ActorKind(StrEnum):
    """What proves who the actor is: a session, a token, this program itself, or nothing."""

    USER = "user"
    TOKEN = "token"  # noqa: S105 - a kind, not a secret
    SYSTEM = "system"
    ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class Grant:
    """Permissions over the namespaces and agents that two patterns name."""

    permissions: frozenset[str]
    namespace: str = ANYTHING
    agent: str = ANYTHING

    def covers(self, namespace: str | None, agent_id: str | None) -> bool:
        """Whether a row lies within; None leaves that side unasked."""
        return (namespace is None or matches(self.namespace, namespace)) and (
            agent_id is None or matches(self.agent, agent_id)
        )

    @property
    def is_everywhere(self) -> bool:
        """Whether no place is left out."""
        return self.namespace == self.agent == ANYTHING

    def within(self, scopes: frozenset[str]) -> Grant:
        """The same places with nothing beyond the scopes."""
        return Grant(self.permissions & scopes, self.namespace, self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A caller with proven identity, grants, and what the audit log says of the call."""

    kind: ActorKind
    id: str = ""
    name: str = ""
    grants: tuple[Grant, ...] = ()
    on_behalf_of: str | None = None
    token_id: str | None = None
    bound_user_id: str | None = None
    fresh_until: datetime | None = None
    address: str | None = None
    trace_id: str = ""
    request_id: str | None = None

    @classmethod
    def anonymous(cls, *, address: str | None = None, trace_id: str = "") -> Self:
        """Nobody who could be proven."""
        return cls(kind=ActorKind.ANONYMOUS, name="anonymous", address=address, trace_id=trace_id)

    @classmethod
    def system(cls, name: str, *, on_behalf_of: str | None = None, trace_id: str = "") -> Self:
        """This program, acting by itself (a sweep, a command) or for an account."""
        return cls(
            kind=ActorKind.SYSTEM,
            name=name,
            grants=(Grant(frozenset(PERMISSIONS)),),
            on_behalf_of=on_behalf_of,
            trace_id=trace_id,
        )

    @property
    def is_authenticated(self) -> bool:
        """Whether somebody is known to be there."""
        return self.kind is not ActorKind.ANONYMOUS

    @property
    def permissions(self) -> frozenset[str]:
        """Every permission that is granted anywhere."""
        return frozenset().union(*(grant.permissions for grant in self.grants))

    @property
    def scopes(self) -> tuple[tuple[str, str], ...]:
        """The (namespace, agent) patterns of the grants, each once."""
        return tuple(dict.fromkeys((grant.namespace, grant.agent) for grant in self.grants))

    def may(
        self, permission: str, namespace: str | None = None, agent_id: str | None = None
    ) -> bool:
        """Whether one grant holds the permission there; without a place: anywhere."""
        return any(
            permission in grant.permissions and grant.covers(namespace, agent_id)
            for grant in self.grants
        )

    def may_everywhere(self, permission: str) -> bool:
        """Whether one grant holds the permission over every namespace and agent."""
        return any(permission in grant.permissions and grant.is_everywhere for grant in self.grants)

    def require_everywhere(self, permission: str) -> None:
        """What has no place (users, tokens, agents) is not for who holds it in one place only."""
        if not self.may_everywhere(permission):
            self.require(permission)
            raise Forbidden(permission, f"This needs the permission {permission} everywhere.")

    def require(
        self,
        permission: str,
        *,
        namespace: str | None = None,
        agent_id: str | None = None,
        target: Target | None = None,
    ) -> None:
        """Raise unless the actor may: nobody is asked to sign in, somebody is refused.

        `target` is what the audit log will call the thing that was refused.
        """
        if self.may(permission, namespace, agent_id):
            return
        if not self.is_authenticated:
            raise NotAuthenticated
        raise Refused(permission, namespace=namespace, target=target)

    def sees(self, *, namespace: str, agent_id: str | None = None, user_id: str | None) -> bool:
        """Whether a row exists for this actor at all."""
        if self.bound_user_id is not None and self.bound_user_id != user_id:
            return False
        return self.may(READ, namespace, agent_id)

    def require_row(
        self,
        permission: str,
        *,
        namespace: str,
        user_id: str | None,
        agent_id: str | None = None,
        target: Target | None = None,
    ) -> None:
        """Authorise on a row's own identity: a foreign row is not found, a seen one may be refused.

        The order matters: an answer of 403 would tell a stranger that the id exists.
        """
        if not self.sees(namespace=namespace, agent_id=agent_id, user_id=user_id):
            if not self.is_authenticated:
                raise NotAuthenticated
            raise Hidden(namespace=namespace, target=target)
        self.require(permission, namespace=namespace, agent_id=agent_id, target=target)

    def require_widening(
        self, *, namespace: str, agent_id: str | None = None, target: Target | None = None
    ) -> None:
        """Widening needs its permission, and of a person a password given in the last minutes."""
        self.require(WIDEN, namespace=namespace, agent_id=agent_id, target=target)
        if self.kind is ActorKind.USER and not self.is_fresh:
            raise StepUpRequired("Enter your password again to widen permissions.")

    @property
    def is_fresh(self) -> bool:
        """Whether the password was given in the last minutes."""
        return self.fresh_until is not None and now() < self.fresh_until

    def visible(
        self,
        permission: str = READ,
        *,
        namespace: str = "namespace",
        agent: str | None = "agent_id",
        user: str | None = None,
    ) -> Q:
        """The rows on which the actor holds the permission, as a filter over the named fields.

        `agent` None: the rows have no agent. `user` names the field that a bound token is held to;
        without it a bound token sees nothing.
        """
        if self.bound_user_id is not None and user is None:
            return Q(pk__in=[])
        places = [
            pattern_filter(namespace, grant.namespace)
            & (pattern_filter(agent, grant.agent) if agent else Q())
            for grant in self.grants
            if permission in grant.permissions
        ]
        if not places:
            return Q(pk__in=[])
        rows = Q() if Q() in places else _any_of(places)
        if self.bound_user_id is not None and user is not None:
            rows &= Q(**{user: self.bound_user_id})
        return rows


def _any_of(filters: list[Q]) -> Q:
    either = filters[0]
    for one in filters[1:]:
        either |= one
    return either
