"""Addresses of sign-in, of one's own pages, and of the users' pages."""

from __future__ import annotations

from django.urls import path

from agentadmin.access import profile_views, token_views, user_acts, user_views, views

urlpatterns = [
    path("sign-in", views.sign_in, name="sign_in"),
    path("sign-out", views.sign_out, name="sign_out"),
    path("step-up", views.step_up, name="step_up"),
    path("me", profile_views.profile, name="profile"),
    path("me/password", profile_views.password, name="password"),
    path("me/sign-ins/<slug:sign_in_id>/end", profile_views.sign_in_end, name="sign_in_end"),
    path("me/tokens", token_views.tokens, name="tokens"),
    path("me/tokens/new", token_views.token_new, name="token_new"),
    path("me/tokens/<uuid:token_id>/revoke", token_views.token_revoke, name="token_revoke"),
    path("admin/users", user_views.users, name="users"),
    path("admin/users/new", user_views.user_new, name="user_new"),
    path("admin/users/<int:user_id>", user_views.user, name="user"),
    path("admin/users/<int:user_id>/active", user_acts.user_active, name="user_active"),
    path("admin/users/<int:user_id>/password", user_acts.user_password, name="user_password"),
    path(
        "admin/users/<int:user_id>/roles/<int:role_id>/withdraw",
        user_acts.user_withdraw,
        name="user_withdraw",
    ),
]
