"""Schemathesis over the OpenAPI document, against the real application and a real database.

Every operation is called with what the document allows and with what it forbids; no call may be
answered by a 500, by a status or a shape that the document does not name, or accept what it
forbids. `make soak` asks far more often, and differently each time.
"""

import json
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import connection
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)

from agentadmin.api import api
from agentadmin.openapi import operations
from tests.contract.world import World, aim

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # Files are made for an event loop; here the whole answer is read at once.
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume"),
]

CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ignored_auth,
    unsupported_method,
]
# An event stream does not end; `tests/live_stream` reads it.
ENDLESS = {"streamEvents"}
DOCUMENT = json.loads(json.dumps(api.get_openapi_schema()))
PLACES = {
    each["operationId"]: (path, method.upper())
    for method, path, each in operations(DOCUMENT)
    if each["operationId"] not in ENDLESS
}
EVERYTHING = [HypothesisTestMode.EXAMPLES, HypothesisTestMode.COVERAGE, HypothesisTestMode.FUZZING]
FUZZING = [HypothesisTestMode.FUZZING]
# It has eighteen kinds of operation, with more boundaries than all other routes together.
LONG = {"updateAgentState"}
# The walk along every boundary of a schema is the longest part, and of no database's.
QUICK = EVERYTHING if connection.vendor == "sqlite" else FUZZING


@pytest.fixture(scope="module")
def schema() -> Any:
    loaded = schemathesis.openapi.from_dict(DOCUMENT)
    loaded.app = get_wsgi_application()
    return loaded


def ask(
    schema: Any, world: World, name: str, how: settings, modes: list[HypothesisTestMode]
) -> None:
    """Call one operation, over and over, and hold every answer against the document."""
    path, method = PLACES[name]
    operation = schema[path][method]
    headers = {"Authorization": f"Bearer {world.secret()}"}

    def call(case: Any) -> None:
        aim(case, world.ids)
        case.call_and_validate(headers=headers, checks=CHECKS)

    config = HypothesisTestConfig(project=schema.config, modes=modes, settings=how)
    create_test(operation=operation, test_func=call, config=config)()


@pytest.mark.parametrize("name", PLACES)
def test_every_answer_is_as_the_document_says(schema: Any, world: World, name: str) -> None:
    how = settings(
        max_examples=3,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    ask(schema, world, name, how, FUZZING if name in LONG else QUICK)


@pytest.mark.soak
@pytest.mark.parametrize("name", PLACES)
def test_every_answer_is_as_the_document_says_at_length(
    schema: Any, world: World, name: str
) -> None:
    how = settings(
        max_examples=1000, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    ask(schema, world, name, how, EVERYTHING)
