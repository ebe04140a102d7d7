"""Django's registration of this app."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Roles, object scopes, API tokens and login."""

    name = "agentadmin.access"
    label = "access"
    verbose_name = "Access"
    default_auto_field = "django.db.models.BigAutoField"
