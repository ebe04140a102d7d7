"""The ASGI application: Django for HTTP, Channels for websockets."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentadmin.settings")
django_application = get_asgi_application()

from runs_app.routing import websocket_urlpatterns  # noqa: E402 - consumers need a set-up Django

application = ProtocolTypeRouter(
    {
        "http": django_application,
        "websocket": AllowedHostsOriginValidator(
            # The stubs want Channels' own subclass, which `path()` never returns.
            AuthMiddlewareStack(URLRouter(websocket_urlpatterns))  # type: ignore[arg-type]
        ),
    }
)
