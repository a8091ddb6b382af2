"""What the terminal shows: wrapped where it is read, whole in a pipe, and never obeyed."""

import io
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cli.command import BY_CODE, Exit
from cli.console import plain
from cli.rendering.terminal_run import TerminalRun
from cli.rendering.transcript import answerhood_line, show_citations, show_doubts, show_nearest
from cli.rendering.wrapping import Flow
from cli.tables import one_line, printable, show_table
from graph import errors, events
from graph.evidence import Citation, Message, PageUse, SectionClaim, Source, Spent

MIXED = "The filter 滤芯指示灯变为红色时 must be changed，within 7 days. "


def console(width: int = 60, *, terminal: bool = False) -> Console:
    return Console(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, markup=False, emoji=False
    )


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def show(listener: TerminalRun, *told: events.AnyEvent) -> None:
    for seq, event in enumerate(told, start=1):
        listener.show(events.Envelope("r", "s", seq, "2026-11-22T12:00:00.000Z", event))


def every_error(root: type[errors.CitewellError] = errors.CitewellError) -> list[type[errors.CitewellError]]:
    return [root, *(found for child in root.__subclasses__() for found in every_error(child))]


@pytest.mark.parametrize("error", [e for e in every_error() if e.__module__ == "graph.errors"])
def test_every_error_has_an_exit_code(error: type[errors.CitewellError]) -> None:
    assert BY_CODE[error.code] != Exit.OK


@given(st.lists(st.text("ab 滤芯，。\n", max_size=9), max_size=12), st.integers(12, 40))
def test_streamed_text_is_wrapped_and_loses_nothing(deltas: list[str], width: int) -> None:
    out = console(width)
    flow = Flow(out, wrap=True)
    for delta in deltas:
        flow.write(delta)
    flow.close()
    text = "".join(deltas)
    assert "".join(shown(out).split()) == "".join(text.split())
    longest = max((cell_len(word) for word in text.split()), default=0)
    assert all(cell_len(line) <= max(width, longest + 2) for line in shown(out).splitlines())


@given(st.lists(st.integers(1, len(MIXED) - 1), max_size=8))
def test_however_a_stream_is_cut_it_reads_the_same(cuts: list[int]) -> None:
    def written(deltas: list[str]) -> str:
        out = console(30)
        flow = Flow(out, wrap=True)
        for delta in deltas:
            flow.write(delta)
        flow.mark("[1]", "")
        flow.close()
        return shown(out)

    bounds = [0, *sorted(cuts), len(MIXED)]
    pieces = [MIXED[a:b] for a, b in pairwise(bounds)]
    assert written(pieces) == written([MIXED])


@given(st.text(), st.lists(st.integers(0, 50), max_size=5))
def test_in_a_pipe_the_text_passes_as_it_is(text: str, cuts: list[int]) -> None:
    out = console()
    flow = Flow(out, wrap=False)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for a, b in pairwise(bounds):
        flow.write(text[a:b])
    flow.close()
    assert shown(out).strip() == printable(text).strip()


def test_a_marker_goes_with_the_word_before_it() -> None:
    out = console(20)
    flow = Flow(out, wrap=True)
    flow.write("twelve twelve twelve")
    flow.mark("[1]", "")
    flow.close()
    assert shown(out) == "  twelve twelve\n  twelve [1]\n"


def test_markers_that_do_not_fit_stand_at_the_margin() -> None:
    out = console(20)
    flow = Flow(out, wrap=True)
    flow.write("twelve twelve x")
    flow.mark("[1]", "")
    flow.mark("[2]", "")
    flow.close()
    assert shown(out) == "  twelve twelve\n  x [1] [2]\n"
    out = console(20)
    flow = Flow(out, wrap=True)
    flow.write("twelve twe")
    flow.mark("[1]", "")
    flow.mark("[2]", "")
    flow.close()
    assert shown(out) == "  twelve twe [1]\n  [2]\n"


def test_text_of_documents_cannot_drive_the_terminal() -> None:
    assert printable("a\x1b[2Jb\x07c\x9bd\u202ee") == "a␛[2Jb␇c\ufffdd\ufffde"
    assert one_line(" a\n\tb\r\nc ") == "a b c"


