"""What went wrong, question by question: the question, the answer with its quotes, what was expected, and why."""

from collections import defaultdict
from collections.abc import Sequence

from evals.metrics.catalogue import TAGS
from evals.mistakes import KINDS, TITLES, Mistake, MistakeKind, mistakes_of
from evals.records import Record
from evals.report.answers import came_out, expected
from evals.report.document import folded
from evals.report.markup import Markup, element, joined
from evals.report.numbers import counted

OPEN_AT_FIRST = 8
MOST = 300  # of one kind; a browser shows some thousands of folded cards, and nobody reads them

Mistaken = tuple[Record, list[Mistake]]


def failures(records: Sequence[Record]) -> Markup:
    """Show every record that something is wrong with, under its gravest mistake, with choices to filter by."""
    mistaken = [(record, found) for record in records if (found := mistakes_of(record))]
    if not mistaken:
        return element("p", "Nothing went wrong.")
    by_kind: dict[MistakeKind, list[Mistaken]] = defaultdict(list)
    for record, found in mistaken:
        by_kind[found[0].kind].append((record, found))
    groups = [_group(kind, by_kind[kind]) for kind in KINDS if kind in by_kind]
    return joined([_filters("failures-list", mistaken), element("div", *groups, id="failures-list")])


def _filters(list_id: str, mistaken: Sequence[Mistaken]) -> Markup:
    """Make the choices that narrow a list of cards; the page's script shows them."""
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


def _group(kind: MistakeKind, mistaken: Sequence[Mistaken]) -> Markup:
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


def _card(record: Record, found: Sequence[Mistake]) -> Markup:
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
            joined([element("h4", "And besides"), element("ul", *others)]) if others else None,
            element("div", expected(record), came_out(record), class_="sides"),
            class_="inside",
        ),
        class_="card",
        data_card=True,
        data_why="\n".join(mistake.kind for mistake in found),
        # Names of attributes can't be escaped: these are ours, not a data set's.
        **{f"data_{tag}": record["tags"].get(tag, "") for tag in TAGS},
    )
