"""Claims and sections as writers may word them: marks that are none, emoji, CJK, Markdown and line ends among them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from hypothesis import strategies as st

from graph.evidence import Citation, Claim, Mark, Section, Source, Space, Verdict

WORDS = ["Employees", "get 25 days", "đoạn văn bản", "中文的句子。", "👨‍👩‍👧 🏖️", "café", "x"]
ODDITIES = ["**bold**", "`code`", "[1]", "[^2]", "[ref:3]", "[4](x)", "see [", "](", "(aside)", "<b>&amp;", "data: y"]
SPACES = ["\n", "\r\n", "\u2028", "\n\n", "\t", '"', "\\", "\\n", "{}", "%s", "- item"]
INDENTED = re.compile(r"\n\s*\n[ \t]*\t\s*")  # code, in which what looks like a mark stays as it is
FAILED: tuple[Verdict, ...] = ("contradicted", "unsupported")
LIKELY: tuple[Verdict, ...] = ("supported", "supported", "supported", "supported", "unverified", *FAILED)
MOST_PROOFS: dict[Verdict, int] = {"supported": 3, "unverified": 2, "contradicted": 2, "unsupported": 0}


@dataclass(frozen=True)
class Written:
    """A section with its claims, as a check would leave it."""

    text: str
    source_ids: list[str]
    claims: list[Claim]

    @property
    def section(self) -> Section:
        return Section(text=self.text, source_ids=self.source_ids)

    @property
    def failed(self) -> bool:
        return any(claim["verdict"] in FAILED for claim in self.claims)

    @property
    def hopeless(self) -> bool:
        """Whether nothing of it held, so that it is withdrawn."""
        return bool(self.claims) and all(claim["verdict"] in FAILED for claim in self.claims)


def source(index: int, page_idx: int | None = None) -> Source:
    """Make a source of a document of its own, which any dialect can name it by."""
    document_id = str(UUID(int=0x7A9E0F3C5A554B0E8000 + index))
    quote = f"What document {index} says 🏖 中文."
    return Source(
        index=index,
        segment_id=f"{document_id}:{index}",
        document_id=document_id,
        segment_index=index,
        page_idx=page_idx,
        title=f"Document {index}",
        heading="Leave",
        kind="search",
        source_type="document",
        slug=f"document-{index}",
        space=Space(id="s1", slug="people"),
        url=f"https://wiki.example/documents/{document_id}#segment-{index}" if index % 2 else None,
        score=0.9,
        excerpt=quote,
        start=0,
        end=len(quote),
        metadata={"team": "people"},
    )


def citation(of: Source, verdict: Verdict, section_index: int) -> Citation:
    """Cite the whole of a source."""
    return Citation(
        segment_id=of["segment_id"],
        document_id=of["document_id"],
        segment_index=of["segment_index"],
        page_idx=of["page_idx"],
        start=of["start"],
        end=of["end"],
        quote=of["excerpt"],
        origin="cited",
        verdict=verdict,
        source_index=of["index"],
        section_index=section_index,
    )


def sentences() -> st.SearchStrategy[str]:
    """Give the text of a claim: some of everything, and a word at least."""
    mixed = st.lists(st.sampled_from([*WORDS, *ODDITIES, *SPACES]), max_size=4).map(" ".join)
    return st.tuples(mixed, st.sampled_from(WORDS), st.sampled_from(["", " [", " [5]", "."])).map(
        lambda parts: INDENTED.sub(" ", " ".join(parts[:2])).strip() + parts[2]
    )


@st.composite
def written(draw: st.DrawFn, sources: Sequence[Source], section_index: int) -> Written:
    """Give a section with one to three claims, each with a verdict, and text around them that claims nothing."""
    text = draw(st.sampled_from(["", "Note: ", "(1) "]))
    claims: list[Claim] = []
    verdicts = draw(st.sampled_from([LIKELY, LIKELY, LIKELY, FAILED]))
    for _ in range(draw(st.integers(1, 3))):
        text += draw(st.sampled_from(["", " ", "\n"])) if claims else ""
        said = draw(sentences())
        verdict = draw(st.sampled_from(verdicts))
        least, most = int(verdict == "supported"), MOST_PROOFS[verdict]
        proofs = draw(st.lists(st.sampled_from(sources), min_size=least, max_size=most, unique_by=lambda s: s["index"]))
        cited = [citation(each, verdict, section_index) for each in proofs]
        repeated = verdict == "supported" and draw(st.booleans())
        if repeated and claims and "by" in claims[-1] and draw(st.booleans()):
            cited = [Citation(**each) for each in claims[-1]["citations"]]  # the next sentence of one passage
        mark = draw(st.sampled_from(["shown", "withheld"])) if verdict == "unverified" else None
        claims.append(claim(text, said, verdict, cited, repeated=repeated, mark=mark))
        text += said
    text += draw(st.sampled_from(["", "", " (as told)", "(see below)"]))
    ids = [each["segment_id"] for one in claims for each in one["citations"]]
    ids += draw(st.lists(st.sampled_from(sources), max_size=1).map(lambda more: [each["segment_id"] for each in more]))
    return Written(text, list(dict.fromkeys(ids)), claims)


def claim(
    before: str,
    said: str,
    verdict: Verdict,
    citations: list[Citation],
    *,
    repeated: bool = False,
    mark: Mark | None = None,
) -> Claim:
    """Make a claim that stands behind a text; ``repeated``: word for word from its source."""
    start = len(before)
    made = Claim(start=start, end=start + len(said), text=said, verdict=verdict, reasons=[], citations=citations)
    if repeated:
        made["by"] = "text"
    if mark is not None:
        made["mark"] = mark
    return made


def uncited(section: Written) -> Written:
    """Give a section as a writer gives it that names no source: matching alone finds what proves it."""
    ids = [each["segment_id"] for one in section.claims for each in one["citations"]]
    return replace(section, source_ids=list(dict.fromkeys(ids)))