def citation(**changes: Any) -> Citation:
    given_: Any = {
        "segment_id": "d:0", "document_id": "d", "segment_index": 0, "page_idx": 2, "start": 7, "end": 20,
        "quote": "[bold]25 days[/bold]\nof leave", "origin": "cited", "verdict": "supported", "source_index": 1,
        "section_index": 0, **changes,
    }  # fmt: skip
    made: Citation = given_
    return made


def source(**changes: Any) -> Source:
    given_: Any = {
        "index": 1, "segment_id": "d:0", "document_id": "d", "segment_index": 0, "page_idx": 2, "title": "Leave",
        "heading": "Leave > Days", "kind": "search", "source_type": "file", "slug": None, "space": None, "url": None,
        "score": 0.8123, "excerpt": "Everybody has 25 days.", "start": 0, "end": 30, "metadata": {}, **changes,
    }  # fmt: skip
    made: Source = given_
    return made


def test_a_citation_shows_document_heading_page_offsets_verdict_and_quote() -> None:
    out = console()
    show_citations(out, [citation(), citation(start=30, end=39, quote="All of it", origin="matched")], [source()])
    assert shown(out) == (
        "  [1] Leave > Days, page 3\n"
        "      characters 7–20 · supported\n"
        "        “[bold]25 days[/bold] of leave”\n"
        "      characters 30–39 · supported, matched by its text\n"
        "        “All of it”\n"
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"freshness": "fresh"}, "characters 7–20 · supported"),
        ({"freshness": "changed"}, "characters 7–20 · supported, since changed"),
        ({"freshness": "deleted"}, "characters 7–20 · supported, since deleted"),
        (
            {"freshness": "moved", "now": {"start": 90, "end": 103, "page_idx": 4}},
            "characters 7–20 · supported, since moved to 90–103, page 5",
        ),
    ],
)
def test_an_old_citation_says_what_has_become_of_its_quote(changes: dict[str, Any], line: str) -> None:
    out = console()
    show_citations(out, [citation(**changes)], [source()])
    assert " ".join(shown(out).split("“")[0].splitlines()[1:]).split() == line.split()


def test_what_came_nearest_shows_its_relevance() -> None:
    out = console()
    show_nearest(out, [source(page_idx=None)])
    assert shown(out) == "    · Leave > Days  relevance 0.81\n        Everybody has 25 days.\n"


def test_a_page_read_as_selected_has_no_relevance_to_show() -> None:
    out = console()
    show_nearest(out, [source(page_idx=None, kind="page", score=1.0)])
    assert shown(out).splitlines()[0] == "    · Leave > Days  selected"


def test_a_quote_that_proves_two_claims_stands_once() -> None:
    out = console()
    show_citations(out, [citation(), citation(section_index=1), citation(verdict="unverified")], [source()])
    assert [line.split(" · ")[1] for line in shown(out).splitlines() if " · " in line] == ["supported", "unverified"]


@pytest.mark.parametrize(
    ("used", "cut", "unused", "line"),
    [
        ([("Leave", 3, 3)], [], [], "read Leave (3 of 3)"),
        ([], [("Leave", 1, 3)], [], "read partly Leave (1 of 3)"),
        ([], [], ["d"], "left out 1 page"),
        ([], [], [], "only the selected passage"),
    ],
)
def test_what_was_read_of_the_selected_pages_is_shown(
    used: list[tuple[str, int, int]], cut: list[tuple[str, int, int]], unused: list[str], line: str
) -> None:
    def pages(rows: list[tuple[str, int, int]]) -> list[PageUse]:
        return [{"document_id": "d", "title": title, "segments": read, "of": of} for title, read, of in rows]

    out = console(80)
    listener = TerminalRun(out, out)
    show(listener, events.StepStarted(step="load_selected_pages"))
    show(listener, events.PagesLoaded(used=pages(used), cut=pages(cut), unused=unused))
    show(listener, events.StepFinished(step="load_selected_pages", ms=1))
    assert shown(out).split("1 ms")[1].strip() == line


