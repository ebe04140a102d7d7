"""Addresses of the sign-in pages."""

from __future__ import annotations

from django.urls import path

from agentadmin.access import views

urlpatterns = [
    path("sign-in", views.sign_in, name="sign_in"),
    path("sign-out", views.sign_out, name="sign_out"),
    path("step-up", views.step_up, name="step_up"),
]
