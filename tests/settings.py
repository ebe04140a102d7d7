"""The product's settings on the test run's own folder, Valkey and database.

TEST_DB chooses the database: `sqlite` (the default, as a file, since shared memory databases
refuse immediate transactions) or `postgres`.
"""

import os

from tests.services import postgres
from tests.services.folder import FOLDER

TEST_DB = os.environ.get("TEST_DB", "sqlite")
if TEST_DB not in {"sqlite", "postgres"}:
    raise RuntimeError(f"TEST_DB is sqlite or postgres, not {TEST_DB!r}.")

for name in ("BROKER_URL", "SECRET_KEY", "DEBUG", "HOST", "PORT", "AGENTADMIN_ADMIN_PASSWORD"):
    os.environ.pop(name, None)
os.environ |= {
    "AGENTADMIN_DATA": str(FOLDER / "data"),
    "AGENTADMIN_LEASE": "1.2/0.3/0.2",
    "REDIS_URL": f"unix://{FOLDER}/valkey/valkey.sock",
    "DATABASE_URL": postgres.url() if TEST_DB == "postgres" else f"sqlite:///{FOLDER}/unused",
    "DATABASE_POOL": "0",
}

from agentadmin.settings import *  # noqa: E402, F403
from agentadmin.settings import DATABASES  # noqa: E402

SECRET_KEY = "the tests' own key, of no value to anybody: 0123456789 abcdefghijklmnop"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES["default"]["TEST"] = (
    {"NAME": "test_agentadmin"} if TEST_DB == "postgres" else {"NAME": str(FOLDER / "test.sqlite3")}
)
# Entries wait until a test flushes them: a thread of its own would write into a later test.
AUDIT_FLUSH_SECONDS = None
METRICS_SECONDS = None
