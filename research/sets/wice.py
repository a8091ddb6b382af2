"""WiCE (Kamoi et al. 2023): claims from Wikipedia, each with the web page it cites, split into lines by annotators."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evals.cases import Case, DataSet, Document, Sentence, Span
from evals.sets.set_files import file_at
from graph.errors import InvalidRequest
from graph.evidence import Segment
from text.sentences import trimmed

WiCELabel = Literal["supported", "partially_supported", "not_supported"]
_TITLE = "(meta data) TITLE:"
_BETWEEN = "\n\n"  # each line is a paragraph
SEGMENT_LENGTH = 1200  # code points; about the 300 tokens of a stored segment


@dataclass(frozen=True, slots=True)
class WiCEClaim:
    """A claim, the lines of its page, and the annotated sets of supporting lines (0-based)."""

    article: str
    text: str
    label: WiCELabel
    lines: tuple[str, ...]
    evidence_sets: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class WiCEPage:
    """A page as segments; per segment, ``starts`` holds the offsets of its lines, ``first`` its first line number."""

    segments: tuple[Segment, ...]
    starts: tuple[tuple[int, ...], ...]
    first: tuple[int, ...]

    def lines(self, segment: int, start: int, end: int) -> set[int]:
        """Return the numbers of the lines that a span of a segment's text overlaps."""
        starts = self.starts[segment]
        ends = (*starts[1:], len(self.segments[segment].text))
        return {
            self.first[segment] + n
            for n, (begin, stop) in enumerate(zip(starts, ends, strict=True))
            if begin < end and start < stop
        }


def load_wice(path: Path) -> tuple[WiCEClaim, ...]:
    """Read the claims of a file. Raises InvalidRequest if it is not a valid file."""
    claims: list[WiCEClaim] = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["label"] not in get_args(WiCELabel):
                raise ValueError(f"unknown label {row['label']!r}")
            sets = tuple(frozenset(map(int, each)) for each in row["supporting_sentences"] if each)
            article = str(row.get("meta", {}).get("claim_title", len(claims)))
            claims.append(WiCEClaim(article, str(row["claim"]), row["label"], tuple(map(str, row["evidence"])), sets))
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidRequest(f"{path} is not a WiCE file: {error!r}.") from error
    if not claims:
        raise InvalidRequest(f"{path} is not a WiCE file: it holds no claim.")
    return tuple(claims)


def claims_digest(claims: Sequence[WiCEClaim]) -> str:
    """Return a digest of the claims' texts in any order, so that a report can show whether a fit used them."""
    texts = "\n".join(sorted(claim.text for claim in claims))
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def page_of(claim: WiCEClaim) -> WiCEPage:
    """Return a claim's page as segments of whole lines, a blank line after each, as paragraphs are stored."""
    segments: list[Segment] = []
    starts: list[tuple[int, ...]] = []
    first: list[int] = []
    at = number = 0
    while number < len(claim.lines):
        begins: list[int] = []
        text = ""
        first.append(number)
        while number < len(claim.lines) and (not text or len(text) + len(claim.lines[number]) <= SEGMENT_LENGTH):
            begins.append(len(text))
            text += f"{claim.lines[number]}\n\n"
            number += 1
        segments.append(Segment("wice", len(segments), at, at + len(text), text))
        starts.append(tuple(begins))
        at += len(text)
    return WiCEPage(tuple(segments), tuple(starts), tuple(first))


def wice_set(path: Path) -> DataSet:
    """Read the set with each claim asked of the page it cites, selected as the only page.

    ``path`` is the file, or the folder of ``claims.jsonl``. A page's lines are its sentences, including the metadata
    line with its title, since annotators chose it too. A partially supported claim should be answered. Claims have no
    ``answers``, and unsupported ones have no evidence. Raises InvalidRequest as ``load_wice`` does, and if evidence
    names a line that its page lacks.
    """
    file = file_at(path, "claims.jsonl")
    documents: list[Document] = []
    cases: list[Case] = []
    for number, claim in enumerate(load_wice(file), 1):
        document = _document(f"{number:04d}", claim)
        if max((line for chosen in claim.evidence_sets for line in chosen), default=0) >= len(claim.lines):
            raise InvalidRequest(f"{file}, line {number}: supporting_sentences: there is no such line of evidence.")
        known = claim.label != "not_supported"
        documents.append(document)
        cases.append(
            Case(
                case_id=document.name,
                question=claim.text,
                expected="answered" if known else "abstained",
                evidence=tuple(
                    frozenset(Sentence(document.name, line) for line in chosen)
                    for chosen in (claim.evidence_sets if known else ())
                ),
                pages=(document.name,),
                only_selected_pages=True,
                tags={"language": "en", "kind": claim.label},
            )
        )
    return DataSet("wice", tuple(documents), tuple(cases))


def _document(name: str, claim: WiCEClaim) -> Document:
    given: list[Span] = []
    at = 0
    for line in claim.lines:
        start, end = trimmed(line, 0, len(line))
        given.append((at + start, at + end))
        at += len(line) + len(_BETWEEN)
    titles = [line.removeprefix(_TITLE).strip() for line in claim.lines if line.startswith(_TITLE)]
    return Document(name, titles[0] if titles else claim.article, _BETWEEN.join(claim.lines), given=tuple(given))
