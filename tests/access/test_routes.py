"""Every route declares its permission, here and in the product."""

import pytest

from agentadmin.access.permissions import PERMISSIONS
from agentadmin.access.routes import PUBLIC, SIGNED_IN, permission_of, requires, routes
from agentadmin.access.routes import undeclared_routes as undeclared


def test_the_crawl_finds_each_kind_of_route_and_what_it_declares() -> None:
    found = {route.path: route.permission for route in routes("tests.access.urls")}
    assert found["/page"] == "sessions:read"
    assert found["/class-page"] == "audit:read"
    assert found["/sign-in"] == PUBLIC
    assert found["/step-up"] == SIGNED_IN
    assert found["/api/v1/rows"] == "sessions:read"
    assert found["/api/v1/rows/<row_id>/clear"] == "sessions:clear"
    assert found["/api/v1/openapi.json"] == PUBLIC


def test_the_crawl_names_what_was_forgotten() -> None:
    assert undeclared("tests.access.urls") == ["GET /api/v1/forgotten", "ANY /undeclared"]


def test_a_consumer_declares_as_a_view_does() -> None:
    @requires("sessions:read")
    class Consumer:
        pass

    assert permission_of(Consumer) == "sessions:read"


def test_an_unknown_permission_is_refused_when_it_is_written_down() -> None:
    with pytest.raises(ValueError, match="sessions:fly"):
        requires("sessions:fly")


def test_every_route_of_the_product_declares_its_permission() -> None:
    assert undeclared() == []
    for route in routes():
        assert route.permission in {*PERMISSIONS, PUBLIC, SIGNED_IN}
