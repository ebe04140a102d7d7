"""Django's registration of this app."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The hash-chained record of who did or tried what."""

    name = "agentadmin.audit"
    label = "audit"
    verbose_name = "Audit"
    default_auto_field = "django.db.models.BigAutoField"
