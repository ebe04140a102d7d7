"""The ground that every other test stands on."""

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from redis import Redis

from tests import settings as test_settings


def test_a_real_valkey_answers(redis_client: Redis) -> None:
    assert redis_client.info("server")["server_name"] == "valkey"


@pytest.mark.django_db
def test_the_chosen_database_is_used() -> None:
    expected = {"sqlite": "sqlite", "postgres": "postgresql"}[test_settings.TEST_DB]
    assert connection.vendor == expected
    assert get_user_model().objects.count() == 0
