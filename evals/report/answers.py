"""One record side by side: what was expected of it, and what came out."""

from evals.metrics.retrieval import gold_documents, ranked_documents
from evals.mistakes import is_gold
from evals.records import CitationRecord, ClaimRecord, GoldSentence, Record
from evals.report.markup import Markup, element
from evals.report.numbers import shown

RANKED = 10


def expected(record: Record) -> Markup:
    """Show what was asked before, the right outcome, and the gold answers and sentences."""
    return element(
        "div",
        *_before(record),
        element("h4", "Expected"),
        element("p", _expectation(record)),
        *(_alternative(place, chosen, record) for place, chosen in enumerate(record["evidence"])),
        *_ranking(record),
    )


def _before(record: Record) -> list[Markup]:
    parts = []
    if record["before"]:
        asked = [element("li", question) for question in record["before"]]
        parts += [element("h4", "Asked before"), element("ol", *asked)]
    if record["standalone_question"] not in {"", record["question"]}:
        parts += [element("h4", "Understood as"), element("p", record["standalone_question"])]
    if record["pages"]:
        parts += [element("h4", "Selected pages"), element("p", ", ".join(record["pages"]))]
    return parts


def _expectation(record: Record) -> str:
    if record["expected"] == "abstained":
        removed = (
            "the documents with the answer were removed from" if record["variant"] == "removed" else "it is not in"
        )
        return f"A refusal: {removed} the library."
    if record["answers"]:
        return "An answer that holds " + " or ".join(f"“{answer}”" for answer in record["answers"]) + "."
    return "An answer."


def _alternative(place: int, chosen: list[GoldSentence], record: Record) -> Markup:
    if len(record["evidence"]) == 1:
        title = "Gold evidence, removed" if record["variant"] == "removed" else "Gold evidence"
    else:
        title = f"Gold evidence, alternative {place + 1}"
    return element("div", element("h4", title), *(_quoted(s["text"], s["document"], gold=True) for s in chosen))


def _ranking(record: Record) -> list[Markup]:
    ranked = ranked_documents(record["retrieved"])
    if not ranked:
        return []
    gold = frozenset[str]().union(*gold_documents(record))
    best = {segment["document"]: segment["score"] for segment in reversed(record["retrieved"])}
    items = [
        element(
            "li", f"{name} ({best[name]:.2f})", element("span", "gold", class_="chip gold") if name in gold else None
        )
        for name in ranked[:RANKED]
    ]
    return [element("h4", "Documents that the search brought"), element("ol", *items)]


def came_out(record: Record) -> Markup:
    """Show the outcome, and the answer claim by claim with verdicts, reasons and quotes."""
    title = f"Came out: {record['outcome']} ({record['stop_reason'].replace('_', ' ')}) in {shown(record['ms'], 'ms')}"
    parts = [element("h4", title)]
    if record["error"] is not None:
        parts.append(element("p", record["error"]["message"]))
    if record["claims"]:
        parts += [_claim(claim, record) for claim in record["claims"]]
    elif record["answer"]:
        parts.append(element("blockquote", record["answer"]))
    return element("div", *parts, *_first_draft(record))


def _first_draft(record: Record) -> list[Markup]:
    """Show what was written before repair where the finished answer is another."""
    first, last = [claim["text"] for claim in record["first_claims"]], [claim["text"] for claim in record["claims"]]
    if not first or first == last:
        return []
    claims = [element("li", claim["text"], _verdict(claim), _reasons(claim)) for claim in record["first_claims"]]
    return [element("h4", "As first written"), element("ul", *claims)]


def _claim(claim: ClaimRecord, record: Record) -> Markup:
    return element(
        "div",
        element("p", claim["text"], _verdict(claim)),
        _reasons(claim),
        *(_citation(citation, record) for citation in claim["citations"]),
        class_="claim",
    )


def _reasons(claim: ClaimRecord) -> Markup | None:
    return element("div", "; ".join(claim["reasons"]), class_="reasons") if claim["reasons"] else None


def _verdict(claim: ClaimRecord) -> Markup:
    return element("span", claim["verdict"], class_=f"chip {claim['verdict']}")


def _citation(citation: CitationRecord, record: Record) -> Markup:
    mistakes = [
        text for fine, text in ((citation["exact"], "not exact"), (citation["offered"], "never offered")) if not fine
    ]
    return _quoted(citation["quote"], citation["document"], gold=is_gold(record, citation), mistakes=tuple(mistakes))


def _quoted(text: str, document: str, *, gold: bool, mistakes: tuple[str, ...] = ()) -> Markup:
    chips = [element("span", mistake, class_="chip wrong") for mistake in mistakes]
    if gold:
        chips.append(element("span", "gold", class_="chip gold"))
    return element("blockquote", text, element("footer", document, *chips), class_="gold" if gold else None)
