"""Composition of a process's library: the database and everything that reads and writes it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from graph.ports import Families, Resources, SegmentSearcher
from tools.auth.document_links import DocumentLinks
from tools.backends.backend_registry import configured_families, opened_reranker
from tools.embeddings.embedder import Embedder
from tools.judges.examined_judge import examined_by
from tools.judges.examiner import open_examiner
from tools.library.background_syncs import BackgroundSyncs
from tools.library.catalogue import Documents
from tools.library.document_collections import Collections
from tools.library.ingestion import Ingestor
from tools.library.job_store import Jobs
from tools.library.job_worker import SPARE, JobWorker
from tools.library.laid_out_texts import LaidOutTexts
from tools.library.languages import SampledLanguages
from tools.library.layout import Layouts
from tools.library.listing import LibraryCatalogue
from tools.library.marked_passages import MarkedPassages
from tools.library.mcp_library import McpLibrary, open_mcp_search
from tools.library.original_views import PROCESSES, REPLY_BYTES, VIEW_MEGABYTES, VIEW_SECONDS, OriginalViews, ViewStore
from tools.library.places import Places
from tools.library.sandbox import opened_sandbox
from tools.library.source_records import Sources
from tools.library.syncing import Syncer
from tools.library.uploads import ARCHIVES_AT_ONCE, Uploads
from tools.library.versions import Versions
from tools.library.web_library import WebLibrary, open_web
from tools.library.web_pages import WebPages
from tools.notes.notes import Notes
from tools.originals.originals import Originals
from tools.parsers import formats
from tools.process.engines import index_worker, open_databases, open_milvus
from tools.retrieval.candidates import DEADLINE_SECONDS, LEAST_SEGMENTS, CandidateEngine, Candidates, IndexFollower
from tools.retrieval.flat_indexes import FlatIndexes
from tools.retrieval.hybrid_search import HybridSearcher
from tools.retrieval.library_embedder import open_library_embedder
from tools.retrieval.place_finder import LibraryPlaces
from tools.retrieval.segment_store import SegmentStore
from tools.runs.notifications import Notifications, PostgresCarrier
from tools.runs.verdict_upgrades import SessionEvents, VerdictUpgrades
from tools.sessions.feedback import FeedbackBook
from tools.sessions.session_store import Sessions
from tools.sessions.shares import Shares
from tools.settings import Settings
from tools.spending.charges import Spending
from tools.storage.database import Database
from tools.storage.tenants import Workspaces
from tools.web.sites import WebReader


@dataclass(frozen=True, slots=True)
class Library:
    """The database of a process and the components that read and write it."""

    settings: Settings
    database: Database
    embedder: Embedder
    workspaces: Workspaces
    documents: Documents
    collections: Collections
    versions: Versions
    originals: Originals
    places: Places
    layouts: Layouts
    ingestor: Ingestor
    jobs: Jobs
    job_worker: JobWorker
    uploads: Uploads
    milvus: CandidateEngine | None
    index_worker: IndexFollower | None
    links: DocumentLinks
    sources: Sources
    syncer: Syncer
    syncs: BackgroundSyncs
    sessions: Sessions
    session_events: SessionEvents
    shares: Shares
    feedback: FeedbackBook
    notes: Notes
    searcher: SegmentSearcher
    reader: SegmentStore
    families: Families
    passages: MarkedPassages
    web: WebLibrary | None
    mcp: McpLibrary | None
    pages: WebPages
    place_finder: LibraryPlaces
    catalogue: LibraryCatalogue
    languages: SampledLanguages
    spending: Spending

    @property
    def resources(self) -> Resources:
        """The ports that the graph is built with."""
        return Resources(
            searcher=self.searcher,
            reader=self.reader,
            families=self.families,
            passages=self.passages,
            web=self.web,
            mcp=self.mcp,
            places=self.place_finder,
            catalogue=self.catalogue,
            languages=self.languages,
        )


@asynccontextmanager
async def open_library(settings: Settings) -> AsyncIterator[Library]:
    """Open the database and create the components that use it.

    Raises ConfigurationError, DatabaseUnavailable, EmbeddingMismatch.
    """
    configured_families(settings)  # fail now, not with the database open, if a model, backend or judge is misconfigured
    processes = settings.jobs.workers + SPARE + ARCHIVES_AT_ONCE + 1  # one for pages of the web
    viewing = settings.jobs.model_copy(update={"file_seconds": VIEW_SECONDS})
    formats()  # fail now, not at the first file, if an installed parser is broken
    async with (
        open_databases(settings) as database,
        open_examiner(database, settings.judge, VerdictUpgrades(database).run) as examiner,
        opened_sandbox(settings.jobs, processes, full_bytes=settings.max_document_bytes) as sandbox,
        # So that no upload waits for the files of a source.
        opened_sandbox(settings.jobs, 1, full_bytes=settings.max_document_bytes) as followed,
        opened_sandbox(viewing, PROCESSES, megabytes=VIEW_MEGABYTES, reply_bytes=REPLY_BYTES) as viewed,
        opened_reranker(settings.reranker) as reranker,
        open_library_embedder(settings, database) as embedder,
    ):
        families = configured_families(settings, examined_by(examiner), reranker)
        workspaces = Workspaces(database)
        spending = Spending(database, workspaces, settings.spending)
        originals = Originals.of(settings, database, workspaces)
        views = OriginalViews(originals, ViewStore(database), viewed)
        ingestor = Ingestor(database, workspaces, embedder, settings)
        sandboxed = Ingestor(database, workspaces, embedder, settings, sandbox)
        notifications = Notifications(PostgresCarrier(database.url))
        sessions = Sessions(database, workspaces, families, spending)
        jobs = Jobs(database, workspaces, notifications)
        job_worker = JobWorker(database, sandboxed, notifications, settings.jobs)
        indexes = FlatIndexes(database)
        milvus = None if settings.milvus.url is None else open_milvus(settings.milvus)
        follower = None if milvus is None else index_worker(database, milvus)
        candidates = (
            None if milvus is None else Candidates(milvus, least_segments=LEAST_SEGMENTS, deadline=DEADLINE_SECONDS)
        )
        searcher = HybridSearcher(database, workspaces, embedder, indexes, candidates)
        reader = SegmentStore(database, workspaces)
        layouts = Layouts(reader, originals, views, LaidOutTexts(database))
        documents = Documents(database, workspaces, originals)
        most = settings.max_document_bytes
        unpacked = settings.data_dir.expanduser() / "unpacking"
        uploads = Uploads(jobs, job_worker, documents, workspaces, sandbox, max_bytes=most, folder=unpacked)
        web_reader = WebReader(settings, sandbox)
        pages = WebPages(web_reader, sandboxed, documents, originals)
        following = Ingestor(database, workspaces, embedder, settings, followed, all_readers=True)
        syncer = Syncer(database, workspaces, following, settings, roots=settings.source_roots, pages=pages)
        syncs = BackgroundSyncs(syncer)
        try:
            if milvus is not None:
                await milvus.warm()
            found = sandboxed if settings.web.fetch_pages or settings.mcp_search else ingestor
            async with open_web(settings, found, searcher) as web, open_mcp_search(settings, found, searcher) as mcp:
                yield Library(
                    settings=settings,
                    database=database,
                    embedder=embedder,
                    workspaces=workspaces,
                    documents=documents,
                    collections=Collections(database, workspaces),
                    versions=Versions(database, workspaces),
                    originals=originals,
                    places=Places(reader, originals, views),
                    layouts=layouts,
                    ingestor=ingestor,
                    jobs=jobs,
                    job_worker=job_worker,
                    uploads=uploads,
                    milvus=milvus,
                    index_worker=follower,
                    links=DocumentLinks(database, workspaces, settings),
                    sources=Sources(database, workspaces),
                    syncer=syncer,
                    syncs=syncs,
                    sessions=sessions,
                    session_events=SessionEvents(database, sessions, notifications),
                    shares=Shares(database, workspaces, settings),
                    feedback=FeedbackBook(database, workspaces),
                    notes=Notes(database, workspaces, reader),
                    searcher=searcher,
                    reader=reader,
                    families=families,
                    passages=MarkedPassages(reader, searcher, ingestor),
                    web=web,
                    mcp=mcp,
                    pages=pages,
                    place_finder=LibraryPlaces(database, workspaces),
                    catalogue=LibraryCatalogue(database, workspaces, searcher),
                    languages=SampledLanguages(database, workspaces),
                    spending=spending,
                )
        finally:
            await layouts.close()
            await views.close()
            await syncs.close()
            await web_reader.close()
            await job_worker.close()
            await notifications.close()
            await indexes.close()
            if follower is not None:
                await follower.close()
            if milvus is not None:
                await milvus.close()
