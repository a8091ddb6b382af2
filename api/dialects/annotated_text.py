"""An answer's text with numbered marks, and the annotations that link each marked claim to its source."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from answers.citations import landing_url
from answers.marks import marked_citations
from api.dialects.citation_marks import MarkedSection, bracket
from api.dialects.quotes import QuoteInContext, quote_of, says_more
from api.dialects.section_buffer import FinalSection
from graph.evidence import Citation, Claim, Source, Span
from tools.auth.document_links import LinkSigner

Numbering = Callable[[Citation, str], int]
# Characters that would end or split a Markdown link, or the cell of a table around it.
_ESCAPED = str.maketrans({character: f"%{ord(character):02X}" for character in ' ()<>[]\\"`|\n\r\t'})


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of a claim: where it leads, and the claim's span in the marked text, in code points, end exclusive.

    ``hangs_on`` is the quote with what it hangs on and its highlight, None where it has neither.
    """

    citation: Citation
    url: str
    title: str
    start: int
    end: int
    hangs_on: QuoteInContext | None


Annotation = dict[str, Any]


class SourceAddresses:
    """The URLs of a run's sources: their own http address, or their page of this service, by a link that is signed.

    Without a ``base_url`` nothing is served, and a page is the resource that `citewell mcp` has of it.
    """

    def __init__(self, base_url: str, signer: LinkSigner | None = None) -> None:
        self._base_url = base_url.rstrip("/")
        self._signer = signer
        self._signed: dict[tuple[str, int], str] = {}
        self._sources: dict[int, Source] = {}

    def of_another_run(self) -> "SourceAddresses":
        """Return empty addresses of the same service, for the same reader."""
        return SourceAddresses(self._base_url, self._signer)

    def learn(self, sources: Iterable[Source]) -> list[Source]:
        """Store the sources of a run, and return the new ones, by index."""
        ordered = sorted(sources, key=lambda source: source["index"])
        new = [source for source in ordered if self._known(source) != source["segment_id"]]
        self._sources.update({source["index"]: source for source in ordered})
        return new

    def changes(self, sources: Iterable[Source]) -> bool:
        """Return whether an index now belongs to another source, as after an interrupted grading is repeated."""
        return any(self._known(source) not in (None, source["segment_id"]) for source in sources)

    def _known(self, source: Source) -> str | None:
        known = self._sources.get(source["index"])
        return known["segment_id"] if known else None

    def url(self, source: Source, citation: Citation | None = None) -> str:
        """Return the absolute http URL of a source; a link to its page marks the first quote that it is asked for."""
        return self.of(source["url"], source["document_id"], source["segment_index"], citation)

    def of(self, own: str | None, document_id: str, segment_index: int, citation: Citation | None = None) -> str:
        """Return the absolute URL of a segment, whose document's ``own`` one counts where it is http."""
        return own if own and is_http(own) else self._page(document_id, segment_index, citation)

    def cited(self, citation: Citation) -> tuple[str, str]:
        """Return the URL of a quote's place in its source and the source's title, or the URL again if it has none."""
        source = self._sources.get(citation["source_index"])
        if source is None:
            url = self._page(citation["document_id"], citation["segment_index"], citation)
            return url, url
        url = landing_url(self.url(source, citation), citation.get("anchor", ""))
        return url, source["title"] or url

    def _page(self, document_id: str, segment_index: int, citation: Citation | None = None) -> str:
        if not self._base_url:
            return f"citewell://documents/{document_id}/segments/{segment_index}"
        if self._signer is None:
            return f"{self._base_url}/documents/{document_id}#segment-{segment_index}"
        place = (document_id, segment_index)
        if place not in self._signed:  # one URL for each segment: clients number sources by it
            start, quote = (0, "") if citation is None else (citation["start"], citation["quote"])
            self._signed[place] = self._base_url + self._signer.path(*place, start=start, quote=quote)
        return self._signed[place]


def is_http(url: str) -> bool:
    """Whether a URL is an http address."""
    return url.lower().startswith(("http://", "https://"))


def by_index(citation: Citation, url: str) -> int:
    """Return a source's index in the run as its number, for clients that get all sources."""
    return citation["source_index"]


