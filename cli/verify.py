"""citewell verify: verify the claims of a text that somebody else wrote, with exact quotes."""

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.ask import Model, ModelCalls, Seconds, Tokens
from cli.command import Caller, Exit, acting, identity_of
from cli.console import print_json, progress_console, result_console
from cli.nearest_names import refuse_unknown_spaces, telling_nearest_workspace
from cli.options import SearchedPages, Spaces, as_id
from graph.errors import InvalidRequest
from graph.evidence import Identity
from graph.usage import Meter
from text.counted import counted

if TYPE_CHECKING:
    from answers.claim_evidence import Evidence
    from answers.verification import Verification
    from graph.ports import Family
    from tools.library.given_texts import GivenText
    from tools.process.library import Library
    from tools.settings import Settings

STDIN = "-"
File = Annotated[str, typer.Argument(metavar="[FILE|-]", help="The text to verify; - reads it from a pipe.")]
Sources = Annotated[
    list[Path] | None,
    typer.Option("--source", help="Check against this file; may be repeated. [1] in the text names the first."),
]
FromLibrary = Annotated[bool, typer.Option("--library", help="Check against the library; so it is without --source.")]
AskedQuestion = Annotated[str, typer.Option("--question", help="The question that the text answers.")]
ClaimsFile = Annotated[
    Path | None,
    typer.Option("--claims", help="Verify the claims of this file instead: one a line, as text or JSON; - is a pipe."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail on claims that are unverified, too.")]
NoJudge = Annotated[bool, typer.Option("--no-judge", help="Decide by code alone, without asking a model.")]


@acting
async def verify(
    by: Caller,
    file: File = STDIN,
    claims: ClaimsFile = None,
    source: Sources = None,
    library: FromLibrary = False,
    space: Spaces = None,
    page: SearchedPages = None,
    question: AskedQuestion = "",
    model: Model = "",
    no_judge: NoJudge = False,
    strict: Strict = False,
    max_model_calls: ModelCalls = 8,
    max_tokens: Tokens = None,
    max_seconds: Seconds = 120.0,
) -> Exit:
    """Verify each claim of a Markdown text, against files or the library.

    Shows a verdict for each claim, with the sentences that bear it out or contradict it. Exits with 1 if a claim is
    contradicted or unsupported or, with --strict, unverified.
    """
    from answers.verification import verify_answer, verify_claims
    from answers.verifier import Verifier

    if claims is not None and file != STDIN:
        raise InvalidRequest("--claims: FILE is a text of its own.", suggestion="Leave one of them out.")
    if source and (library or space or page):
        name = "--library" if library else "--space" if space else "--page"
        raise InvalidRequest(
            f"{name}: the text is checked against the files of --source.",
            suggestion="Leave one of them out, or ingest the files and verify against the library.",
        )
    settings = by.settings()
    texts = [_given_text(path) for path in source or ()]
    listed = None if claims is None else _claims(_decoded(_bytes(str(claims), "--claims"), "--claims", str(claims)))
    text = "" if claims is not None else _decoded(_bytes(file, "FILE"), "FILE", file)
    async with _opened(settings, model, not no_judge, bool(texts)) as (family, opened):
        if opened is not None:
            await refuse_unknown_spaces(opened.documents, identity_of(settings), space or ())
        meter = Meter(calls_left=max_model_calls, tokens_left=max_tokens, seconds_left=max_seconds)
        evidence = _evidence(texts, opened, identity_of(settings), space or [], page or [])
        verifier = Verifier(family.checker, None if no_judge else family.judge, meter)
        if listed is None:
            found = await verify_answer(text, evidence, verifier, question, strict=strict)
        else:
            found = await verify_claims(listed, evidence, verifier, question, strict=strict)
    if by.as_json:
        print_json(found)
    else:
        _show(found, source or [])
    return Exit.OK if found["passed"] else Exit.CLAIM_FAILED


@asynccontextmanager
async def _opened(
    settings: "Settings", model: str, judging: bool, files: bool
) -> "AsyncIterator[tuple[Family, Library | None]]":
    """Resolve the model; open the library where claims are searched for, or a judge's exam is to be looked up."""
    from tools.backends.backend_registry import configured_families

    family = configured_families(settings)(model)
    if files and not (judging and family.judge is not None):
        yield family, None
        return
    from tools.judges.examiner import without_background_exam
    from tools.process.library import open_library

    async with (
        open_library(without_background_exam(settings)) as library,
        telling_nearest_workspace(library.workspaces),
        library.spending.beside_runs(identity_of(settings), "verification"),
    ):
        yield library.families(model), library


def _evidence(
    texts: "list[GivenText]", library: "Library | None", identity: Identity, spaces: list[str], pages: list[str]
) -> "Evidence":
    from answers.claim_evidence import GivenEvidence, LibraryEvidence
    from tools.library.given_texts import given_segments

    if texts or library is None:
        return GivenEvidence(given_segments(texts))
    page_ids = [as_id(page, "document") for page in pages]
    return LibraryEvidence(library.searcher, library.reader, identity, spaces=spaces, document_ids=page_ids)


def _claims(text: str) -> list[str]:
    """Return the claims of a list, one a line: its text, or JSON that is a string or an object with a `claim`."""
    return [_claim(line.strip(), number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _claim(line: str, number: int) -> str:
    if not line.startswith(("{", '"')):
        return line
    try:
        row: object = json.loads(line)
    except ValueError as error:
        if line.startswith('"'):
            return line  # a claim that begins with a quotation
        raise InvalidRequest(f"--claims: line {number} is not JSON.", suggestion=_CLAIM) from error
    claim = row.get("claim") if isinstance(row, dict) else row
    if not isinstance(claim, str):
        raise InvalidRequest(f"--claims: line {number} has no text `claim`.", suggestion=_CLAIM)
    return claim


_CLAIM = 'Write a claim as text, or as {"claim": "..."}.'


def _bytes(file: str, name: str) -> bytes:
    if file == STDIN:
        return sys.stdin.buffer.read()
    return _read(Path(file), name)


def _read(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidRequest(
            f"{name}: {path} can't be read: {error.strerror}.", suggestion="Name a file that you may read."
        ) from error


def _decoded(data: bytes, name: str, file: str) -> str:
    from graph.errors import UnreadableDocument
    from tools.parsers.plain import decode

    try:
        return decode(data)
    except UnreadableDocument as error:
        raise InvalidRequest(f"{name}: {file}: {error.message}", suggestion="Send a text in UTF-8.") from error


def _given_text(path: Path) -> "GivenText":
    """Read a source. A text stays as it is in its file; of PDF and HTML it is the text that would be ingested."""
    from tools.library.given_texts import GivenText
    from tools.parsers import formats, parse

    data = _read(path, "--source")
    kind = formats().suffixes.get(path.suffix.lower(), "text/plain")
    if kind in ("text/markdown", "text/plain") and not data.startswith(b"%PDF-"):
        return GivenText(_decoded(data, "--source", str(path)), title=path.name)
    parsed = parse(data, name=path.name)
    return GivenText(parsed.text, title=parsed.title or path.name)


def _show(found: "Verification", files: list[Path]) -> None:
    from answers.marks import grade_of
    from cli.rendering.transcript import show_verdicts

    show_verdicts(result_console(), found, [str(path) for path in files])
    console = progress_console()
    counts = ", ".join(f"{count} {said}" for said, count in Counter(map(grade_of, found["claims"])).items())
    console.print(f"{counted(len(found['claims']), 'claim')}: {counts}." if counts else "No claims.")
    for note in (found["degraded"], found["fallback"] and found["fallback"]["message"]):
        if note:
            console.print(note, style="yellow")
