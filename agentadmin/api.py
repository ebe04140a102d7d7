"""The HTTP API under /api/v1: one API that only mounts routers and maps errors."""

from __future__ import annotations

from agentadmin import api_errors
from agentadmin.access.api import tokens_router
from agentadmin.access.door import RefuseUndeclared
from agentadmin.api_body import CodecParser
from agentadmin.api_docs import PlainDocs
from agentadmin.audit.api import audit_router
from agentadmin.openapi import DocumentedAPI
from runs_app.api import routers as of_runs
from sessions_app.api import routers as of_sessions

api = DocumentedAPI(
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
for router, tag in (*of_sessions, *of_runs, (audit_router, "audit"), (tokens_router, "tokens")):
    api.add_router("", router, tags=[tag])
