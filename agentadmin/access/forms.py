"""The two forms that ask for a password."""

from __future__ import annotations

from django import forms


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
