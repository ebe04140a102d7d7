"""A turn remembers what it was told and has not read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs_app", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="steering",
            field=models.TextField(db_default="[]", default="[]"),
        ),
    ]
