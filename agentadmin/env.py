"""Reads the environment: typed, and loud about what it cannot read."""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"", "0", "false", "no", "off"}


def text(name: str, default: str = "") -> str:
    """The variable, or the default where it is unset or empty."""
    return os.environ.get(name) or default


def flag(name: str) -> bool:
    """A yes or no, off where unset."""
    value = os.environ.get(name, "").strip().lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")
    return value in TRUE


def integer(name: str, default: int, *, low: int, high: int) -> int:
    """A whole number within bounds."""
    raw = text(name, str(default))
    if not raw.isascii() or not raw.isdigit() or not low <= int(raw) <= high:
        raise ImproperlyConfigured(f"{name} must be a number from {low} to {high}, not {raw!r}.")
    return int(raw)


def items(name: str) -> list[str]:
    """A comma-separated list."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


@dataclass(frozen=True, slots=True)
class Lease:
    """How long a worker owns a thread, how often it says so, how often others look (seconds)."""

    seconds: float
    renewal: float
    sweep: float


def lease(name: str = "AGENTADMIN_LEASE", default: str = "12/4/3") -> Lease:
    """Parse `lease/renewal/sweep`; the renewal must come before the lease ends."""
    raw = text(name, default)
    try:
        seconds, renewal, sweep = (float(part) for part in raw.split("/"))
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} must be lease/renewal/sweep in seconds, such as {default}, not {raw!r}."
        ) from None
    if not 0 < renewal < seconds < 86_400 or not 0 < sweep < 86_400:
        raise ImproperlyConfigured(
            f"{name} needs 0 < renewal < lease and 0 < sweep, below a day, not {raw!r}."
        )
    return Lease(seconds, renewal, sweep)


def data_folder(base: Path) -> Path:
    """Where everything written at run time goes."""
    return Path(text("AGENTADMIN_DATA", str(base / ".data"))).expanduser().resolve()


def socket_folder(data: Path) -> Path:
    """The private folder of the embedded server's socket.

    It is derived from the data folder but lies outside it: a unix socket's path holds only 107
    bytes, and a data folder may be anywhere.
    """
    digest = hashlib.sha256(str(data).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"agentadmin-{digest}"


def embedded_redis_url(data: Path) -> str:
    """The address of the Valkey server that `up` starts for a data folder."""
    return f"unix://{socket_folder(data) / 'valkey.sock'}"


def secret_key(data: Path) -> str:
    """The key of the environment or the data folder; empty where neither has one."""
    stored = data / "secret_key"
    return text("SECRET_KEY") or (stored.read_text().strip() if stored.is_file() else "")


SQLITE_OPTIONS: dict[str, Any] = {
    # WAL without IMMEDIATE fails under two writers; both together never did (measured).
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON",
}


def database(data: Path) -> dict[str, Any]:
    """Django's settings for DATABASE_URL, or for a SQLite file in the data folder."""
    url = text("DATABASE_URL", f"sqlite:///{data / 'agentadmin.sqlite3'}")
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        name = unquote(url.removeprefix("sqlite:///"))
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": name, "OPTIONS": SQLITE_OPTIONS}
    if scheme in {"postgres", "postgresql"}:
        return _postgres(url)
    raise ImproperlyConfigured(f"DATABASE_URL must be postgres://… or sqlite:///…, not {scheme}://")


def _postgres(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    host = options.pop("host", None) or unquote(parts.hostname or "")
    most = integer("DATABASE_POOL", 24, low=0, high=1000)
    if most:
        options["pool"] = {"min_size": min(2, most), "max_size": most, "timeout": 20}
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.removeprefix("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 0,
        "OPTIONS": options,
    }
