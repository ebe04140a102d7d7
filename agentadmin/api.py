"""The HTTP API under /api/v1: one NinjaAPI that only mounts routers and maps errors."""

from __future__ import annotations

from ninja import NinjaAPI

from agentadmin import api_errors
from agentadmin.access.door import RefuseUndeclared
from agentadmin.api_body import CodecParser
from agentadmin.api_docs import PlainDocs
from agentadmin.audit.api import audit_router
from runs_app.api import runs_router
from runs_app.live_api import live_router
from sessions_app.api import sessions_router

api = NinjaAPI(
    title="AgentAdmin API",
    version="1",
    description="Sessions, states, runs and the audit log. Errors are RFC 9457 problem JSON.",
    urls_namespace="api",
    docs=PlainDocs(),
    docs_url="/docs",
    openapi_url="/openapi.json",
    auth=RefuseUndeclared(),
    parser=CodecParser(),
)
api_errors.install(api)
api.add_router("", sessions_router, tags=["sessions"])
api.add_router("", runs_router, tags=["runs"])
api.add_router("", live_router, tags=["live"])
api.add_router("", audit_router, tags=["audit"])
