"""Results of tools as text, for models that read no structured content.

Text of documents is quoted line by line, so that nothing in it can pass for a heading, an id or a verdict of ours.
"""

from collections import Counter
from collections.abc import Iterator

from answers.answerhood import SAID, said_of
from answers.citations import said_copies, said_date
from answers.highlighting import in_quote
from answers.marks import Grade, grade_of, marked_citations
from answers.verification import Verification
from api.dialects.citation_marks import bracket, marked_pieces
from api.dialects.quotes import one_line
from api.dialects.section_buffer import final_sections
from api.mcp.tool_schemas import Answer, ReadText
from graph.evidence import Citation, Message, ShownPassage, Source


def quoted(text: str) -> str:
    """Return a text as a Markdown quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())


def read_text(read: ReadText) -> str:
    """Return what was read, behind a line that says what of the document it is."""
    of = f", part {read.part} of {read.parts}" if read.part else ""
    about = f"(document_id {read.document_id}{of}, characters {read.start} to {read.end})"
    head = f"{one_line(read.title)} {about} {read.url}"
    context = [f"{each['role']}: {one_line(each['text'])}" for each in read.context]
    return "\n".join([head, *context, quoted(read.text)])


def answer_text(answer: Answer) -> str:
    """Return whether it answers, the marked answer, and each quote that a mark stands for, with verdict and place."""
    sources = {source["index"]: source for source in answer.sources}
    said = said_of(answer.message)
    parts = [*([f"{said}:"] if said else []), *_sections(answer.message)]
    links = {(each["segment_id"], each["start"]): each["url"] for each in answer.citations}
    lines = dict.fromkeys(
        f"{_citation_line(each, sources.get(each['source_index']), grade_of(claim))} "
        + links.get((each["segment_id"], each["start"]), "")
        for claim in answer.message.get("claims", [])
        for each in marked_citations(claim)
    )
    if lines:
        parts.append("\n".join(["Citations:", *lines]))
    for each in answer.nearest:
        if "passage" in each:
            place = _place(each["title"], " > ".join(each["passage"]["heading_path"]))
            head = f"{SAID['nearest']}: {place} (segment_id {each['segment_id']}) {each['url']}"
            parts.append(f"{head}\n{_passage(each['passage'])}")
    if answer.notices:
        parts.append("\n".join(["Notices:", *(f"- {one_line(each)}" for each in answer.notices)]))
    parts.append(f"({answer.outcome}, {answer.stop_reason}; session_id {answer.session_id})")
    return "\n\n".join(parts)


def _sections(message: Message) -> Iterator[str]:
    """Yield the marked sections; a passage, which is a document's own words, is quoted line by line."""
    for section, final in zip(message["sections"], final_sections(message), strict=True):
        text = "".join(marked_pieces(final, bracket)).strip()
        yield quoted(text) if "passage" in section else text


def _passage(passage: ShownPassage) -> str:
    return quoted("\n".join([*(each["text"] for each in passage["context"]), passage["quote"]]))


def _citation_line(citation: Citation, source: Source | None, grade: Grade) -> str:
    """Return a quote with its place; of a passage, which the answer shows whole, its highlight alone."""
    place = f"document_id {citation['document_id']}, characters {citation['start']} to {citation['end']}"
    if source is not None:
        heading = " > ".join(citation["heading_path"]) if "heading_path" in citation else source["heading"]
        place = f"{_place(source['title'], heading)}, {place}"
    if date := said_date(citation):
        place += f", {date}"
    if copies := said_copies(citation):
        place += f"; {one_line(copies)}"
    context = "".join(f" ({each['role']}: {one_line(each['text'])})" for each in citation.get("context", []))
    start, end = in_quote(citation) or (0, len(citation["quote"]))
    return f"[{citation['source_index']}] {grade}: “{one_line(citation['quote'][start:end])}”{context} {place}"


def verification_text(verified: Verification) -> str:
    """Return each claim with its verdict, the reasons, and the quotes that decide it."""
    said = [grade_of(claim) for claim in verified["claims"]]
    counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(said).items()) or "no claims"
    lines = [f"{'passed' if verified['passed'] else 'not passed'}: {counts}"]
    for claim, verdict in zip(verified["claims"], said, strict=True):
        reasons = f" ({'; '.join(map(one_line, claim['reasons']))})" if claim["reasons"] else ""
        lines.append(f"- {verdict}: {one_line(claim['text'])}{reasons}")
        lines += [f"  - “{one_line(each['quote'])}” {one_line(each['title'] or '')}" for each in claim["citations"]]
    fallback = verified["fallback"]
    lines += filter(None, [fallback and fallback["message"], verified["degraded"]])
    return "\n".join(lines)


def _place(title: str, heading: str) -> str:
    """Return a document's title and the heading within it; the first heading is often the title itself."""
    under = heading == title or heading.startswith(f"{title} > ")
    return one_line(heading if under else " > ".join(filter(None, [title, heading])))
