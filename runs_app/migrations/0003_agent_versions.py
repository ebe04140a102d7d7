from django.db import migrations, models


class Migration(migrations.Migration):
    """Definitions that are data: who changed one, why, and whether it is still in use."""

    dependencies = [("runs_app", "0002_turn_steering")]

    operations = [
        migrations.AddField(
            "agentdefinition", "is_retired", models.BooleanField(default=False)
        ),
        migrations.AddField("agentdefinition", "actor_name", models.TextField(default="")),
        migrations.AddField("agentdefinition", "reason", models.TextField(default="")),
        migrations.AlterField(
            "agentdefinition", "factory", models.TextField(blank=True, default="")
        ),
    ]
