"""Django's registration of this app."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """What happens during a call."""

    name = "runs_app"
    label = "runs_app"
    verbose_name = "Runs"
    default_auto_field = "django.db.models.BigAutoField"
