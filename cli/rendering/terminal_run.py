"""Live view of a run in the terminal: steps with their times, the answer, and what proves it or came nearest."""

import time
from collections import Counter
from datetime import datetime
from functools import singledispatchmethod

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from answers.citations import excerpt
from answers.marks import DOUBTED, Grade, grade_of
from api.dialects.citation_marks import BETWEEN_SECTIONS, bracket, marked_pieces
from api.dialects.section_buffer import Retracted, SectionBuffer
from cli.console import one_line
from cli.rendering.answer import answerhood_line, quoted, show_answer, show_proof
from cli.rendering.wrapping import Flow, show_indented
from graph import events, evidence
from text.counted import counted

MARGIN = 2
STEP_COLUMN = 20
NARROWEST_NOTE = 36
LONGEST_QUERY = 120
STATUS_FRAMES = 12.5  # a second, as rich shows a status
WRITING = (events.SectionStarted, events.TextDelta, events.SectionFinished, events.SectionRevised)


class TerminalRun:
    """Live view of one run: steps and notes on one console, the answer and its proof on the other.

    A step that writes text is shown with the time to its first text; any other step is shown when it ends. What a model
    writes is shown as it may leave, with its marks, and corrected where it turns out false: a terminal takes nothing
    back. Passages are there at once, so they are shown at the end, behind what is said first of an answer: whether it
    answers.
    """

    def __init__(self, answer: Console, steps: Console, *, wrap: bool | None = None) -> None:
        self._answer, self._steps = answer, steps
        self._wrap = answer.is_terminal if wrap is None else wrap
        self._status: Live | None = None
        self._now = 0.0  # timestamp of the current event
        self._began: dict[str, float] = {}
        self._notes: dict[str, list[str]] = {}
        self._flow: Flow | None = None
        self._buffer = SectionBuffer()
        self._is_retracted = False  # what was shown of the answer is no beginning of it
        self._started = time.perf_counter()
        self._family = self._question = ""
        self._asked: set[str] = set()  # what is searched for, as far as it was shown
        self._checked: dict[int, list[Grade]] = {}  # by section: its claims as they are called now
        self._noted: dict[int, list[Grade]] = {}  # as they were when they were counted
        self._failed: dict[str, None] = {}  # failed claims with their reasons
        self._title = ""
        self._answered = False  # a section was written, and nothing after it yet
        self._deferred: list[str] = []  # remarks on a section, shown after its text

    def show(self, envelope: events.Envelope) -> None:
        """Show an event. Times are the events' timestamps, since several events may arrive at once."""
        self._now = datetime.fromisoformat(envelope.at).timestamp()
        if not (self._family == "extractive" and isinstance(envelope.event, WRITING)):
            self._write(envelope.event)
            self._show(envelope.event)

    def close(self) -> None:
        """Stop what moves on the screen, however the run has ended."""
        self._stop_status()

    @singledispatchmethod
    def _show(self, event: events.AnyEvent) -> None:
        """Show an event by its class; ignore unregistered classes."""

    @_show.register
    def _queued(self, event: events.Queued) -> None:
        self._remark(f"waiting, {event.position} ahead in the queue")

    @_show.register
    def _run_started(self, event: events.RunStarted) -> None:
        self._family, self._question = event.family, event.question
        self._asked.add(event.question)

    @_show.register
    def _run_resumed(self, event: events.RunResumed) -> None:
        self._remark(f"resumed, attempt {event.attempt}; unfinished sections are written again")

    @_show.register
    def _step_started(self, event: events.StepStarted) -> None:
        self._began[event.step] = self._now
        if self._answered:
            self._steps.print()
            self._answered = False
        if self._steps.is_terminal:
            self._stop_status()
            spinner = Spinner("dots", text=Text(event.step, style="dim"), style="status.spinner")
            # A status of rich would replace sys.stdout and sys.stderr, which in a server are not this run's.
            self._status = Live(
                spinner,
                console=self._steps,
                refresh_per_second=STATUS_FRAMES,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._status.start()

    @_show.register
    def _step_finished(self, event: events.StepFinished) -> None:
        if event.step == "check_claims":
            self._note_verdicts()
        if event.step == "rewrite_query" and event.step not in self._notes:
            self._note(event.step, "nothing else to search for")
        if event.step in self._began:
            self._step(event.step, f"{event.ms:.0f} ms")

    @_show.register
    def _retrieval_decided(self, event: events.RetrievalDecided) -> None:
        decision = "retrieval needed" if event.needs_retrieval else "no retrieval needed"
        self._note("decide_retrieval", f"{decision}: {event.reason}")
        self._asked.add(event.standalone_question)
        self._fallback("decide_retrieval", event.fallback)
        if event.standalone_question != self._question:
            self._note("decide_retrieval", f"understood as “{event.standalone_question}”")

    @_show.register
    def _pages_loaded(self, event: events.PagesLoaded) -> None:
        read = ", ".join(f"{page['title']} ({page['segments']} of {page['of']})" for page in event.used)
        if read:
            self._note("load_selected_pages", f"read {read}")
        if event.cut:
            cut = ", ".join(f"{page['title']} ({page['segments']} of {page['of']})" for page in event.cut)
            self._note("load_selected_pages", f"read partly {cut}")
        if event.unused:
            self._note("load_selected_pages", f"left out {counted(len(event.unused), 'page')}")
        if not (read or event.cut or event.unused):
            self._note("load_selected_pages", "only the selected passage")

    @_show.register
    def _sources_found(self, event: events.SourcesFound) -> None:
        step = _search_step(event)
        known = event.query in self._asked
        searched = "" if known else f" for “{excerpt(event.query, LONGEST_QUERY)}”"
        self._note(step, f"{counted(event.count, 'segment')} found{searched}")
        if event.also_searched:
            self._note(step, f"also searched for {', '.join(event.also_searched)}")
        if event.degraded:
            self._note(step, event.degraded)

    @_show.register
    def _search_failed(self, event: events.SearchFailed) -> None:
        self._note(_search_step(event), f"failed: {event.message}")

    @_show.register
    def _sources_graded(self, event: events.SourcesGraded) -> None:
        kept = f"{counted(len(event.sources), 'source')} kept, {len(event.dropped)} set aside"
        self._note("grade_segments", kept)
        self._fallback("grade_segments", event.fallback)

    @_show.register
    def _sources_disagree(self, event: events.SourcesDisagree) -> None:
        remark = f"sources disagree: {event.reason}"
        if "check_claims" in self._began:
            self._note_verdicts()
            self._note("check_claims", remark)
        else:
            self._remark(remark)

    @_show.register
    def _query_rewritten(self, event: events.QueryRewritten) -> None:
        self._note("rewrite_query", f"“{event.query}”: {event.reason}")
        self._asked.add(event.query)
        self._fallback("rewrite_query", event.fallback)

    @_show.register
    def _section_started(self, event: events.SectionStarted) -> None:
        for step in list(self._began):
            took = f"{(self._now - self._began[step]) * 1000:.0f} ms"
            self._step(step, took, "" if step == "check_claims" else "to the first words")
        if event.fallback is not None:
            self._remark(f"fallback: {event.fallback['message']}")

    @_show.register
    def _section_finished(self, event: events.SectionFinished) -> None:
        if event.unknown_ids:
            self._remark(f"{counted(event.unknown_ids, 'unknown source id')} dropped")

    @_show.register
    def _section_checked(self, event: events.SectionChecked) -> None:
        self._count_verdicts(event.section_index, event.claims)
        self._fallback("check_claims", event.fallback)

    @_show.register
    def _section_revised(self, event: events.SectionRevised) -> None:
        number = event.section_index + 1
        self._count_verdicts(event.section_index, event.claims)
        withdrawn = "told with the source that contradicts it" if event.moved else "withdrawn"
        self._remark(f"section {number} {'revised' if event.text else withdrawn}")

    @_show.register
    def _content_removed(self, event: events.ContentRemoved) -> None:
        self._remark(f"{event.kind} removed, not in any source: {event.target}")

    @_show.register
    def _answer_assessed(self, event: events.AnswerAssessed) -> None:
        judged = "supported" if event.supported else "not fully supported"
        if event.supported and not any("supported" in grades for grades in self._checked.values()):
            judged = "quoted"
        self._note("assess_quality", f"{judged}, utility {event.utility:.2f}")
        self._fallback("assess_quality", event.fallback)

    @_show.register
    def _title_changed(self, event: events.TitleChanged) -> None:
        self._title = event.title  # it comes at any time, and is told at the end

    @_show.register
    def _run_finished(self, event: events.RunFinished) -> None:
        self._stop_status()
        message = event.message
        self._close_section()
        if self._family == "extractive" or self._is_retracted:
            self._steps.print()
            show_answer(self._answer, message, wrap=self._wrap)
        else:
            show_proof(self._answer, message, wrap=self._wrap)
            if said := answerhood_line(message):
                self._answer.print()
                show_indented(self._answer, said, MARGIN)
        if self._title:
            self._remark(f"session titled “{self._title}”")
        self._steps.print()
        show_indented(self._steps, self._summary(event), MARGIN)

    @_show.register
    def _run_failed(self, event: events.RunFailed) -> None:
        self._stop_status()
        self._close_section()

    def _write(self, event: events.AnyEvent) -> None:
        """Write what a model's answer may leave of itself now, with its marks."""
        if self._is_retracted or self._family == "extractive":
            return
        try:
            parts = self._buffer.feed(event)
        except Retracted:
            self._is_retracted = True
            self._close_section()
            self._remark("the answer is written again; what was shown of it no longer holds")
            return
        for part in parts:
            if not part.start and not part.owes_marks:
                self._close_section()
                (self._answer if part.position else self._steps).print()
                self._flow = Flow(self._answer, wrap=self._wrap)
            if self._flow is not None:
                self._stop_status()
                self._flow.write("".join(marked_pieces(part, bracket)).removeprefix(BETWEEN_SECTIONS))
            if not part.open:
                self._close_section()

    def _close_section(self) -> None:
        if self._flow is not None:
            self._flow.close()
            self._flow = None
            self._answered = True
        for remark in self._deferred:
            self._remark(remark)
        self._deferred.clear()

    def _summary(self, event: events.RunFinished) -> Text:
        style = {"answered": "bold green", "abstained": "bold yellow", "cancelled": "bold red"}[event.outcome]
        calls = sum(spent["calls"] for spent in event.spent.values())
        facts = [
            counted(len({quoted(citation) for citation in event.message["citations"]}), "citation"),
            counted(calls, "model call") if calls else f"no model ({self._family})",
            *([cost_line(event.cost)] if event.cost else []),
            f"{(time.perf_counter() - self._started) * 1000:.0f} ms",
        ]
        if event.outcome == "abstained" or event.outcome == "cancelled":
            facts[0] = event.stop_reason.replace("_", " ")
        return Text.assemble((event.outcome, style), (f" · {' · '.join(facts)}", "dim"))

    def _fallback(self, step: str, fallback: evidence.Failure | None) -> None:
        if fallback is not None:
            self._note(step, f"fallback: {fallback['message']}")

    def _count_verdicts(self, section_index: int, claims: list[evidence.Claim]) -> None:
        self._checked[section_index] = [grade_of(claim) for claim in claims]
        for claim in claims:
            if claim["verdict"] in DOUBTED:
                self._failed[f"section {section_index + 1} {claim['verdict']}: {'; '.join(claim['reasons'])}"] = None

    def _note_verdicts(self) -> None:
        new = {index: grades for index, grades in self._checked.items() if self._noted.get(index) != grades}
        verdicts = Counter(grade for grades in new.values() for grade in grades)
        if verdicts:
            told = ", ".join(f"{number} {grade}" for grade, number in verdicts.items())
            self._note("check_claims", f"{counted(verdicts.total(), 'claim')}: {told}")
        for failed in self._failed:
            self._note("check_claims", failed)
        self._noted |= new
        self._failed.clear()

    def _note(self, step: str, note: str) -> None:
        self._notes.setdefault(step, []).append(one_line(note))

    def _step(self, step: str, took: str, remark: str = "") -> None:
        del self._began[step]
        self._stop_status()
        notes = [*self._notes.pop(step, []), *([remark] if remark else [])]
        line = Text.assemble("  ", ("✓ ", "green"), step.ljust(STEP_COLUMN), (took.rjust(8), "cyan"))
        indent = line.cell_len + 2
        if not notes or self._steps.width < indent + NARROWEST_NOTE:
            self._steps.print(line, soft_wrap=True)
            line, indent = Text(), 2 * MARGIN
        for note in notes:
            show_indented(self._steps, Text(note, style="dim"), indent, first=line)
            line = Text()

    def _remark(self, text: str) -> None:
        if self._flow is not None:  # it would part a line
            self._deferred.append(text)
            return
        self._stop_status()
        show_indented(self._steps, Text(one_line(text), style="yellow"), MARGIN)

    def _stop_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def _search_step(event: events.SourcesFound | events.SearchFailed) -> str:
    if event.servers:
        return "search_mcp"
    return "search_web" if event.kind == "web" else "search_segments"


def cost_line(cost: evidence.Cost) -> str:
    """Return a cost in words, with what of it is not known."""
    line = f"{'about ' if cost['estimated'] else ''}{cost['amount']} {cost['currency']}"
    return f"{line} without {', '.join(cost['unpriced'])}" if cost["unpriced"] else line
