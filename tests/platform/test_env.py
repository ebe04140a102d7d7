"""The environment is read with types, and refused with the variable's name."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentadmin import env

DATA = Path("/srv/agentadmin")


@pytest.mark.parametrize("value", ["1", "yes", "TRUE", " on "])
def test_a_flag_is_on(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("DEBUG", value)
    assert env.flag("DEBUG")


@pytest.mark.parametrize("value", ["", "0", "no", "Off"])
def test_a_flag_is_off(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("DEBUG", value)
    assert not env.flag("DEBUG")


def test_a_flag_that_is_neither_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "maybe")
    with pytest.raises(ImproperlyConfigured, match="DEBUG must be yes or no, not 'maybe'"):
        env.flag("DEBUG")


@pytest.mark.parametrize("value", ["0", "65536", "-1", "80a", "８０", " 80"])
def test_a_port_out_of_bounds_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PORT", value)
    with pytest.raises(ImproperlyConfigured, match="PORT must be a number from 1 to 65535"):
        env.integer("PORT", 8000, low=1, high=65535)


def test_the_lease_has_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTADMIN_LEASE")
    assert env.lease() == env.Lease(12, 4, 3)


def test_a_lease_may_be_a_fraction_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTADMIN_LEASE", "0.6/0.2/0.1")
    assert env.lease() == env.Lease(0.6, 0.2, 0.1)


@pytest.mark.parametrize("value", ["12", "12/4", "4/4/3", "12/0/3", "a/b/c", "12/4/-1", "nan/1/1"])
def test_a_lease_that_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("AGENTADMIN_LEASE", value)
    with pytest.raises(ImproperlyConfigured, match="AGENTADMIN_LEASE"):
        env.lease()


def test_the_database_is_a_file_in_the_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL")
    found = env.database(DATA)
    assert found["NAME"] == "/srv/agentadmin/agentadmin.sqlite3"
    assert found["OPTIONS"]["transaction_mode"] == "IMMEDIATE"


def test_a_postgres_address_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:p%40ss@db.example:5433/main?sslmode=require")
    monkeypatch.setenv("DATABASE_POOL", "10")
    found = env.database(DATA)
    assert (found["USER"], found["PASSWORD"], found["NAME"]) == ("me", "p@ss", "main")
    assert (found["HOST"], found["PORT"]) == ("db.example", "5433")
    assert found["OPTIONS"] == {
        "sslmode": "require",
        "pool": {"min_size": 2, "max_size": 10, "timeout": 20},
    }


def test_a_postgres_socket_folder_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me@/main?host=/run/pg")
    assert env.database(DATA)["HOST"] == "/run/pg"


def test_another_database_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://somewhere/main")
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL must be"):
        env.database(DATA)


def test_the_socket_path_stays_short_for_any_data_folder() -> None:
    deep = Path("/") / "/".join(["a-long-folder-name"] * 20)
    assert len(env.embedded_redis_url(deep).removeprefix("unix://")) <= 107
    assert env.socket_folder(deep) != env.socket_folder(deep / "b")
