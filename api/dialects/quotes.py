"""Quotes together with what they hang on, for clients that know sources and their excerpts but no citations.

A row of a table says little without its header, and a definition without its term. Where a quote hangs on nothing, the
excerpt of its source is enough.
"""

from collections.abc import Iterable

from typing_extensions import TypedDict

from answers.citations import excerpt
from graph.evidence import Citation, CitationContext

_ENDS = (":", "：", ".", "。", "?", "!", "？", "！")
BETWEEN_QUOTES = " ... "


class QuoteInContext(TypedDict):
    """A quote and the slices of the same text that it hangs on, the outermost first, each word for word."""

    quote: str
    context: list[CitationContext]


def quotes_in_context(citations: Iterable[Citation]) -> dict[int, list[QuoteInContext]]:
    """Return the quotes of each source of which one hangs on something, by the source's index, without repeats."""
    quotes: dict[int, list[QuoteInContext]] = {}
    for citation in citations:
        quote = QuoteInContext(quote=citation["quote"], context=citation.get("context", []))
        known = quotes.setdefault(citation["source_index"], [])
        if quote not in known:
            known.append(quote)
    return {index: each for index, each in quotes.items() if any(quote["context"] for quote in each)}


def in_context(quote: QuoteInContext) -> str:
    """Return a quote on one line, behind what it hangs on: a header before its row, a term before its definition."""
    hung_on = (_on_one_line(each["text"]) for each in quote["context"])
    parts = [each if each.endswith(_ENDS) else f"{each}:" for each in dict.fromkeys(hung_on) if each]
    return " ".join([*parts, _on_one_line(quote["quote"])])


def excerpt_of_quotes(quotes: Iterable[QuoteInContext]) -> str:
    """Return the excerpt of a source that shows what is quoted of it, as readers of excerpts alone need it."""
    return excerpt(BETWEEN_QUOTES.join(dict.fromkeys(map(in_context, quotes))))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
