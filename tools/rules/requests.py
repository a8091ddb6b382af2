"""Requests for what no quote can do: to sum up, compare, count over all, translate, write or give an opinion.

The words are in ``requests.toml``, which says how many requests of other authors they find in each language.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple, Self

from graph.evidence import Failure
from graph.reasons import Reason, why
from prompts import UNSPACED
from text.language import language
from tools.rules.small_talk_rules import fold_line

_REASON = Reason("beyond_quotes")
BEYOND_QUOTES = Failure(code="quotes_only", message=str(_REASON), why=why(_REASON))
Kind = Literal["work", "open"]  # open: a passage may say it as it stands, such as a total or a difference


class Request(NamedTuple):
    """What is asked for beyond a quote, and the language in which it is (ISO 639-1)."""

    kind: Kind
    language: str


_ASKED_FIRST = ("en", "de", "fr", "es")  # languages whose questions begin with the word that asks


@dataclass(frozen=True, slots=True)
class _Wording:
    begins: re.Pattern[str]
    anywhere: re.Pattern[str]
    asks: re.Pattern[str]
    open: re.Pattern[str]
    asked_first: bool

    @classmethod
    def of(cls, table: dict[str, str], code: str) -> Self:
        edge, gap = ("", "") if code in UNSPACED else (r"\b", " ")
        anywhere, asks, is_open = (re.compile(f"{edge}(?:{table[name]}){edge}") for name in ("work", "asks", "open"))
        begins = re.compile(f"(?:(?:{table['polite']}){gap}){{0,3}}(?:{table['first']}){edge}")
        return cls(begins, anywhere, asks, is_open, code in _ASKED_FIRST)

    def kind_of(self, line: str) -> Kind | None:
        """Return what a folded line asks for."""
        first, work, asks = self.begins.match(line), self.anywhere.search(line), self.asks.search(line)
        if asks and not self.asked_first:
            first = work = None
        elif asks and work and asks.start() < work.start():
            work = None
        if first or work:
            return "work"
        return "open" if self.open.search(line) else None


@cache
def request_wordings() -> dict[str, _Wording]:
    """Load the words of requests by language."""
    tables = tomllib.loads(files(__package__).joinpath("requests.toml").read_text(encoding="utf-8"))
    return {code: _Wording.of(table, code) for code, table in tables.items()}


@lru_cache(maxsize=256)
def request_of(question: str) -> Request | None:
    """Return what a question asks for beyond a quote, None where it asks for nothing more.

    An order of few words may not be told as its language: then it is read in each that is written with spaces.
    """
    detected = language(question, default="")
    line = fold_line(question)
    for code, wording in request_wordings().items():
        may_be = code == detected if detected else code not in UNSPACED
        if may_be and (kind := wording.kind_of(line)):
            return Request(kind, code)
    return None