def by_appearance() -> Numbering:
    """Return a numbering of URLs from 1, in the order in which the text cites them.

    For a client that has only the annotations, ``[n]`` is the n-th of them.
    """
    numbers: dict[str, int] = {}

    def number(citation: Citation, url: str) -> int:
        return numbers.setdefault(url, len(numbers) + 1)

    return number


def chat_annotation(cited: Cited) -> Annotation:
    """Return an annotation of Chat Completions; ``citewell`` has the quote where it says more than its words."""
    span = {"start_index": cited.start, "end_index": cited.end}
    annotation = {"type": "url_citation", "url_citation": {"url": cited.url, "title": cited.title, **span}}
    return annotation if cited.hangs_on is None else {**annotation, "citewell": cited.hangs_on}


class AnnotatedText:
    """The text of an answer, written part by part, with the annotations of its marked claims.

    Indices of ``annotations`` count the code points of the whole text with its marks, end exclusive; a span is the
    claim without the marks after it. One whose mark leaves later is annotated then. ``first`` are those that cite their
    source first, so that the n-th of them is of the mark ``[n]``; ``further`` are the others, sent behind all of them.
    ``annotate`` gives an annotation its form.
    """

    def __init__(
        self,
        addresses: SourceAddresses,
        number: Numbering,
        *,
        links: bool,
        annotate: Callable[[Cited], Annotation] = chat_annotation,
    ) -> None:
        self.first: list[Annotation] = []
        self.further: list[Annotation] = []
        self._annotated: set[int] = set()  # by number
        self._addresses = addresses
        self._number = number
        self._form = annotate
        self._links = links
        self._cited: dict[tuple[int, str], tuple[str, str]] = {}  # by number and anchor
        self._linked: dict[int, str] = {}  # by number: the place of the first quote
        self._spans: dict[tuple[int, int], Span] = {}  # of claims without annotations, by section and end
        self._length = 0

    @property
    def annotations(self) -> list[Annotation]:
        """All annotations, each source's first one before those that cite one again, as clients list sources."""
        return [*self.first, *self.further]

    def write(self, section: FinalSection) -> list[str]:
        """Append a part of a section, and return it in pieces that split no mark."""
        claims = [self._numbered(claim) for claim in sorted(section.claims, key=lambda claim: claim["end"])]
        marked = MarkedSection(replace(section, claims=claims), self._mark)
        self._annotate(section, claims, marked)
        self._length += sum(map(len, marked.pieces))
        return marked.pieces

    def _numbered(self, claim: Claim) -> Claim:
        """Return a claim with the citations of its marks, by number; the first citation of each number is kept."""
        kept: dict[int, Citation] = {}
        for citation in sorted(marked_citations(claim), key=lambda citation: citation["source_index"]):
            url, title = self._addresses.cited(citation)
            number = self._number(citation, url)
            self._cited[number, citation.get("anchor", "")] = url, title
            self._linked.setdefault(number, url)
            kept.setdefault(number, Citation(**{**citation, "source_index": number}))
        return Claim(**{**claim, "citations": [kept[number] for number in sorted(kept)]})

    def _annotate(self, section: FinalSection, claims: Sequence[Claim], marked: MarkedSection) -> None:
        for claim in claims:
            key = section.position, claim["end"]
            if claim["end"] > section.start:
                start, end = marked.start_of(claim["start"]), marked.end_of(claim["end"])
                self._spans[key] = Span(start=self._length + start, end=self._length + end)
            if not claim["citations"] or (span := self._spans.pop(key, None)) is None:
                continue
            for citation in claim["citations"]:
                url, title = self._cited[citation["source_index"], citation.get("anchor", "")]
                hangs_on = quote_of(citation) if says_more(citation) else None
                cited = Cited(citation, url, title, span["start"], span["end"], hangs_on)
                number = citation["source_index"]
                (self.further if number in self._annotated else self.first).append(self._form(cited))
                self._annotated.add(number)

    def _mark(self, number: int) -> str:
        return f"[[{number}]]({self._linked[number].translate(_ESCAPED)})" if self._links else bracket(number)
