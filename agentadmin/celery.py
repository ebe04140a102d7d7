"""The Celery application: it carries thread ids, the rows are the truth."""

import logging
import os
import warnings

from celery import Celery
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentadmin.settings")
# The checks load every page and the whole API; `up` and the commands run them already.
os.environ.setdefault("CELERY_SKIP_CHECKS", "yes")

from django.conf import settings

from agentadmin.redis import broker_url
from agentadmin.sentinel import broker_options

# Also what a library warns of is a line like every other. What Celery fears of a worker that runs
# as root cannot come: only JSON is accepted.
logging.captureWarnings(capture=True)
warnings.simplefilter("ignore", SecurityWarning)


@setup_logging.connect
def keep_logging(**_: object) -> None:
    """Django has configured it; a receiver is all that keeps Celery from doing it again."""


app = Celery("agentadmin", broker=broker_url(settings.BROKER_URL))
app.conf.update(
    accept_content=["json"],
    task_serializer="json",
    result_backend=None,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_publish_retry_policy={"max_retries": 2, "interval_start": 0, "interval_max": 0.2},
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    # kombu's own default is no socket timeout at all; takeover is by lease, not by redelivery.
    broker_transport_options={
        "visibility_timeout": 7200,
        "socket_timeout": 30,
        **broker_options(settings.BROKER_URL),
    },
    timezone="UTC",
)
app.autodiscover_tasks(["runs_app"])

# Imported for its signal handlers, which only a worker fires.
from agentadmin import heartbeat  # noqa: E402, F401
