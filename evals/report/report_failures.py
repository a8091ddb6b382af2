"""The failures of a run by question: the question, the answer with its quotes, what was expected, and the errors."""

from collections import defaultdict
from collections.abc import Sequence

from evals.error_analysis import KINDS, TITLES, ErrorKind, RecordError, documents_with_gold, errors_of
from evals.metrics.metric_groups import TAGS
from evals.metrics.passage_metrics import is_gold
from evals.metrics.retrieval_metrics import ranked_documents
from evals.records import CitationRecord, ClaimRecord, GoldSentence, Record, is_marked
from evals.report.html_markup import Markup, counted, element, folded, joined, shown
from graph.evidence import CitationContext

RANKED = 10


def expected(record: Record) -> Markup:
    """Show the earlier questions, the right outcome, and the gold answers and sentences."""
    return element(
        "div",
        *_before(record),
        element("h4", "Expected"),
        element("p", _expectation(record)),
        *(_alternative(place, chosen, record) for place, chosen in enumerate(record["evidence"])),
        *_passages(record),
        *_trap(record),
        *_ranking(record),
    )


def _before(record: Record) -> list[Markup]:
    parts = []
    if record["before"]:
        questions = [element("li", question) for question in record["before"]]
        parts += [element("h4", "Asked before"), element("ol", *questions)]
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
    groups = [group for group in (record["answers"], *record.get("all_of", [])) if group]
    contains = ", and ".join(" or ".join(f"“{answer}”" for answer in group) for group in groups)
    if record["expected"] == "either":
        return "A refusal, or an answer that quotes the trap together with what governs it."
    return f"An answer that contains {contains}." if contains else "An answer."


def _alternative(place: int, chosen: list[GoldSentence], record: Record) -> Markup:
    if len(record["evidence"]) == 1:
        title = "Gold evidence, removed" if record["variant"] == "removed" else "Gold evidence"
    else:
        title = f"Gold evidence, alternative {place + 1}"
    return element("div", element("h4", title), *(_quoted(s["text"], s["document"], gold=True) for s in chosen))


def _passages(record: Record) -> list[Markup]:
    parts = []
    for alternative, title in ((False, "Gold passages"), (True, "Gold passages, alternatives")):
        chosen = [each for each in record.get("passages", []) if each["alternative"] is alternative]
        if chosen:
            quoted = [_quoted(each["text"], each["document"], gold=True) for each in chosen]
            parts.append(element("div", element("h4", title), *quoted))
    return parts


def _trap(record: Record) -> list[Markup]:
    trap = record.get("trap")
    if trap is None:
        return []
    parts = [element("h4", "The trap"), element("blockquote", trap["text"]), element("h4", "What governs it")]
    return [*parts, element("blockquote", trap["governs"]) if trap["governs"] else element("p", _HIDDEN)]


_HIDDEN = "It is struck out or hidden."


def _ranking(record: Record) -> list[Markup]:
    ranked = ranked_documents(record["retrieved"])
    if not ranked:
        return []
    gold = documents_with_gold(record)
    best = {segment["document"]: segment["score"] for segment in reversed(record["retrieved"])}
    items = [
        element(
            "li", f"{name} ({best[name]:.2f})", element("span", "gold", class_="chip gold") if name in gold else None
        )
        for name in ranked[:RANKED]
    ]
    return [element("h4", "Documents found"), element("ol", *items)]


def actual(record: Record) -> Markup:
    """Show the outcome, and the answer claim by claim with verdicts, reasons and quotes."""
    title = f"Outcome: {record['outcome']} ({record['stop_reason'].replace('_', ' ')}) in {shown(record['ms'], 'ms')}"
    parts = [element("h4", title)]
    if record["error"] is not None:
        parts.append(element("p", record["error"]["message"]))
    if record["claims"]:
        parts += [_claim(claim, record) for claim in record["claims"]]
    elif record["answer"]:
        parts.append(element("blockquote", record["answer"]))
    return element("div", *parts, *_first_draft(record))


def _first_draft(record: Record) -> list[Markup]:
    """Show the answer before repair if the finished one differs."""
    first, last = [claim["text"] for claim in record["first_claims"]], [claim["text"] for claim in record["claims"]]
    if not first or first == last:
        return []
    claims = [element("li", claim["text"], _verdict(claim), _reasons(claim)) for claim in record["first_claims"]]
    return [element("h4", "As first written"), element("ul", *claims)]


def _claim(claim: ClaimRecord, record: Record) -> Markup:
    return element(
        "div",
        element("p", claim["text"], _verdict(claim), None if is_marked(claim) else _UNMARKED),
        _reasons(claim),
        *(_citation(citation, record) for citation in claim["citations"]),
        class_="claim",
    )


_UNMARKED = element("span", "no mark", class_="chip")


