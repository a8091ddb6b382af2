"""Why something is so: an English sentence for people that knows its code and its parts, for programs.

A reason is a string, so it is written, stored and compared like any text. Clients that speak another language say it
anew from its code and parts (``Why``). docs/reasons.md is made from ``REASONS``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Self

from typing_extensions import TypedDict

Part = str | int | float
PartKind = Literal["text", "name", "count", "share", "number", "numbers"]
IN_WORDS = "in_words"


class Why(TypedDict):
    """A reason as clients get it: a stable code, its parts in the order of docs/reasons.md, and an English sentence."""

    code: str
    parts: list[Part]
    text: str


@dataclass(frozen=True, slots=True)
class Kind:
    """What a reason says: an English sentence with its parts in braces, and what each part is.

    ``write`` makes the sentence where a pattern can't, as where there may be any number of parts.
    """

    said_of: Literal["claim", "sources", "decision", "query", "dropped", "search", "fallback", "answer"]
    text: str
    parts: tuple[tuple[str, PartKind], ...] = ()
    write: Callable[..., str] | None = None

    def sentence(self, parts: tuple[Part, ...]) -> str:
        """Return the English sentence of a reason of this kind."""
        if self.write is not None:
            return self.write(*parts)
        return self.text.format(**{name: part for (name, _), part in zip(self.parts, parts, strict=True)})


class Reason(str):
    """A reason: its English sentence, with its code and the parts that the sentence is made of."""

    __slots__ = ("code", "parts")
    code: str
    parts: tuple[Part, ...]

    def __new__(cls, code: str, *parts: Part) -> Self:
        """Make the sentence of a code of ``REASONS``. Raises KeyError or ValueError where there is none."""
        reason = super().__new__(cls, REASONS[code].sentence(parts))
        reason.code, reason.parts = code, parts
        return reason

    def __reduce__(self) -> tuple[type[Self], tuple[Part, ...]]:
        return type(self), (self.code, *self.parts)


class Reasons(str):
    """Several reasons as one text."""

    __slots__ = ("each",)
    each: tuple[str, ...]

    def __new__(cls, each: Iterable[str]) -> Self:
        """Join reasons, or other sentences."""
        known = tuple(part for reason in each for part in (reason.each if isinstance(reason, Reasons) else (reason,)))
        reasons = super().__new__(cls, " ".join(known))
        reasons.each = known
        return reasons

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[str, ...]]]:
        return type(self), (self.each,)


def why(reason: str | None) -> list[Why]:
    """Return each reason of a text with its code; what a model or a plugin says in its own words has ``in_words``."""
    if not reason:
        return []
    if isinstance(reason, Reasons):
        return [found for each in reason.each for found in why(each)]
    if isinstance(reason, Reason):
        return [Why(code=reason.code, parts=list(reason.parts), text=str(reason))]
    return [Why(code=IN_WORDS, parts=[], text=str(reason))]


def why_each(reasons: Iterable[str]) -> list[Why]:
    """Return each of several reasons with its code, each once and none that is empty."""
    return [found for reason in dict.fromkeys(reasons) for found in why(reason)]


def texts(reasons: Iterable[Why]) -> list[str]:
    """Return the English sentences of reasons."""
    return [each["text"] for each in reasons]


def _differs(source: Part, answer: Part) -> str:
    """Write what a claim has instead of what a source sentence has, either of them empty where it has nothing."""
    if not source:
        return f'it is a source sentence, but adds "{answer}"'
    said = f'has "{answer}" for "{source}"' if answer else f'leaves out "{source}"'
    return f"it is a source sentence, but {said}"


def _repair(*sections: Part) -> str:
    named = ", ".join(map(str, sections))
    return f"looking again for what section{'s' * (len(sections) > 1)} {named} claim{'s' * (len(sections) == 1)}"


def _assessed(supported: Part, contradicted: Part, unsupported: Part, unverified: Part, covered: Part) -> str:
    counts = {
        "supported": supported, "contradicted": contradicted, "unsupported": unsupported, "unverified": unverified,
    }  # fmt: skip
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return f"{counted}; {covered:.0%} of the question's words are taken up"


REASONS: dict[str, Kind] = {
    IN_WORDS: Kind("claim", "what a model or a plugin says in its own words"),
    # Why code leaves a claim open.
    "differs": Kind(
        "claim", "it is a source sentence, but {changes}", (("source", "text"), ("answer", "text")), write=_differs
    ),
    "number_not_found": Kind("claim", "{number} stands nowhere in what it cites", (("number", "text"),)),
    "elsewhere": Kind("claim", "another source than those that it cites is nearer to it"),
    "not_said": Kind("claim", "no sentence of the cited sources says this"),
    "uncited": Kind("claim", "the section cites no source"),
    "other_language": Kind("claim", "it is in another language than its sources"),
    "lead_open": Kind("claim", 'whether "{said}" answers the question is open', (("said", "text"),)),
    "closest_sentence": Kind(
        "claim", "the closest source sentences have {share:.0%} of its words", (("share", "share"),)
    ),
    "both_quoted": Kind("claim", "both sources are quoted word for word"),
    "source_changed": Kind("claim", "its source has changed since it was checked"),
    "states_nothing": Kind("claim", "it states nothing that can be checked"),
    "nothing_found": Kind("claim", "nothing was found that says anything of this"),
    "not_searched": Kind("claim", "it was not searched for: the searches or the seconds of a verification are used up"),
    # Why a judge gave no verdict, or another one.
    "nothing_cited": Kind("claim", "It cites nothing that it could be judged by."),
    "too_long": Kind("claim", "It is too long for the judge."),
    "left_out": Kind("claim", "The judge's reply leaves it out."),
    "judged_twice": Kind("claim", "The judge's reply has more than one verdict on it."),
    "verdict_unreadable": Kind("claim", "The judge's reply has no verdict on it that can be read."),
    "scores_unreadable": Kind("claim", "The judge's reply has no scores for it that can be read."),
    "no_probability": Kind("claim", "The judge reported no probability of support, which its exam asks for."),
    "below_threshold": Kind(
        "claim",
        "Its probability of support, {probability:.2f}, is below the {least:.2f} that its exam asks for.",
        (("probability", "share"), ("least", "share")),
    ),
    "no_judge": Kind(
        "claim", "No judge has passed its exam in {language}: {why}", (("language", "name"), ("why", "text"))
    ),
    "judged_elsewhere": Kind(
        "claim",
        "examined in {languages}, not in {language}",
        (("language", "name"), ("languages", "text")),
    ),
    "judged_unexamined": Kind("claim", "checked by {model}, which has not been examined yet", (("model", "name"),)),
    # What sources contradict each other in.
    "another_value": Kind(
        "sources", "another source says {other}, this one {own}", (("other", "text"), ("own", "text"))
    ),
    # Why a question is searched for, or not.
    "small_talk": Kind("decision", "small talk: {kind}", (("kind", "name"),)),
    "search_off": Kind("decision", "search is off"),
    "follow_up": Kind("decision", "a follow-up, made standalone"),
    "for_library": Kind("decision", "a question for the library"),
    "for_pages": Kind("decision", "a question for the selected pages"),
    "nowhere_to_look": Kind("decision", "no page is selected, and neither the library nor the web is to be searched"),
    "of_catalogue": Kind("decision", "asks about the library itself, which its catalogue answers"),
    "model_alone": Kind("decision", "the model is to answer from its own knowledge"),
    "decision_unreadable": Kind("decision", "the model's decision could not be read"),
    "model_decided": Kind("decision", "the model's decision"),
    "pages_selected": Kind("decision", "pages are selected"),
    "search_asked": Kind("decision", "the request asks for a search"),
    # Why a query is another.
    "telling_words": Kind("query", "searched again by the question's telling words alone"),
    "neutral_words": Kind("query", "searched again by the names, numbers and code of the question alone"),
    "repair": Kind(
        "query", "looking again for what section {sections} claims", (("sections", "numbers"),), write=_repair
    ),
    # Why something that was found is no source.
    "below_min_score": Kind("dropped", "scored below min_score"),
    "no_answer_in_it": Kind("dropped", "no sentence in it answers the question"),
    "others_answer_better": Kind("dropped", "other segments answer the question better"),
    "no_room": Kind("dropped", "better ones fill the model's context"),
    "off_subject": Kind("dropped", "The model found that it does not bear on the question."),
    "no_room_to_grade": Kind("dropped", "No room was left in the model's context to judge it."),
    "below_reranker": Kind("dropped", "the reranker scores it below {least:g}", (("least", "share"),)),
    # What a search did without.
    "no_embedding": Kind("search", "The embedding endpoint did not answer; the words alone were searched for."),
    "no_pgvector": Kind("search", "This PostgreSQL has no pgvector; the words alone were searched for."),
    "no_vectors": Kind("search", "Vector search failed; the words alone were searched for."),
    "no_index": Kind(
        "search", "The index of candidates did not answer, or lacks some; the database searched without it."
    ),
    "pages_unread": Kind(
        "search",
        "{failed} of {all} result pages could not be read; their search snippets are used instead: {named}.",
        (("failed", "count"), ("all", "count"), ("named", "text")),
    ),
    "results_unreadable": Kind(
        "search",
        "{failed} of {all} results of MCP servers hold no readable text.",
        (("failed", "count"), ("all", "count")),
    ),
    "results_without_text": Kind(
        "search",
        "{server}: {count} of its results hold no text that can be read.",
        (("server", "name"), ("count", "count")),
    ),
    "results_cut": Kind(
        "search",
        "{server}: {count} of its results are cut at {most:,} characters.",
        (("server", "name"), ("count", "count"), ("most", "count")),
    ),
    # What was done instead of what failed.
    "not_repaired": Kind("fallback", "The failed sections were not written again."),
    "left_as_written": Kind("fallback", "The failed sections were left as they were."),
    "assessed_by_verdicts": Kind("fallback", "The answer was assessed by its verdicts alone."),
    "not_judged": Kind("fallback", "The claims that code left open stay unverified."),
    "prepared_by_rule": Kind("fallback", "The question was prepared by rule."),
    "searched_as_asked": Kind(
        "fallback", "The model's reply could not be read; the question is searched for as asked."
    ),
    "rewritten_by_rule": Kind("fallback", "The query was rewritten by rule."),
    "kept_by_score": Kind("fallback", "What the search found is kept by its score."),
    "quoted_instead": Kind("fallback", "The best sentences of the sources are quoted word for word."),
    "fixed_line": Kind("fallback", "A fixed line stands in for the reply."),
    "only_quotes": Kind("fallback", "The extractive family only quotes sources, so it answers from the library."),
    "beyond_quotes": Kind(
        "fallback", "It asks for work on the texts, which takes a model; what comes nearest is quoted."
    ),
    "other_model": Kind(
        "fallback", "No model is named {asked!r}; {answers!r} answers.", (("asked", "name"), ("answers", "name"))
    ),
    "no_thinking": Kind("fallback", "{model!r} has no thinking model; it only writes.", (("model", "name"),)),
    # Of an answer as a whole.
    "assessed": Kind(
        "answer",
        "{supported} supported, {contradicted} contradicted, {unsupported} unsupported, {unverified} unverified; "
        "{covered} of the question's words are taken up",
        (
            ("supported", "count"),
            ("contradicted", "count"),
            ("unsupported", "count"),
            ("unverified", "count"),
            ("covered", "share"),
        ),
        write=_assessed,
    ),
    "nothing_checked": Kind("answer", "nothing could be checked: the answer holds no claim"),
}
