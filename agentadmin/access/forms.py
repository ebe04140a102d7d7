"""The forms of access: sign-in and step-up, one's own password, tokens, users."""

from __future__ import annotations

from typing import Any

from django import forms

from agentadmin.access.permissions import PERMISSIONS, ROLES

MAX_PASSWORD = 4096


class SignInForm(forms.Form):
    """A name and a password; whitespace in a password counts."""

    username = forms.CharField(max_length=150, error_messages={"required": "Enter your user name."})
    password = forms.CharField(
        max_length=4096, strip=False, error_messages={"required": "Enter your password."}
    )


class StepUpForm(forms.Form):
    """The password again."""

    password = forms.CharField(
        max_length=4096, strip=False, error_messages={"required": "Enter your password."}
    )


class PasswordForm(forms.Form):
    """The present password, and the new one twice."""

    current = forms.CharField(
        max_length=MAX_PASSWORD,
        strip=False,
        error_messages={"required": "Enter your present password."},
    )
    new = forms.CharField(
        max_length=MAX_PASSWORD, strip=False, error_messages={"required": "Enter a new password."}
    )
    again = forms.CharField(
        max_length=MAX_PASSWORD,
        strip=False,
        error_messages={"required": "Enter the new password again."},
    )

    def clean(self) -> dict[str, Any]:
        """A typing error in a password would lock its owner out."""
        given = self.cleaned_data
        if "new" in given and "again" in given and given["new"] != given["again"]:
            self.add_error("again", "This is not the same as the new password above.")
        return given


class TokenForm(forms.Form):
    """A new token: what it is called, what it may do, how long, for whom."""

    name = forms.CharField(
        max_length=200, error_messages={"required": "Say what the token is for."}
    )
    days = forms.IntegerField(
        min_value=1,
        max_value=90,
        initial=30,
        error_messages={"required": "Say how many days it counts, from 1 to 90."},
    )
    scopes = forms.MultipleChoiceField(
        choices=[(name, label) for name, label in PERMISSIONS.items()],
        error_messages={"required": "Choose at least one permission."},
    )
    bound_user_id = forms.CharField(max_length=256, required=False, strip=False)
    password = forms.CharField(max_length=MAX_PASSWORD, required=False, strip=False)


class RoleForm(forms.Form):
    """A role over the places that two patterns name."""

    role = forms.ChoiceField(
        choices=[(name, role.label) for name, role in ROLES.items()],
        error_messages={"required": "Choose a role."},
    )
    namespace = forms.CharField(max_length=256, initial="*", strip=False)
    agent = forms.CharField(max_length=256, initial="*", strip=False)
    reason = forms.CharField(
        min_length=10,
        max_length=2000,
        error_messages={
            "required": "Say in at least 10 characters why; it is kept in the audit trail.",
            "min_length": "Say in at least 10 characters why; it is kept in the audit trail.",
        },
    )
    password = forms.CharField(max_length=MAX_PASSWORD, required=False, strip=False)


class NewUserForm(RoleForm):
    """An account and its first role; the product makes the password."""

    name = forms.CharField(max_length=150, error_messages={"required": "Enter a user name."})