def _reasons(claim: ClaimRecord) -> Markup | None:
    return element("div", "; ".join(claim["reasons"]), class_="reasons") if claim["reasons"] else None


def _verdict(claim: ClaimRecord) -> Markup:
    return element("span", claim["verdict"], class_=f"chip {claim['verdict']}")


def _citation(citation: CitationRecord, record: Record) -> Markup:
    mistakes = [
        text for fine, text in ((citation["exact"], "not exact"), (citation["offered"], "not a source")) if not fine
    ]
    return _quoted(
        citation["quote"],
        citation["document"],
        gold=is_gold(record, citation),
        mistakes=tuple(mistakes),
        context=citation.get("context", []),
    )


def _quoted(
    text: str,
    document: str,
    *,
    gold: bool,
    mistakes: tuple[str, ...] = (),
    context: Sequence[CitationContext] = (),
) -> Markup:
    chips = [element("span", mistake, class_="chip wrong") for mistake in mistakes]
    if gold:
        chips.append(element("span", "gold", class_="chip gold"))
    hangs_on = [element("div", f"{each['role']}: {each['text']}", class_="reasons") for each in context]
    return element("blockquote", *hangs_on, text, element("footer", document, *chips), class_="gold" if gold else None)


OPEN_AT_FIRST = 8
MOST = 300  # of one kind; a browser can show some thousands of folded cards, but nobody reads them

FailedRecord = tuple[Record, list[RecordError]]


def failures(records: Sequence[Record]) -> Markup:
    """Show every record with an error, grouped by its most severe one, with filters."""
    mistaken = [(record, found) for record in records if (found := errors_of(record))]
    if not mistaken:
        return element("p", "Nothing went wrong.")
    by_kind: dict[ErrorKind, list[FailedRecord]] = defaultdict(list)
    for record, found in mistaken:
        by_kind[found[0].kind].append((record, found))
    groups = [_group(kind, by_kind[kind]) for kind in KINDS if kind in by_kind]
    return joined([_filters("failures-list", mistaken), element("div", *groups, id="failures-list")])


def _filters(list_id: str, mistaken: Sequence[FailedRecord]) -> Markup:
    """Build the filters of a list of cards; the page's script shows them."""
    present = {mistake.kind for _, found in mistaken for mistake in found}
    choices = [_choice("why", "Why", [(kind, TITLES[kind]) for kind in KINDS if kind in present])]
    for tag in TAGS:
        values = sorted({record["tags"][tag] for record, _ in mistaken if tag in record["tags"]})
        if len(values) > 1:
            choices.append(_choice(tag, tag.capitalize(), [(value, value) for value in values]))
    words = element("label", "Words", element("input", type="search", name="words", autocomplete="off"))
    return element(
        "form",
        *choices,
        words,
        element("output", aria_live="polite"),
        class_="filters",
        data_filters=list_id,
        hidden=True,
        aria_label="Choose which questions to show",
    )


def _choice(name: str, label: str, options: Sequence[tuple[str, str]]) -> Markup:
    every = element("option", "all", value="")
    chosen = element("select", every, *(element("option", text, value=value) for value, text in options), name=name)
    return element("label", label, chosen)


def _group(kind: ErrorKind, mistaken: Sequence[FailedRecord]) -> Markup:
    shown, more = mistaken[:MOST], len(mistaken) - MOST
    cards = [_card(record, found) for record, found in shown]
    rest = cards[OPEN_AT_FIRST:]
    return element(
        "div",
        element("h3", TITLES[kind], " ", element("span", f"({len(mistaken):,})", class_="count")),
        *cards[:OPEN_AT_FIRST],
        folded(f"{counted(len(rest), 'more question')}", *rest, class_="more") if rest else None,
        element("p", f"{more:,} more are in results.jsonl.", class_="lead") if more > 0 else None,
        class_="group",
        data_group=True,
    )


def _card(record: Record, found: Sequence[RecordError]) -> Markup:
    chips = [record["case_id"], *record["tags"].values()]
    if record["variant"] == "removed":
        chips.append("documents removed")
    summary = element(
        "summary",
        element("span", record["question"], class_="question"),
        *(element("span", chip, class_="chip") for chip in chips),
        *(element("span", mistake.why, class_="why") for mistake in found[:1]),
    )
    others = [element("li", mistake.why) for mistake in found[1:]]
    return element(
        "details",
        summary,
        element(
            "div",
            joined([element("h4", "Also"), element("ul", *others)]) if others else None,
            element("div", expected(record), actual(record), class_="sides"),
            class_="inside",
        ),
        class_="card",
        data_card=True,
        data_why="\n".join(mistake.kind for mistake in found),
        # Attribute names can't be escaped; these are ours, not a data set's.
        **{f"data_{tag}": record["tags"].get(tag, "") for tag in TAGS},
    )
