"""The ASGI application: Django for HTTP, Channels for websockets."""

import os
from urllib.parse import ParseResult

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import OriginValidator
from channels.sessions import CookieMiddleware
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentadmin.settings")
django_application = get_asgi_application()

from runs_app.routing import websocket_urlpatterns  # noqa: E402 - consumers need a set-up Django


class BrowserOriginValidator(OriginValidator):
    """Refuses pages of other sites. Browsers always send an Origin; what sends none is no page."""

    def valid_origin(self, parsed_origin: ParseResult | None) -> bool:
        """Whether the page that opens the socket is ours."""
        return parsed_origin is None or bool(self.validate_origin(parsed_origin))


application = ProtocolTypeRouter(
    {
        "http": django_application,
        # Consumers prove their actor themselves, at connect and again every few seconds.
        "websocket": BrowserOriginValidator(
            CookieMiddleware(URLRouter(websocket_urlpatterns)), settings.ALLOWED_HOSTS
        ),
    }
)
