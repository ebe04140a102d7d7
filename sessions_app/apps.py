"""Django's registration of this app."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """What an agent is between calls."""

    name = "sessions_app"
    label = "sessions_app"
    verbose_name = "Sessions"
    default_auto_field = "django.db.models.BigAutoField"
