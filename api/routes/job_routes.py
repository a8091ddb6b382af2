"""Routes of ingestion jobs: uploads of several files, how far they are, and what to do with them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response, status
from pydantic import BaseModel, TypeAdapter, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import UploadFile

from api.dependencies import Asking, needs
from api.document_upload import FORM_FIELDS, document_of_form, form_schema, in_body, refused_field
from api.fields import Cursor, Limit
from api.problems import problems
from api.stream import HEADERS, PING_SECONDS, client_left, stream_responses
from graph.errors import CitewellError
from graph.evidence import Identity
from tools.library.ingestion import Ingested, IngestedArchive, Refused
from tools.library.job_store import FileState, Job, JobDetail, JobFile, JobPage
from tools.library.new_documents import NewDocument, readers_with
from tools.process.library import Library

router = APIRouter(prefix="/api/jobs", tags=["jobs"])
MOST_FILES = 1000
LONGEST_WAIT = 60.0
USUAL_WAIT = 10.0  # less than proxies wait for a reply
_WAIT = re.compile(r"wait=(\d{1,4})")
_JOB = TypeAdapter(Job)
KNOWN = problems(404, 422, 503)
ACCEPTED: dict[int | str, dict[str, Any]] = {202: {"model": Job, "description": "Taken in; the job does the rest."}}


class Preference(BaseModel):
    """How long a client waits for the end of its upload, and what of its ``Prefer`` header that is."""

    seconds: float
    applied: str | None = None


def preference(request: Request) -> Preference:
    """Read `Prefer: wait=N` or `Prefer: respond-async` (RFC 7240); others are ignored."""
    given = ",".join(request.headers.getlist("prefer")).replace(" ", "").lower()
    if (wait := _WAIT.search(given)) is not None:
        seconds = min(float(wait[1]), LONGEST_WAIT)
        return Preference(seconds=seconds, applied=f"wait={seconds:g}")
    if "respond-async" in given.split(","):
        return Preference(seconds=0, applied="respond-async")
    return Preference(seconds=USUAL_WAIT)


Prefer = Annotated[Preference, Depends(preference)]


async def store_or_accept(
    request: Request, response: Response, me: Identity, library: Library, document: NewDocument, prefer: Preference
) -> Ingested | IngestedArchive | Response:
    """Store a document, or the files of an archive, as a job; wait for its end, or accept it where it takes longer.

    A job whose end its client has seen, or whose client has left without having seen it, is not kept. Raises as
    ``Ingestor.ingest`` does.
    """
    job_id, archived = await library.uploads.submit(me, document)
    if prefer.applied is not None:
        response.headers["Preference-Applied"] = prefer.applied
    ending = asyncio.create_task(library.jobs.wait_for_end(job_id, prefer.seconds))
    leaving = asyncio.create_task(client_left(request.receive))
    try:
        await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            await library.jobs.forget(job_id)
            return Response(status_code=status.HTTP_204_NO_CONTENT)  # nobody reads it
        files = await ending
    finally:
        leaving.cancel()
        ending.cancel()
    if files is None:
        return _accepted(await library.jobs.get(me, job_id), prefer)
    await library.jobs.forget(job_id)
    if archived:
        return _unpacked(document.name, files)
    if files[0].ingested is None:
        raise files[0].error or CitewellError("The document could not be stored.")
    return files[0].ingested


def _unpacked(name: str, files: Sequence[JobFile]) -> IngestedArchive:
    errors = [(file.name, file.error) for file in files]
    return IngestedArchive(
        name,
        [file.ingested for file in files if file.ingested is not None],
        [Refused.of(name, error) for name, error in errors if error is not None],
    )


def _accepted(job: Job, prefer: Preference | None = None) -> Response:
    headers = {"Location": f"/api/jobs/{job.job_id}"}
    if prefer is not None and prefer.applied is not None:
        headers["Preference-Applied"] = prefer.applied
    return Response(_JOB.dump_json(job), status.HTTP_202_ACCEPTED, headers, "application/json")


async def _read_files(request: Request) -> list[NewDocument]:
    """Read a form with several files. Raises RequestValidationError."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise refused_field("file", "Send multipart/form-data.")
    async with request.form(max_files=MOST_FILES, max_fields=FORM_FIELDS) as form:
        files = [each for each in form.getlist("file") if isinstance(each, UploadFile)]
        fields = {name: value for name, value in form.items() if name != "file"}
        if not files:
            raise refused_field("file", "Field required")
        try:
            shared = document_of_form(fields)
        except ValidationError as error:
            raise in_body(error) from error
        return [replace(shared, name=each.filename or "", data=await each.read(), text=None) for each in files]


