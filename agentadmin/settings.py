"""The one settings file; every deployment differs only in its environment."""

from pathlib import Path
from typing import Any

from django.core.management.utils import get_random_secret_key
from django.utils.csp import CSP

from agentadmin import env, logs

BASE_DIR = Path(__file__).resolve().parent.parent
DATA = env.data_folder(BASE_DIR)

DEBUG = env.flag("DEBUG")
# `up` writes the key into the data folder before it starts a child; commands that run before that
# need no lasting key.
SECRET_KEY = env.secret_key(DATA) or get_random_secret_key()
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, low=1, high=65535)
ALLOWED_HOSTS = [HOST, "127.0.0.1", "localhost", "[::1]", "testserver", *env.items("ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = env.items("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "agentadmin.access",
    "agentadmin.audit",
    "sessions_app",
    "runs_app",
    "agentadmin.ops",
]

MIDDLEWARE = [
    "agentadmin.middleware.trace",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "agentadmin.access.middleware.ActorMiddleware",
]

ROOT_URLCONF = "agentadmin.urls"
ASGI_APPLICATION = "agentadmin.asgi.application"
APPEND_SLASH = False

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agentadmin.frame.frame",
                "runs_app.context.counts",
            ],
        },
    }
]

# --- Database ---------------------------------------------------------------------------------

DATABASES = {"default": env.database(DATA)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis, Celery, leases ----------------------------------------------------------------------

REDIS_URL = env.text("REDIS_URL", env.embedded_redis_url(DATA))
BROKER_URL = env.text("BROKER_URL", REDIS_URL)
LEASE = env.lease()

# What happens during a call is told to the code between calls by these paths.
THREAD_JOURNAL = "runs_app.recorder.make_journal"
AGENT_PERMISSIONS = "runs_app.profiles.permissions_of"
AGENT_WINDOW = "runs_app.profiles.window_of"
AGENT_SPEC = "runs_app.profiles.spec_of"
MESSAGE_REDACTED = "runs_app.redacted.retell"
# Functions `package.module:function` that return the builder of an agent of your own.
AGENTS = env.items("AGENTADMIN_AGENTS")
# A run that takes longer (seconds) is interrupted; its turn keeps what it has.
RUN_DEADLINE = env.integer("AGENTADMIN_RUN_DEADLINE", 3600, low=1, high=7 * 86_400)

# Reads and refusals are audited in batches; none (tests) leaves them to the caller to flush.
AUDIT_FLUSH_SECONDS: float | None = 1.0
# Processes tell what they have counted so often (seconds); none (tests) leaves it to whoever asks.
METRICS_SECONDS: float | None = 5.0
METRIC_SOURCES = ["runs_app.metering.gauges"]
# What one token or account may ask for: requests a second, and how many at once (contract §3).
RATE_LIMITS = {"writes": (250, 500), "reads": (1000, 2000)}
# Whose X-Forwarded-For is believed: addresses or networks.
TRUSTED_PROXIES = env.items("TRUSTED_PROXIES")

# --- Sign-in ------------------------------------------------------------------------------------

LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- Browser security ---------------------------------------------------------------------------

SECURE_CSP: dict[str, Any] = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF, CSP.NONCE],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:", "blob:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "require-trusted-types-for": ["'script'"],
    "trusted-types": ["htmx", "lit-html"],
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# Behind a TLS proxy; `make run` speaks plain HTTP on loopback.
HTTPS = env.flag("AGENTADMIN_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
CSRF_FAILURE_VIEW = "agentadmin.problems.csrf_failure"
# The contract allows bodies of 32 MB; the API refuses larger ones with a problem of its own.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024

# --- Static files -------------------------------------------------------------------------------

STATIC_URL = "/static/"
# The web server itself answers for `dist`; Django for what packages bring (the API's own pages).
STATICFILES_DIRS = [("dist", BASE_DIR / "static" / "dist")]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "agentadmin.bundle.BundleStorage"},
}

# --- Language and time --------------------------------------------------------------------------

LANGUAGE_CODE = "en"
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# --- Logging ------------------------------------------------------------------------------------

LOGGING: dict[str, Any] = logs.config(
    env.text("LOG_LEVEL", "INFO"), formatter=logs.KeyValueLines if DEBUG else logs.JsonLines
)
