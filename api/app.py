"""The HTTP application: its routes, what they share, and when that is opened and closed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api import errors
from api.identity import SCHEMES, Identification, identify_by
from api.limits import BodyLimit, LoopbackOnly
from api.openapi import describe
from api.origins import allow_origins, listed_origins
from api.page_files import read_page
from api.routes import (
    ag_ui,
    ai_sdk,
    conversation,
    docmost,
    docs_chatbot,
    documents,
    health,
    id_citations,
    openai,
    page,
    run_lists,
    runs,
    search,
    self_rag,
    sessions,
)
from graph.entrypoint import Citewell, open_citewell
from graph.events import SCHEMA
from tools.ceasing import cease
from tools.expiry import expire_hourly
from tools.settings import Settings

DESCRIPTION = "Answers over your own documents, whose every citation is proven."


def create_app(settings: Settings, *, citewell: Citewell | None = None) -> FastAPI:
    """Make the application over settings; it opens and closes its own library unless an open one is given.

    Raises ConfigurationError where the settings of identity or origins can't work.
    """
    origins = listed_origins(settings)
    identify = identify_by(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if citewell is not None:
            yield
            return
        async with open_citewell(settings) as opened:
            await opened.library.workspaces.ensure(settings.workspace)
            app.state.citewell = opened
            opened.runner.take_over_abandoned()
            expiring = asyncio.create_task(expire_hourly(opened.library.database, days=settings.session_days))
            try:
                yield
            finally:
                await cease(expiring)

    app = FastAPI(title="Citewell", version=str(SCHEMA), description=DESCRIPTION, lifespan=lifespan)
    app.state.settings = settings
    app.state.citewell = citewell
    app.state.page = read_page()
    app.add_middleware(BodyLimit, document_bytes=settings.max_document_bytes)
    app.add_middleware(Identification, identify=identify)
    if settings.auth.mode == "none":
        app.add_middleware(LoopbackOnly, origins=origins)
    allow_origins(app, origins)
    for routes in (sessions, runs, run_lists, documents, search, health, page):
        app.include_router(routes.router)
    for spoken in (docmost, docs_chatbot, conversation, id_citations, self_rag, openai, ai_sdk, ag_ui):
        app.include_router(spoken.router)
    errors.install(app)
    describe(app, SCHEMES[settings.auth.mode])
    return app
