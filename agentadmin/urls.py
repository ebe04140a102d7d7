"""Every address of the product: health, then API, then pages."""

from django.contrib.staticfiles.views import serve
from django.urls import include, path, re_path

from agentadmin import health
from agentadmin.api import api
from agentadmin.preferences import preferences

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", health.metrics, name="metrics"),
    path("api/v1/", api.urls),
    path("", include("agentadmin.access.urls")),
    path("preferences", preferences, name="preferences"),
    path("", include("sessions_app.urls")),
    path("", include("runs_app.urls")),
    # The web server answers for bundled files itself; this serves what packages bring.
    re_path(r"^static/(?P<path>.*)$", serve, {"insecure": True}),
]
