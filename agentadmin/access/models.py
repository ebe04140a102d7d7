"""Tables of access: who has which role where, API tokens, and counters of failed sign-ins."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from agentadmin.access.permissions import ROLES


class RoleAssignment(models.Model):
    """One user's role over the namespaces and agents that two patterns name (`*` is anything)."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="role_assignments"
    )
    role = models.CharField(max_length=32)
    namespace = models.CharField(max_length=256, default="*")
    agent = models.CharField(max_length=256, default="*")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "role", "namespace", "agent"], name="access_role_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} on {self.namespace}/{self.agent}"

    @property
    def label(self) -> str:
        """The role's name; one that is no longer known says so by keeping its own."""
        known = ROLES.get(self.role)
        return known.label if known else self.role

    @property
    def place(self) -> str:
        """Where the role counts, in words."""
        namespaces = "every namespace" if self.namespace == "*" else f"namespace {self.namespace}"
        agents = "every agent" if self.agent == "*" else f"agent {self.agent}"
        return f"{namespaces}, {agents}"


class ApiToken(models.Model):
    """A secret that acts for a user within some of their permissions; only its hash is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=200)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.TextField()  # canonical JSON list of permissions
    bound_user_id = models.CharField(max_length=256, null=True)  # noqa: DJ001 - NULL is "not bound"
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-created_at"], name="access_token_of_user")]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class SignInThrottle(models.Model):
    """Failed sign-ins counted under a hash: a mistyped name may be a password."""

    key = models.CharField(primary_key=True, max_length=64)
    failures = models.PositiveIntegerField(default=0)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.failures} failures"