_FORM = form_schema()
UPLOAD_FILES: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    **_FORM,
                    "description": "Files, and the fields that all their documents get.",
                    "properties": {
                        **{name: value for name, value in _FORM["properties"].items() if name not in ("text", "name")},
                        "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
                    },
                    "required": ["file"],
                }
            }
        },
    }
}


@router.post(
    "",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=Job,
    openapi_extra=UPLOAD_FILES,
    responses=problems(404, 413, 422, 429, 503),
)
@needs("write")
async def submit_files(request: Request, by: Asking) -> Response:
    """Take several files in as one job; each becomes a new document."""
    documents = await _read_files(request)
    for document in documents:
        readers_with(by.me, document.readers, document.owner)
    job_id = await by.library.uploads.submit_all(by.me, documents)
    return _accepted(await by.library.jobs.get(by.me, job_id))


@router.get("", responses=problems(422, 503))
@needs("write")
async def list_jobs(by: Asking, limit: Limit = 50, cursor: Cursor = None) -> JobPage:
    """List your jobs, the newest first. They are kept for a week after their end."""
    return await by.library.jobs.list_jobs(by.me, limit=limit, cursor=cursor)


@router.get("/{job_id}", responses=KNOWN)
@needs("write")
async def get_job(
    job_id: UUID,
    by: Asking,
    after: Annotated[int, Query(ge=-1, le=2**31 - 1, description="The number of the last file that you have.")] = -1,
    limit: Annotated[int, Query(ge=0, le=1000)] = 100,
    state: Annotated[FileState | None, Query(description="Only files in this state.")] = None,
) -> JobDetail:
    """Read how far a job is, and its files with their states and problems."""
    job = await by.library.jobs.get(by.me, str(job_id))
    page = await by.library.jobs.files(by.me, str(job_id), after=after, limit=limit, state=state)
    return JobDetail(job, page.files, page.next_after)


@router.get(
    "/{job_id}/events",
    response_class=Response,
    responses={
        **stream_responses("`progress` whenever the job has changed, then `end`; the data is the job."),
        **KNOWN,
    },
)
@needs("write")
async def follow_job(job_id: UUID, by: Asking) -> EventSourceResponse:
    """Follow a job by Server-Sent Events up to its end, by file and by segment."""
    await by.library.jobs.get(by.me, str(job_id))
    return EventSourceResponse(_frames(by.library, by.me, str(job_id)), headers=HEADERS, ping=PING_SECONDS, sep="\n")


async def _frames(library: Library, me: Identity, job_id: str) -> AsyncIterator[ServerSentEvent]:
    try:
        async for job in library.jobs.follow(me, job_id):
            name = "end" if job.state in ("cancelled", "finished") else "progress"
            yield ServerSentEvent(_JOB.dump_json(job).decode(), event=name, sep="\n")
    except CitewellError as error:
        fault = {"code": error.code, "message": error.message, "suggestion": error.advice}
        yield ServerSentEvent(json.dumps(fault), event="error", sep="\n")


Action = Literal["cancel", "pause", "resume", "retry"]


class _ActionConvertor(StringConvertor):
    regex = "|".join(get_args(Action))  # so that no other path below a job takes a POST


register_url_convertor("job_action", _ActionConvertor())


@router.post("/{job_id}/{action:job_action}", responses=KNOWN)
@needs("write")
async def change_job(job_id: UUID, action: Action, by: Asking) -> Job:
    """Cancel a job, pause it, go on with it, or queue its refused and cancelled files again.

    A cancelled job keeps what it has stored; a paused one finishes the files it is reading.
    """
    change: Callable[[Identity, str], Awaitable[Job]] = getattr(by.library.jobs, action)
    job = await change(by.me, str(job_id))
    by.library.job_worker.start()
    return job
