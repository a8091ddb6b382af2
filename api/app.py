"""The HTTP application: its middleware, routes and error handlers, and what it opens and closes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api.dialects.registry import DIALECTS, NATIVE, mount_plugins
from api.mcp.endpoint import mount_mcp, serve_mcp
from api.middleware import (
    SECURITY_SCHEMES,
    BodyLimitMiddleware,
    IdentityMiddleware,
    LoopbackMiddleware,
    allow_origins,
    identify_by,
    listed_origins,
)
from api.openapi import describe
from api.problems import install_error_handlers
from api.routes.job_routes import router as jobs_router_
from api.routes.library_routes import documents_router as documents_router_
from api.routes.library_routes import search_router as search_router_
from api.routes.page_routes import router as page_router_
from api.routes.service_routes import graph_router as graph_router_
from api.routes.service_routes import health_router as health_router_
from api.routes.service_routes import workspaces_router as workspaces_router_
from api.routes.source_routes import router as source_router_
from api.routes.spending_routes import router as spending_router_
from api.routes.verify_routes import VerificationSlots
from api.routes.verify_routes import router as verify_router_
from api.static_files import read_page
from graph.entrypoint import Citewell, open_citewell
from graph.events import SCHEMA
from tools.runs.tasks import cancel_and_wait
from tools.sessions.expiry import expire_hourly
from tools.settings import Settings

DESCRIPTION = "Answers over your own documents, whose every citation is proven."


def create_app(settings: Settings, *, citewell: Citewell | None = None) -> FastAPI:
    """Create the application; it opens and closes its own library unless an open one is passed in.

    Raises ConfigurationError if the identity or origin settings, or an installed dialect, can't work.
    """
    origins = listed_origins(settings)
    identify = identify_by(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if citewell is not None:
            async with serve_mcp(app):
                yield
            return
        async with open_citewell(settings) as opened, serve_mcp(app):
            await opened.library.workspaces.ensure(settings.workspace)
            app.state.citewell = opened
            opened.runner.take_over_abandoned()
            opened.library.job_worker.start()
            expiring = asyncio.create_task(
                expire_hourly(
                    opened.library.database,
                    days=settings.session_days,
                    job_days=settings.jobs.keep_days,
                    spending=opened.library.spending,
                )
            )
            try:
                yield
            finally:
                await cancel_and_wait(expiring)

    app = FastAPI(title="Citewell", version=str(SCHEMA), description=DESCRIPTION, lifespan=lifespan)
    app.state.settings = settings
    app.state.citewell = citewell
    app.state.page = read_page()
    app.state.verification_slots = VerificationSlots(settings.runs)
    app.add_middleware(BodyLimitMiddleware, document_bytes=settings.max_document_bytes)
    app.add_middleware(IdentityMiddleware, identify=identify)
    if settings.auth.mode == "none":
        app.add_middleware(LoopbackMiddleware, origins=origins)
    allow_origins(app, origins)
    mount_routes(app)
    install_error_handlers(app)
    describe(app, SECURITY_SCHEMES[settings.auth.mode])
    return app


def mount_routes(app: FastAPI) -> None:
    """Mount every route, those of installed dialects last.

    Raises ConfigurationError if an installed dialect is broken, or its name or one of its routes is taken.
    """
    others = [dialect.router for dialect in DIALECTS.values() if dialect is not NATIVE]
    for router in (
        NATIVE.router,
        documents_router_,
        jobs_router_,
        source_router_,
        search_router_,
        verify_router_,
        workspaces_router_,
        spending_router_,
        graph_router_,
        health_router_,
        page_router_,
        *others,
    ):
        app.include_router(router)
    mount_mcp(app)
    mount_plugins(app)
