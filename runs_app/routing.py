"""The websocket addresses."""

from typing import Any

from django.urls import re_path

from runs_app.consumers import FleetConsumer, ThreadConsumer, UnknownConsumer

# Channels routes ASGI applications by Django's patterns, whose types know only views.
thread: Any = ThreadConsumer.as_asgi()
fleet: Any = FleetConsumer.as_asgi()
unknown: Any = UnknownConsumer.as_asgi()

websocket_urlpatterns: list[Any] = [
    re_path(r"^ws/threads/(?P<thread_id>[^/]+)/?$", thread, name="ws_thread"),
    re_path(r"^ws/fleet/?$", fleet, name="ws_fleet"),
    re_path(r"", unknown, name="ws_unknown"),
]
