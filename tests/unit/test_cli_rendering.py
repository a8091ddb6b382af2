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

from answers.answerhood import ANSWERS, MAY_ANSWER, SAID, Answerhood, answerhood_of
from cli.command import BY_CODE, Exit
from cli.console import one_line, plain, printable
from cli.rendering.answer import answerhood_line, show_answer, show_citations, show_doubts, show_nearest
from cli.rendering.shown_passages import BAR
from cli.rendering.terminal_run import TerminalRun
from cli.rendering.wrapping import Flow
from cli.tables import show_table
from graph import errors, events
from graph.evidence import Citation, Message, PageUse, SectionClaim, ShownPassage, Source, Spent

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
    matched = citation(start=30, end=39, quote="All of it", origin="matched")
    show_citations(out, [(citation(), "supported"), (matched, "checked")], [source()])
    assert shown(out) == (
        "  [1] Leave > Days, page 3\n"
        "      characters 7–20 · supported\n"
        "        “[bold]25 days[/bold] of leave”\n"
        "      characters 30–39 · checked, matched by its text\n"
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
    show_citations(out, [(citation(**changes), "supported")], [source()])
    assert " ".join(shown(out).split("“")[0].splitlines()[1:]).split() == line.split()


def test_what_came_nearest_shows_no_score() -> None:
    out = console()
    show_nearest(out, [source(page_idx=None)], wrap=True)
    assert shown(out).splitlines()[1:] == ["    · Leave > Days", "        Everybody has 25 days."]


def test_what_came_nearest_shows_its_passage_with_the_entry_that_is_highlighted() -> None:
    out = console()
    quote = "Days a year\nAnna | 25\nBill | 28"
    at = quote.index("Bill")
    passage: ShownPassage = {
        "start": 100, "end": 100 + len(quote), "quote": quote, "heading_path": ["Leave", "People"],
        "highlight": {"start": 100 + at, "end": 100 + len(quote)},
        "context": [{"role": "header", "start": 2, "end": 6, "text": "Name | Days"}],
    }  # fmt: skip
    show_nearest(out, [source(passage=passage)], wrap=True)
    text = shown(out)
    assert "Leave > People, page 3" in text
    assert "0.81" not in text
    assert [line for line in text.splitlines() if BAR in line] == [f"      {BAR} Bill  28"]
    assert text.index("Name") < text.index("Anna  25")


def test_a_page_read_as_selected_is_said_to_be() -> None:
    out = console()
    show_nearest(out, [source(page_idx=None, kind="page", score=1.0)], wrap=True)
    assert shown(out).splitlines()[1] == "    · Leave > Days  selected"


QUOTE = "Everybody has leave.\nAnna has 25 days.\nBill has 28."
TABLE = "The days are:\n\n| Name | Days |\n| --- | --- |\n| Anna | 25 |\n| Bill | 28 |"


def passages(text: str, quote: str, highlight: str, **changes: Any) -> Message:
    at = quote.index(highlight)
    cited = citation(
        start=7, end=7 + len(quote), quote=quote, heading_path=["Leave", "Days"],
        highlight={"start": 7 + at, "end": 7 + at + len(highlight)},
    )  # fmt: skip
    proof: Any = {"segment_id": "d:0", "start": 7, "end": 7 + len(quote), "origin": "cited"}
    claim: SectionClaim = {
        "start": 0, "end": len(text), "text": text, "verdict": "supported", "by": "text", "reasons": [],
        "citations": [cited], "section_index": 0,
    }  # fmt: skip
    made: Any = {
        "answer": text, "sections": [{"text": text, "source_ids": ["d:0"], "passage": proof}], "citations": [cited],
        "sources": [source()], "family": "extractive", "claims": [claim], "assessment": assessment(0.8), **changes,
    }  # fmt: skip
    message: Message = made
    return message


def assessment(chance: float | None) -> Any:
    return {"supported": True, "utility": 1.0, "claims": {}, "reason": "", "model_score": None, "answerhood": chance}


def test_an_answer_says_first_whether_it_answers_and_then_quotes_its_passages() -> None:
    out = console()
    show_answer(out, passages(QUOTE, QUOTE, "Bill has 28."), wrap=True)
    lines = shown(out).splitlines()
    assert SAID["answers"] in lines[0]
    assert lines[1:3] == ["", "  [1] quoted from Leave > Days, page 3 · characters 7–58"]
    assert lines[3:] == ["        Everybody has leave.", "        Anna has 25 days.", f"      {BAR} Bill has 28."]


def test_a_passage_tells_its_date_and_the_older_documents_that_hold_a_copy() -> None:
    message = passages(QUOTE, QUOTE, "Bill has 28.")
    copies: Any = [
        {"segment_id": f"{name}:0", "document_id": name, "title": name, "date": day, "dated_by": by, "differs": not day}
        for name, day, by in (
            ("Leave 2024", "2024-05", "document"),
            ("Draft", "2023-01-02", "library"),
            ("Copy", "", ""),
        )
    ]
    message["citations"][0] |= {"date": "2025-06-01", "dated_by": "document", "copies": copies}
    out = console(width=200)
    show_answer(out, message, wrap=True)
    [head] = [line for line in shown(out).splitlines() if "quoted from" in line]
    for said in (
        "page 3 (2025-06-01)",
        "also in Leave 2024 (2024-05); also in Draft (stored 2023-01-02); with changes in Copy ·",
    ):
        assert said in head


def test_what_a_passage_shows_is_not_cited_again_below() -> None:
    message = passages(QUOTE, QUOTE, "Bill has 28.")
    said = "The sources disagree."
    message["sections"].append({"text": said, "source_ids": ["d:0"]})
    inner, beyond = citation(start=30, end=40, section_index=1), citation(start=90, end=99, quote="28", section_index=1)
    message["claims"].append(
        {
            "start": 0, "end": len(said), "text": said, "verdict": "supported", "reasons": [],
            "citations": [inner, beyond], "section_index": 1,
        }
    )  # fmt: skip
    out = console()
    show_answer(out, message, wrap=True)
    assert "characters 90–99" in shown(out)
    assert "characters 30–40" not in shown(out)
    assert shown(out).index("Bill has 28.") < shown(out).index("The sources disagree.[1]")


@pytest.mark.parametrize("wrap", [True, False])
def test_a_table_is_shown_with_its_columns_aligned_and_one_row_highlighted(wrap: bool) -> None:
    out = console()
    show_answer(out, passages(TABLE, "The days are:\nAnna | 25\nBill | 28", "Bill | 28"), wrap=wrap)
    lines = shown(out).splitlines()
    assert lines[-4].split() == ["Name", "Days"]
    assert lines[-2:] == ["        Anna  25", f"      {BAR} Bill  28"]


def test_a_passage_keeps_within_the_width_and_a_pipe_has_its_lines_whole() -> None:
    long = "1. " + "Ask the team lead first. " * 5 + "\n\n```\nmake all | tee log\n```"
    message = passages(long, long.replace("```", "").replace("\n", " "), "make all | tee log")
    out = console(40)
    show_answer(out, message, wrap=True)
    assert all(cell_len(line) <= 40 for line in shown(out).splitlines())
    assert f"{BAR}     make all | tee log" in shown(out)
    out = console(40)
    show_answer(out, message, wrap=False)
    assert long.splitlines()[0].strip() in shown(out)
    assert "```" not in shown(out)


def test_a_quote_is_nowhere_called_supported() -> None:
    message = passages(QUOTE, QUOTE, "Bill has 28.")
    del message["sections"][0]["passage"]
    out = console()
    show_answer(out, message, wrap=True)
    assert "quoted" in shown(out)
    assert "supported" not in shown(out)
    judged = passages(QUOTE, QUOTE, "Bill has 28.")
    del judged["sections"][0]["passage"]
    judged["claims"][0]["by"] = "judge"
    out = console()
    show_answer(out, judged, wrap=True)
    assert "supported" in shown(out)


def test_a_quote_that_proves_two_claims_stands_once() -> None:
    out = console()
    borne = [(citation(), "supported"), (citation(section_index=1), "supported"), (citation(), "unverified")]
    show_citations(out, borne, [source()])
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


def test_what_was_taken_out_of_a_section_is_told() -> None:
    out = console(60)
    listener = TerminalRun(out, out, wrap=True)
    show(
        listener,
        events.SectionStarted(section_index=0),
        events.TextDelta(section_index=0, delta="See the "),
        events.ContentRemoved(section_index=0, kind="image", target="https://evil.example/a.png"),
        events.TextDelta(section_index=0, delta="chart."),
        events.SectionFinished(section_index=0, text="See the chart.", source_ids=[]),
        events.SectionChecked(section_index=0, claims=[]),
    )
    text = " ".join(shown(out).split())
    assert "https://evil.example/a.png" in text
    assert "See the chart." in text


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
    borne: events.Claim = {
        "start": 0, "end": 8, "text": "25 days.", "verdict": "supported", "reasons": [], "citations": [citation()]
    }  # fmt: skip
    message = Message(
        answer="25 days.", sections=[{"text": "25 days.", "source_ids": ["d:0"]}], citations=[citation()],
        sources=[source()], family="llm", assessment=assessment(0.8312), claims=[{**borne, "section_index": 0}],
    )  # fmt: skip
    told: list[events.AnyEvent] = [
        events.RunStarted(
            question="How many?", message_id="m", family="llm", model="gpt",
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
        events.SectionChecked(section_index=0, claims=[borne]),
        events.SectionStarted(section_index=1),
        events.SectionFinished(section_index=1, text="Fish fly.", source_ids=["d:0"]),
        events.SectionRevised(section_index=1, text="", source_ids=[], claims=[]),
        events.StepFinished(step="generate_answer", ms=9),
        events.RunFinished(
            outcome="answered", stop_reason="answer_complete", message=message,
            spent={"generate_answer": Spent(calls=2, tokens=9, ms=9)},
        ),
    ]  # fmt: skip
    show(listener, *told)
    return shown(out)


def test_a_sentence_that_a_judge_doubts_is_shown_without_a_mark_and_not_quoted() -> None:
    out = console(90)
    doubted: SectionClaim = {
        "start": 0, "end": 8, "text": "30 days.", "verdict": "contradicted", "reasons": ["checked by m"],
        "citations": [citation()], "mark": "withheld", "judge": {"model": "m", "exam": None}, "section_index": 0,
    }  # fmt: skip
    message = Message(
        answer="30 days.", sections=[{"text": "30 days.", "source_ids": ["d:0"]}], citations=[citation()],
        sources=[source()], family="llm", claims=[doubted],
    )  # fmt: skip
    show_answer(out, message, wrap=True)
    assert "[1]" not in shown(out)
    assert shown(out).split()[:3] == ["30", "days.", "contradicted"]


def test_passages_are_shown_once_it_is_known_whether_they_answer() -> None:
    out = console(90)
    listener = TerminalRun(out, out, wrap=True)
    message = passages(TABLE, "The days are:\nAnna | 25\nBill | 28", "Bill | 28", assessment=assessment(0.5))
    show(
        listener,
        events.RunStarted(
            question="When?", message_id="m", family="extractive", model="extractive",
            budget={"model_calls": 8, "tokens": None},
        ),
        events.StepStarted(step="generate_answer"),
        events.SectionStarted(section_index=0),
        events.TextDelta(section_index=0, delta=TABLE),
        events.SectionFinished(section_index=0, text=TABLE, source_ids=["d:0"]),
        events.StepFinished(step="generate_answer", ms=9),
        events.StepStarted(step="check_claims"),
        events.SectionChecked(section_index=0, claims=message["claims"]),
        events.StepFinished(step="check_claims", ms=1),
    )  # fmt: skip
    assert "Bill" not in shown(out)
    assert "1 quoted" in shown(out)
    show(
        listener,
        events.RunFinished(outcome="answered", stop_reason="answer_complete", message=message, spent={}),
    )
    text = shown(out)
    assert text.index(SAID["may_answer"]) < text.index("quoted from") < text.index(f"{BAR} Bill  28")
    assert text.count("Bill") == 1
    assert "supported" not in text


@pytest.mark.parametrize("width", [34, 60, 100])
def test_a_run_is_shown_from_its_first_step_to_its_proof(width: int) -> None:
    text = run_told(width)
    flat = " ".join(text.split())
    for words in (
        "✓ decide_retrieval", "3 ms", "retrieval needed: a follow-up", "understood as “How many days of leave?”",
        "fallback: asked as it stands", "1 segment found by words alone", "2 segments found for “ngày phép”",
        "✓ generate_answer", "to the first words", "25 days.[1]",
        "1 unknown source id dropped", "section 2 withdrawn", "[1] Leave > Days, page 3",
        "answered · 1 citation · 2 model calls", SAID["answers"],
    ):  # fmt: skip
        assert words in flat
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("chance", "code"),
    [
        (1.0, "answers"), (ANSWERS, "answers"), (ANSWERS - 0.01, "may_answer"), (MAY_ANSWER, "may_answer"),
        (MAY_ANSWER - 0.01, "nearest"), (0.0, "nearest"),
    ],
)  # fmt: skip
def test_how_likely_an_answer_is_one_is_one_of_three_words(chance: float, code: Answerhood) -> None:
    assert answerhood_of(chance) == code
    assert SAID[code] in answerhood_line(passages(QUOTE, QUOTE, QUOTE, assessment=assessment(chance))).plain


def test_where_nobody_has_estimated_whether_it_answers_nothing_is_said() -> None:
    assert not answerhood_line(passages(QUOTE, QUOTE, QUOTE, assessment=assessment(None)))


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
