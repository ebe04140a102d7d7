"""Django's registration of this app."""

from django.apps import AppConfig


class OpsConfig(AppConfig):
    """Commands of operation: doctor, simulate_load, openapi."""

    name = "agentadmin.ops"
    label = "ops"
    verbose_name = "Operations"
    default_auto_field = "django.db.models.BigAutoField"