def test_sources_that_disagree_are_told_with_the_verdicts_before_the_section_that_quotes_both() -> None:
    out = console(80)
    listener = TerminalRun(out, out)
    claim: events.Claim = {
        "start": 0, "end": 8, "text": "25 days.", "verdict": "supported", "reasons": [], "citations": []
    }  # fmt: skip
    show(listener, events.StepStarted(step="check_claims"))
    show(listener, events.SectionChecked(section_index=0, claims=[claim]))
    show(listener, events.SourcesDisagree(segment_ids=["d:0", "e:0"], reason="25 days, 28 days"))
    show(listener, events.SectionStarted(section_index=1))
    lines = shown(out).splitlines()
    assert lines[0].endswith("1 claim: 1 supported")
    assert lines[1].strip() == "sources disagree: 25 days, 28 days"
    assert "first words" not in shown(out)


def test_the_time_to_the_first_words_is_that_of_the_events_though_they_come_at_once() -> None:
    out = console(80)
    listener = TerminalRun(out, out)
    told = [
        ("12:00:00.100Z", events.StepStarted(step="generate_answer")),
        ("12:00:01.350Z", events.SectionStarted(section_index=0)),
    ]
    for seq, (clock, event) in enumerate(told, start=1):
        listener.show(events.Envelope("r", "s", seq, f"2026-11-22T{clock}", event))
    assert "1250 ms  to the first words" in shown(out)


def test_what_was_taken_out_of_a_section_is_told_when_its_text_has_ended() -> None:
    out = console(60)
    listener = TerminalRun(out, out, wrap=True)
    show(
        listener,
        events.SectionStarted(section_index=0),
        events.TextDelta(section_index=0, delta="See the "),
        events.ContentRemoved(section_index=0, kind="image", target="https://evil.example/a.png"),
        events.TextDelta(section_index=0, delta="chart."),
        events.SectionFinished(section_index=0, text="See the chart.", source_ids=[]),
    )
    text = " ".join(shown(out).split())
    assert text.startswith("See the chart. image removed")
    assert text.endswith(" https://evil.example/a.png")


def test_a_claim_that_failed_is_told_with_its_reasons_and_within_the_width() -> None:
    out = console(60)
    listener = TerminalRun(out, out)
    claim: SectionClaim = {
        "start": 0, "end": 8, "text": "Everybody who has been here for a year gets thirty days of leave.",
        "verdict": "contradicted", "reasons": ["the source says 25 days, the answer says 30"], "citations": [],
        "section_index": 0,
    }  # fmt: skip
    show(listener, events.StepStarted(step="check_claims"))
    show(listener, events.SectionChecked(section_index=0, claims=[claim]))
    show(listener, events.StepFinished(step="check_claims", ms=1))
    show_doubts(out, [claim])
    text = " ".join(shown(out).split())
    assert "1 claim: 1 contradicted section 1 contradicted: the source says 25 days, the answer says 30" in text
    assert text.count("the source says 25 days, the answer says 30") == 2
    assert all(cell_len(line) <= 60 for line in shown(out).splitlines())


def run_told(width: int) -> str:
    out = console(width)
    listener = TerminalRun(out, out, wrap=True)
    message = Message(
        answer="25 days.", sections=[{"text": "25 days.", "source_ids": ["d:0"]}], citations=[citation()],
        sources=[source()], family="extractive",
        assessment={
            "supported": True, "utility": 1.0, "claims": {}, "reason": "", "model_score": None, "answerhood": 0.8312,
        },
    )  # fmt: skip
    told: list[events.AnyEvent] = [
        events.RunStarted(
            question="How many?", message_id="m", family="extractive", model="extractive",
            budget={"model_calls": 8, "tokens": None},
        ),
        events.StepStarted(step="decide_retrieval"),
        events.RetrievalDecided(
            needs_retrieval=True, reason="a follow-up", standalone_question="How many days of leave?",
            intent="content_query", fallback={"code": "model_reply_invalid", "message": "asked as it stands"},
        ),
        events.StepFinished(step="decide_retrieval", ms=3.2),
        events.StepStarted(step="search_segments"),
        events.SourcesFound(kind="search", query="How many days of leave?", count=1, degraded="by words alone"),
        events.SourcesFound(kind="search", query="ngày phép", count=2),
        events.StepFinished(step="search_segments", ms=7),
        events.SourcesGraded(sources=[source()]),
        events.StepStarted(step="generate_answer"),
        events.SectionStarted(section_index=0),
        events.TextDelta(section_index=0, delta="25 da"),
        events.TextDelta(section_index=0, delta="ys."),
        events.SectionFinished(section_index=0, text="25 days.", source_ids=["d:0"], unknown_ids=1),
        events.SectionRevised(section_index=0, text="", source_ids=[], claims=[]),
        events.StepFinished(step="generate_answer", ms=9),
        events.RunFinished(
            outcome="answered", stop_reason="answer_complete", message=message,
            spent={"generate_answer": Spent(calls=2, tokens=9, ms=9)},
        ),
    ]  # fmt: skip
    show(listener, *told)
    return shown(out)


