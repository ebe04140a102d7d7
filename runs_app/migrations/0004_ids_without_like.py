from django.db import migrations

# Django gives every text key of PostgreSQL a second index, for LIKE. Nothing looks for an id by its
# beginning, and every turn would write two of them (0.2 KB of its WAL).
_INDEXES = {
    "runs_app_turn_id_fec16ebe_like": "runs_app_turn",
    "runs_app_run_id_fdec470f_like": "runs_app_run",
    "runs_app_interaction_id_0e517bf1_like": "runs_app_interaction",
}


def _drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in _INDEXES:
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")


def _make(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name, table in _INDEXES.items():
            schema_editor.execute(f"CREATE INDEX {name} ON {table} (id text_pattern_ops)")


class Migration(migrations.Migration):
    """Turns, runs and questions are found by their whole ids."""

    dependencies = [("runs_app", "0003_agent_versions")]

    operations = [migrations.RunPython(_drop, _make)]
