"""A small site with one route of each kind, to try the doors on."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views import View
from ninja import NinjaAPI, Router

from agentadmin.access.door import RefuseUndeclared
from agentadmin.access.refusals import record_refusal
from agentadmin.access.routes import PUBLIC, SIGNED_IN, requires
from agentadmin.audit.format import Target
from agentadmin.engine.errors import AgentAdminError, Conflict, StepUpRequired
from agentadmin.problems import error_response

api = NinjaAPI(auth=RefuseUndeclared(), urls_namespace="access-tests")
router = Router()


@api.exception_handler(AgentAdminError)
def _refuse(request: HttpRequest, error: AgentAdminError) -> HttpResponse:
    record_refusal(request, error)
    return error_response(error)


@router.get("/open")
@requires(PUBLIC)
def open_(request: HttpRequest) -> dict[str, Any]:
    return {"open": True}


@router.get("/me")
@requires(SIGNED_IN)
def me(request: Any) -> dict[str, Any]:
    actor = request.auth
    return {"name": actor.name, "kind": actor.kind, "token": actor.token_id}


@router.get("/rows")
@requires("sessions:read")
async def rows(request: Any) -> dict[str, Any]:
    return {"name": request.auth.name}


@router.post("/rows/{row_id}/clear")
@requires("sessions:clear")
def clear(request: Any, row_id: str, number: int) -> dict[str, Any]:
    """A row of namespace team-b that belongs to the end user bob."""
    target = Target(kind="row", id=row_id, within=row_id)
    request.auth.require_row(
        "sessions:clear", namespace="team-b", agent_id="demo", user_id="bob", target=target
    )
    return {"cleared": row_id}


@router.get("/pair")
@requires("sessions:read")
def read_pair(request: HttpRequest) -> dict[str, Any]:
    return {}


@router.post("/pair")
@requires("sessions:create")
def make_pair(request: HttpRequest) -> dict[str, Any]:
    return {}


@router.get("/forgotten")
def forgotten(request: HttpRequest) -> dict[str, Any]:
    return {}


api.add_router("", router)


@requires("sessions:read")
def page(request: Any) -> HttpResponse:
    return HttpResponse(f"for {request.actor.name}")


@requires("audit:read")
class ClassPage(View):
    def get(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse("audit")


def undeclared(request: HttpRequest) -> HttpResponse:
    return HttpResponse("nobody thought of me")


@requires(SIGNED_IN)
def failing(request: HttpRequest, how: str) -> HttpResponse:
    if how == "widen":
        raise StepUpRequired
    raise Conflict("The present state does not allow this.")


urlpatterns = [
    path("", include("agentadmin.access.urls")),
    path("api/v1/", api.urls),
    path("page", page, name="page"),
    path("class-page", ClassPage.as_view(), name="class_page"),
    path("undeclared", undeclared),
    path("failing/<str:how>", failing, name="failing"),
]