@pytest.mark.parametrize(("rest", "text"), [("", ""), ("Bring a towel.", "Bring a towel.")])
def test_a_quote_that_is_told_with_what_contradicts_it_is_not_shown_before(rest: str, text: str) -> None:
    out = console(90)
    listener = TerminalRun(out, out, wrap=True)
    show(
        listener,
        events.RunStarted(
            question="When?", message_id="m", family="extractive", model="extractive",
            budget={"model_calls": 8, "tokens": None},
        ),
        events.StepStarted(step="generate_answer"),
        events.SectionStarted(section_index=0),
        events.TextDelta(section_index=0, delta=f"It opens at 7. {rest}"),
        events.SectionFinished(section_index=0, text=f"It opens at 7. {rest}", source_ids=["d:0"]),
        events.StepFinished(step="generate_answer", ms=9),
        events.StepStarted(step="check_claims"),
        events.SectionRevised(section_index=0, text=rest, source_ids=["d:0"], claims=[], moved=True),
        events.SectionStarted(section_index=1),
        events.TextDelta(section_index=1, delta="The sources disagree: 7, 8."),
        events.SectionFinished(section_index=1, text="The sources disagree: 7, 8.", source_ids=["d:0", "e:0"]),
    )  # fmt: skip
    assert "It opens" not in shown(out)
    assert text in shown(out)
    assert shown(out).rstrip().endswith("The sources disagree: 7, 8. [?] [?]")


@pytest.mark.parametrize("width", [34, 60, 100])
def test_a_run_is_shown_from_its_first_step_to_its_proof(width: int) -> None:
    text = run_told(width)
    flat = " ".join(text.split())
    for words in (
        "✓ decide_retrieval", "3 ms", "retrieval needed: a follow-up", "understood as “How many days of leave?”",
        "fallback: asked as it stands", "1 segment found by words alone", "2 segments found for “ngày phép”",
        "✓ generate_answer", "to the first words", "25 days. [1]",
        "1 unknown source id dropped", "section 1 withdrawn", "[1] Leave > Days, page 3",
        "answered · 1 citation · 2 model calls", "Answers the question: likely (0.83)",
    ):  # fmt: skip
        assert words in flat
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("chance", "word"), [(1.0, "likely"), (0.75, "likely"), (0.74, "perhaps"), (0.5, "perhaps"), (0.0, "doubtful")]
)
def test_how_likely_an_answer_is_one_is_said_in_words(chance: float, word: str) -> None:
    assert answerhood_line(chance).plain == f"Answers the question: {word} ({chance:.2f})"


def test_lists_are_tables_on_a_terminal_and_tabs_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [["a", "[red]1[/red]"], ["b", "2"]]
    show_table(console(), ["Name", "Count"], rows, numbers={1})
    assert capsys.readouterr().out == "a\t[red]1[/red]\nb\t2\n"
    out = console(terminal=True)
    show_table(out, ["Name", "Count"], rows, numbers={1})
    assert "Name" in shown(out)
    assert "[red]1[/red]" in shown(out)


def test_json_has_times_in_iso_8601_and_dataclasses_as_objects() -> None:
    assert plain(datetime(2026, 11, 22, tzinfo=UTC)) == "2026-11-22T00:00:00+00:00"
    assert plain(events.StepStarted(step="x")) == {"step": "x", "type": "step_started"}
