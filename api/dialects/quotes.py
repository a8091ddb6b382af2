"""Quotes together with what they hang on, for clients that know sources and their excerpts but no citations.

A row of a table says little without its header, and a definition without its term; of a passage the best entry is
highlighted. Where a quote is a sentence that hangs on nothing, the excerpt of its source is enough.
"""

from collections.abc import Iterable, Sequence
from typing import NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from answers.citations import BETWEEN_QUOTES, excerpt_around
from answers.marks import marked_citations
from graph.evidence import Citation, CitationContext, Copy, DatedBy, Message, Source, Span

_ENDS = (":", "：", ".", "。", "?", "!", "？", "！")


@with_config(ConfigDict(alias_generator=None))  # its fields are ours, and spelled alike in all dialects
class QuoteInContext(TypedDict):
    """A quote and the slices of the same text that it hangs on, the outermost first, each word for word.

    Of a passage ``highlight`` is the entry that answers best, within ``start`` and ``end``, the offsets of the quote,
    and ``heading_path`` has the headings above that entry. ``copies`` are other documents with a copy of the quote, and
    ``date`` is then that of its own, "" where their dates tell nothing.
    """

    quote: str
    context: list[CitationContext]
    start: NotRequired[int]
    end: NotRequired[int]
    highlight: NotRequired[Span]
    heading_path: NotRequired[list[str]]
    date: NotRequired[str]
    dated_by: NotRequired[DatedBy]
    copies: NotRequired[list[Copy]]


def quote_of(citation: Citation) -> QuoteInContext:
    """Return the quote of a citation with what it hangs on, and of a passage its highlight."""
    quote = QuoteInContext(quote=citation["quote"], context=citation.get("context", []))
    if "highlight" in citation:
        span = citation["highlight"]  # made anew, since what is read from the database has its keys in another order
        highlight = Span(start=span["start"], end=span["end"])
        quote |= {"start": citation["start"], "end": citation["end"], "highlight": highlight}
    if "heading_path" in citation:
        quote["heading_path"] = citation["heading_path"]
    if "copies" in citation:
        quote |= {"date": citation["date"], "dated_by": citation["dated_by"], "copies": citation["copies"]}
    return quote


def says_more(citation: Citation) -> bool:
    """Whether there is more to a quote than its words: what it hangs on, or a highlight."""
    return bool(citation.get("context")) or "highlight" in citation


def quotes_in_context(citations: Iterable[Citation]) -> dict[int, list[QuoteInContext]]:
    """Return the quotes of the sources that say more than an excerpt shows, by the source's index, each once.

    One of them says more than its words, or they are of several segments, as of a selected page.
    """
    quotes: dict[int, list[QuoteInContext]] = {}
    first: dict[int, str] = {}
    telling: set[int] = set()
    for citation in citations:
        quote = quote_of(citation)
        known = quotes.setdefault(citation["source_index"], [])
        if quote not in known:
            known.append(quote)
        if (
            says_more(citation)
            or first.setdefault(citation["source_index"], citation["segment_id"]) != citation["segment_id"]
        ):
            telling.add(citation["source_index"])
    return {index: each for index, each in quotes.items() if index in telling}


def marked_quotes(message: Message) -> dict[int, list[QuoteInContext]]:
    """Return the quotes that the marks of a finished answer stand for, as ``quotes_in_context`` does."""
    return quotes_in_context(each for claim in message.get("claims", []) for each in marked_citations(claim))


def in_context(quote: QuoteInContext) -> str:
    """Return a quote on one line, behind what it hangs on: a header before its row, a term before its definition."""
    hung_on = (one_line(each["text"]) for each in quote["context"])
    parts = [each if each.endswith(_ENDS) else f"{each}:" for each in dict.fromkeys(hung_on) if each]
    return " ".join([*parts, one_line(quote["quote"])])


def excerpt_of_quotes(quotes: Sequence[QuoteInContext]) -> str:
    """Return the excerpt of a source that shows what is quoted of it, as readers of excerpts alone need it."""
    text = BETWEEN_QUOTES.join(dict.fromkeys(map(in_context, quotes)))
    shown = next((quote for quote in quotes if "highlight" in quote), quotes[0])
    bears = shown["quote"]
    if "highlight" in shown:
        bears = bears[slice(*(shown["highlight"][edge] - shown["start"] for edge in ("start", "end")))]
    bears = one_line(bears)
    at = text.find(bears)
    return excerpt_around(text, at, at + len(bears))


def shown_excerpt(source: Source, quotes: Sequence[QuoteInContext]) -> str:
    """Return what an excerpt of a source of a finished answer shows: its quotes with what they hang on.

    Where they hang on nothing, its own excerpt shows them, with the text around them.
    """
    return excerpt_of_quotes(quotes) if any(quote["context"] for quote in quotes) else source["excerpt"]


def with_final_excerpts(sources: Iterable[Source], message: Message) -> list[Source]:
    """Return the sources of a run with the excerpts that they have at its end, which show what is quoted of them."""
    final = {source["index"]: source["excerpt"] for source in message["sources"]}
    return [Source(**{**each, "excerpt": final.get(each["index"], each["excerpt"])}) for each in sources]


def one_line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())
