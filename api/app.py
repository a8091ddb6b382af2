"""The HTTP application: its middleware, routes and error handlers, and what it opens and closes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from api.auditing import AuditMiddleware, serve_audit
from api.body_limits import BodyLimitMiddleware
from api.browsers import PublicAddress
from api.dependencies import RouteTable
from api.dialects.registry import DIALECTS, NATIVE, mount_plugins, require_dialects
from api.login_streams import CHECK_SECONDS
from api.mcp.endpoint import mount_mcp, serve_mcp
from api.metrics_server import router as metrics_router_
from api.middleware import (
    IdentityMiddleware,
    LoopbackMiddleware,
    allow_origins,
    identify_by,
    listed_origins,
    security_schemes,
)
from api.observation import ObservationMiddleware, request_telemetry
from api.openapi import describe
from api.problems import install_error_handlers
from api.protected_resource import mount_metadata
from api.routes.audit_routes import router as audit_router_
from api.routes.collection_routes import router as collection_router_
from api.routes.export_routes import router as export_router_
from api.routes.feedback_routes import router as feedback_router_
from api.routes.guide_routes import router as guide_router_
from api.routes.job_routes import router as jobs_router_
from api.routes.key_routes import router as keys_router_
from api.routes.library_routes import documents_router as documents_router_
from api.routes.library_routes import search_router as search_router_
from api.routes.link_routes import router as link_router_
from api.routes.listing_routes import router as listing_router
from api.routes.login_routes import router as login_router_
from api.routes.note_routes import router as note_router_
from api.routes.page_routes import router as page_router_
from api.routes.service_routes import router as service_router_
from api.routes.share_routes import opening_router as opening_router_
from api.routes.share_routes import shares_router as shares_router_
from api.routes.source_routes import router as source_router_
from api.routes.spending_routes import router as spending_router_
from api.routes.study_routes import router as study_router_
from api.routes.study_routes import study_turns
from api.routes.verify_routes import router as verify_router_
from api.routes.verify_routes import verification_turns
from api.static_files import BUNDLE_FOLDER, read_page
from api.stream import StreamingApp
from graph.entrypoint import Citewell, open_citewell
from graph.errors import WorkspaceMoved, WorkspaceMoving
from graph.events import SCHEMA
from tools.auth.audit_log import KEEP_DAYS
from tools.concurrency.tasks import cancel_and_wait
from tools.library.git_cache import caches_of
from tools.process.expiry import EVERY_DIALECT, Retention, Sweep
from tools.process.health import EndpointProbe
from tools.settings import Settings
from tools.telemetry.exporting import start_tracing
from tools.telemetry.tracing import background_context

if TYPE_CHECKING:
    from tools.auth.oidc import RelyingParty

DESCRIPTION = "Answers over your own documents, whose every citation is proven."


def create_app(settings: Settings, *, citewell: Citewell | None = None, page: Path = BUNDLE_FOLDER) -> FastAPI:
    """Create the application; it opens and closes its own library unless an open one is passed in.

    ``page`` is the folder of the page's files: ``PAGE_FOLDER`` holds its modules as they are written.
    Raises ConfigurationError if the identity or origin settings, or an installed dialect, can't work.
    """
    origins = listed_origins(settings)
    address = PublicAddress(settings)
    identify = identify_by(settings, address, origins)
    if isinstance(settings.session_days, dict):
        require_dialects(settings.session_days.keys() - {EVERY_DIALECT}, "session_days")
    require_dialects(settings.segment_sizes.keys() - {EVERY_DIALECT}, "segment_size")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if citewell is not None:
            async with serve_audit(app, settings), serve_mcp(app):
                yield
            return
        async with open_citewell(settings) as opened, serve_mcp(app):
            with suppress(WorkspaceMoved, WorkspaceMoving):  # the others are served
                await opened.library.workspaces.ensure(settings.workspace)
            app.state.citewell = opened
            opened.runner.take_over_abandoned()
            opened.library.job_worker.start()
            if opened.library.index_worker is not None and settings.jobs.workers:
                opened.library.index_worker.start()
            sweep = Sweep(
                opened.library.database,
                Retention.of(settings),
                link_days=settings.links.days,
                audit_days=settings.audit.keep_days or KEEP_DAYS,
                spending=opened.library.spending,
                git_caches=caches_of(settings),
            )
            background: list[asyncio.Task[Any]] = [asyncio.create_task(sweep.hourly(), context=background_context())]
            if settings.models:  # or the first question would wait for it, a second or two of CPU
                background.append(asyncio.create_task(asyncio.to_thread(import_module, "tools.llm.model_call")))
            try:
                async with serve_audit(app, settings):
                    yield
            finally:
                await cancel_and_wait(*background)

    traced = start_tracing(settings.tracing)
    app = StreamingApp(
        title="Citewell",
        version=str(SCHEMA),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        telemetry=request_telemetry(traced=traced),
    )
    app.keeps_layers = traced
    app.state.settings = settings
    app.state.citewell = citewell
    app.state.audit = None
    app.state.public_address = address
    app.state.identify = identify
    app.state.relying_party = _relying_party(settings)
    app.state.login_check_seconds = CHECK_SECONDS
    app.state.page = read_page(page)
    app.state.reference = None
    app.state.endpoint_probe = EndpointProbe()
    app.state.verification_turns = verification_turns(settings.runs)
    app.state.study_turns = study_turns(settings.runs)
    app.add_middleware(BodyLimitMiddleware, document_bytes=settings.max_document_bytes)
    app.add_middleware(IdentityMiddleware, identify=identify)
    app.add_middleware(AuditMiddleware, keeps_questions=settings.audit.questions)
    if settings.auth.mode == "none":
        app.add_middleware(LoopbackMiddleware, address=address, origins=origins)
    allow_origins(app, origins, of_keys=settings.auth.mode == "keys")
    app.add_middleware(ObservationMiddleware)
    if settings.metrics.listen == "app":
        app.include_router(metrics_router_)
    mount_routes(app)
    mount_metadata(app, settings)
    app.state.route_table = RouteTable(app.routes)
    install_error_handlers(app)
    describe(app, security_schemes(settings))
    return app


def _relying_party(settings: Settings) -> "RelyingParty | None":
    if not settings.oidc.issuer:
        return None
    from tools.auth.oidc import RelyingParty

    return RelyingParty(settings.oidc, settings.auth)


def mount_routes(app: FastAPI) -> None:
    """Mount every route, those of installed dialects last.

    Raises ConfigurationError if an installed dialect is broken, or its name or one of its routes is taken.
    """
    others = [dialect.router for dialect in DIALECTS.values() if dialect is not NATIVE]
    for router in (
        NATIVE.router,
        export_router_,
        feedback_router_,
        shares_router_,
        note_router_,
        study_router_,
        listing_router,
        documents_router_,
        collection_router_,
        guide_router_,
        jobs_router_,
        source_router_,
        search_router_,
        verify_router_,
        service_router_,
        spending_router_,
        audit_router_,
        keys_router_,
        login_router_,
        page_router_,
        link_router_,
        opening_router_,
        *others,
    ):
        # include_router would analyse each route again, at 80 ms of CPU, to the same end: none has a prefix here.
        app.routes.extend(router.routes)
    mount_mcp(app)
    mount_plugins(app)
