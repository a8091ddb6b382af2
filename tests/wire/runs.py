"""Whole runs as the graph tells them, for properties that hold for every run: no event that a node would not write."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID

from hypothesis import strategies as st

from answers.quoted_runs import quoted_once
from graph import events as told
from graph.events import AnyEvent, Envelope
from graph.evidence import Claim, Disagreement, Message, SectionClaim, Source, Spent
from tests.standing_sections import standing_sections
from tests.wire.texts import FAILED, Written, citation, claim, sentences, source, uncited, written

RUN_ID = str(UUID(int=0x4000_8000_0000_0000_0001))
SESSION_ID = str(UUID(int=0x4000_8000_0000_0000_0002))
MESSAGE_ID = str(UUID(int=0x4000_8000_0000_0000_0003))
AT = "2026-11-21T12:00:00.000Z"
ASSESSED = told.AnswerAssessed(supported=True, utility=0.9, claims={"supported": 1}, reason="1 supported")
SPENT = {"generate_answer": Spent(calls=1, tokens=42, ms=3.5)}
FAILURE = told.RunFailed(code="model_unavailable", message="No reply.", suggestion="Try again.", retryable=True)


@dataclass
class Telling:
    """A run while it is told."""

    draw: st.DrawFn
    crashes: bool = True  # whether its process may die
    events: list[AnyEvent] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    sections: list[Written] = field(default_factory=list)
    attempt: int = 1

    def tell(self, *events: AnyEvent) -> None:
        self.events += events

    def step(self, name: str, *events: AnyEvent, valid: Sequence[int], first: Sequence[AnyEvent] | None = None) -> None:
        """Tell a step; a process that dies in it leaves some of it behind, and another does the whole of it again.

        ``first`` is what the first try told where that was something else.
        """
        whole = [told.StepStarted(step=name), *events, told.StepFinished(step=name, ms=1.5)]
        if self.crashes and self.draw(st.integers(0, 5)) == 0:
            begun = [told.StepStarted(step=name), *(events if first is None else first)]
            self.tell(*begun[: self.draw(st.integers(1, len(begun)))])
            self.attempt += 1
            self.tell(told.RunResumed(attempt=self.attempt, sections=list(valid)))
        self.tell(*whole)

    def written(self, index: int, text: str, source_ids: list[str]) -> list[AnyEvent]:
        """Write a section, its text cut anywhere."""
        cuts = sorted(self.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=5)))
        edges = [0, *(cut for cut in cuts if cut < len(text)), len(text)]
        deltas = [told.TextDelta(section_index=index, delta=text[a:b]) for a, b in pairwise(edges)]
        removed = told.ContentRemoved(section_index=index, kind="link", target="https://evil.example/")
        return [
            told.SectionStarted(section_index=index),
            *deltas,
            *([removed] if self.draw(st.integers(0, 4)) == 0 else []),
            told.SectionFinished(section_index=index, text=text, source_ids=source_ids),
        ]

    @property
    def standing(self) -> list[int]:
        return [index for index, section in enumerate(self.sections) if section.text]


def begin(run: Telling, *, needs_retrieval: bool) -> None:
    """Start, and decide."""
    if run.draw(st.booleans()):
        run.tell(told.Queued(position=1))
    caps = told.BudgetCaps(model_calls=8, tokens=None, seconds=120.0)
    run.tell(told.RunStarted(question="Why?", message_id=MESSAGE_ID, family="llm", model="scripted", budget=caps))
    decided = told.RetrievalDecided(
        needs_retrieval=needs_retrieval,
        reason="scripted",
        standalone_question="Why?",
        intent="content_query" if needs_retrieval else "small_talk",
    )
    run.step("decide_retrieval", decided, valid=[])


def gather(run: Telling, *, valid: Sequence[int], kept: int) -> None:
    """Search and grade; sources are only ever appended."""
    found = told.SourcesFound(kind="search", query="why", count=kept)
    run.step("search_segments", found, valid=valid)
    first = len(run.sources) + 1
    run.sources = [*run.sources, *(source(index, run.draw(PAGES)) for index in range(first, first + kept))]
    dropped = [told.Dropped(segment_id=f"{UUID(int=9)}:0", reason="off the subject")]
    run.step("grade_segments", told.SourcesGraded(sources=list(run.sources), dropped=dropped), valid=valid)


PAGES = st.sampled_from([None, 0, 2])


def write(run: Telling, *, matched: bool) -> list[AnyEvent]:
    """Write one to four sections; ``matched``: the writer names no source."""
    events: list[AnyEvent] = [told.ThinkingDelta(delta="Let me see.")] if run.draw(st.booleans()) else []
    run.sections = []
    for index in range(run.draw(st.integers(1, 4))):
        section = run.draw(written(run.sources, index))
        run.sections.append(uncited(section) if matched else section)
        events += run.written(index, section.text, [] if matched else section.source_ids)
    return events


def answered(run: Telling) -> None:
    """Write, check, repair, withdraw, quote what disagrees, assess; where all is withdrawn, refuse."""
    begin(run, needs_retrieval=True)
    gather(run, valid=[], kept=run.draw(st.integers(1, 4)))
    matched = run.draw(st.integers(0, 3)) == 0
    void = write(run, matched=matched)
    run.step("generate_answer", *write(run, matched=matched), valid=[], first=void)
    rounds = run.draw(st.integers(0, 2))
    judged: list[AnyEvent] = [
        told.SectionChecked(section_index=index, claims=section.claims) for index, section in enumerate(run.sections)
    ]
    checked = [*by_code(run), *judged]
    while rounds and any(section.failed for section in run.sections):
        every = list(range(len(run.sections)))
        run.step("check_claims", *checked, valid=every)
        run.tell(told.QueryRewritten(query="another", reason="claims failed", attempt=1))
        gather(run, valid=every, kept=run.draw(st.integers(0, 1)))
        run.step("generate_answer", valid=every)
        checked = revise(run)
        rounds -= 1
    before = list(range(len(run.sections)))
    run.step("check_claims", *checked, *withdraw(run), *(disagree(run) if run.standing else []), valid=before)
    if run.standing:
        run.step("assess_quality", ASSESSED, valid=list(range(len(run.sections))))
        run.tell(*([told.TitleChanged(title="Leave")] if run.draw(st.booleans()) else []))
        finish(run, "answered", "answer_complete")
    else:
        refuse(run, "claims_not_supported")


def by_code(run: Telling) -> list[AnyEvent]:
    """Check sections before a judge that has yet to speak decides on what is open in them."""
    return [
        told.SectionChecked(section_index=index, claims=[pending(each) for each in section.claims], judging=True)
        for index, section in enumerate(run.sections)
        if run.draw(st.booleans())
    ]


def pending(decided: Claim) -> Claim:
    """Give a claim as it stands before a judge has spoken of it, where one is to."""
    if decided["verdict"] == "supported":
        return decided
    return Claim(**{**decided, "verdict": "unverified", "mark": "pending"})


def revise(run: Telling) -> list[AnyEvent]:
    """Take some revisions of the sections that failed."""
    events: list[AnyEvent] = []
    for index, section in enumerate(run.sections):
        if section.failed and run.draw(st.booleans()):
            run.sections[index] = better = run.draw(written(run.sources, index))
            events += revised(index, section, better)
    return events


def withdraw(run: Telling) -> list[AnyEvent]:
    """Take back the claims that failed; a section goes with its last one."""
    events: list[AnyEvent] = []
    for index, section in enumerate(run.sections):
        if section.failed:
            run.sections[index] = Written("", [], []) if section.hopeless else passed(section)
            events += revised(index, section, run.sections[index])
    return events


def passed(section: Written) -> Written:
    """Leave what did not fail of a section."""
    text, claims = "", list[Claim]()
    for each in section.claims:
        if each["verdict"] not in FAILED:
            text += " " if text else ""
            kept = claim(text, each["text"], each["verdict"], each["citations"], repeated="by" in each)
            claims.append(Claim(**kept, mark=each["mark"]) if "mark" in each else kept)
            text += each["text"]
    return Written(text, section.source_ids, claims)


def revised(index: int, before: Written, section: Written) -> list[AnyEvent]:
    """Replace a section, and say what of it no longer holds."""
    failed = [each for each in before.claims if each["verdict"] in FAILED]
    return [
        told.SectionRevised(
            section_index=index, text=section.text, source_ids=section.source_ids, claims=section.claims
        ),
        told.Correction(section_index=index, claims=failed, text=f"Correction of section {index}."),
    ]


def disagree(run: Telling) -> list[AnyEvent]:
    """Quote two sources that contradict each other, as a last section."""
    if len(run.sources) < 2 or run.draw(st.integers(0, 2)):
        return []
    index, pair = len(run.sections), run.sources[:2]
    ids = [each["segment_id"] for each in pair]
    text = f"The sources disagree. {run.draw(sentences())}"
    proofs = [citation(each, "supported", index) for each in pair]
    run.sections.append(Written(text, ids, [claim("", text, "supported", proofs)]))
    return [
        told.SourcesDisagree(segment_ids=ids, reason="25 and 30 days"),
        *run.written(index, text, ids),
        told.SectionChecked(section_index=index, claims=run.sections[index].claims),
    ]


def refuse(run: Telling, reason: str) -> None:
    """Say no, in a section behind those that were withdrawn."""
    text, index = run.draw(sentences()), len(run.sections)
    run.sections = [*run.sections, Written(text, [], [])]
    run.step("abstain", *run.written(index, text, []), valid=list(range(index)))
    finish(run, "abstained", reason)


def abstained(run: Telling) -> None:
    """Find nothing, before or after another query."""
    begin(run, needs_retrieval=True)
    gather(run, valid=[], kept=0)
    run.step("rewrite_query", told.QueryRewritten(query="why not", reason="nothing relevant", attempt=1), valid=[])
    gather(run, valid=[], kept=0)
    refuse(run, "nothing_relevant")


def direct(run: Telling) -> None:
    """Answer without the library; a writer that has nothing to say without it refuses."""
    begin(run, needs_retrieval=False)
    run.sections = [Written(text, [], []) for text in run.draw(st.lists(sentences(), max_size=2))]
    replies = [run.written(index, section.text, []) for index, section in enumerate(run.sections)]
    run.step("answer_directly", *(event for reply in replies for event in reply), valid=[])
    if run.sections:
        finish(run, "answered", "no_retrieval_needed")
    else:
        refuse(run, "library_not_allowed")


def listed(run: Telling) -> None:
    """List documents from the catalogue, each a source, without a claim."""
    decided = told.RetrievalDecided(
        needs_retrieval=False, reason="scripted", standalone_question="Why?", intent="about_library"
    )
    caps = told.BudgetCaps(model_calls=8, tokens=None, seconds=120.0)
    run.tell(told.RunStarted(question="Why?", message_id=MESSAGE_ID, family="llm", model="scripted", budget=caps))
    run.step("decide_retrieval", decided, valid=[])
    run.sources = [source(index, run.draw(PAGES)) for index in range(1, run.draw(st.integers(0, 3)) + 1)]
    ids = [each["segment_id"] for each in run.sources]
    run.sections = [Written(run.draw(sentences()), ids, [])]
    graded = [told.SourcesGraded(sources=list(run.sources))] if ids else []
    run.step("answer_directly", *graded, *run.written(0, run.sections[0].text, ids), valid=[])
    finish(run, "answered", "answered_from_catalogue")


def finish(run: Telling, outcome: str, stop_reason: str) -> None:
    """End with the message that the storage would hold."""
    place = {index: at for at, index in enumerate(run.standing)}
    claims = [
        SectionClaim(**each, section_index=place[index])
        for index in run.standing
        for each in run.sections[index].claims
    ]
    for each in claims:
        each["citations"] = [{**one, "section_index": each["section_index"]} for one in each["citations"]]
    sections = [run.sections[index].section for index in run.standing]
    message = Message(
        answer="\n\n".join(section["text"] for section in sections),
        sections=sections,
        citations=quoted_once(claims),
        sources=[] if outcome == "abstained" else run.sources,
        family="llm",
        claims=claims,
        disagreements=list[Disagreement](),
    )
    if outcome == "abstained":
        message["nearest"] = run.sources
    run.tell(told.RunFinished(outcome=outcome, stop_reason=stop_reason, message=message, spent=SPENT))


class Log(list[Envelope]):
    """A run's log, shown a line an event: hypothesis warns of examples whose text is very long."""

    def __repr__(self) -> str:
        return "\n".join(f"{envelope.seq} {envelope.event!r}"[:400] for envelope in self)


def logged(events: Sequence[AnyEvent]) -> Log:
    """Number events as a run's log."""
    return Log(Envelope(RUN_ID, SESSION_ID, seq, AT, event) for seq, event in enumerate(events, start=1))


def is_revised(log: Sequence[Envelope]) -> bool:
    """Whether text changed after its check: formats that can't take it back then tell the new version beside it."""
    return any(isinstance(envelope.event, told.SectionRevised) for envelope in log)


Kind = Callable[[Telling], None]


@st.composite
def runs(draw: st.DrawFn, *kinds: Kind) -> list[Envelope]:
    """Give a whole run of one of the kinds, with recoveries from crashes, up to its consistent end."""
    run = Telling(draw)
    draw(st.sampled_from(kinds or (answered, answered, answered, abstained, direct, listed)))(run)
    return logged(run.events)


@st.composite
def broken_runs(draw: st.DrawFn) -> list[Envelope]:
    """Give a run that fails somewhere in the middle."""
    events = [envelope.event for envelope in draw(runs())]
    started = next(at for at, event in enumerate(events) if isinstance(event, told.RunStarted))
    return logged([*events[: draw(st.integers(started + 1, len(events) - 1))], FAILURE])


@st.composite
def cancelled_runs(draw: st.DrawFn) -> list[Envelope]:
    """Give a run that is stopped somewhere in the middle: what was finished by then is its message, unproven."""
    run = Telling(draw, crashes=False)
    draw(st.sampled_from((answered, abstained, direct, listed)))(run)
    started = next(at for at, event in enumerate(run.events) if isinstance(event, told.RunStarted))
    events = run.events[: draw(st.integers(started + 1, len(run.events) - 1))]
    sections = standing_sections(events)
    answer = "\n\n".join(section["text"] for section in sections)
    message = Message(answer=answer, sections=sections, citations=[], sources=[], family="llm")
    return logged(
        [*events, told.RunFinished(outcome="cancelled", stop_reason="cancel_requested", message=message, spent=SPENT)]
    )


@st.composite
def rewritten_runs(draw: st.DrawFn) -> list[Envelope]:
    """Give a run that lost all it had when its process died, and was then answered in other words."""
    lost, done = Telling(draw, crashes=False), Telling(draw, crashes=False)
    for run in (lost, done):
        answered(run)
    started = next(at for at, event in enumerate(lost.events) if isinstance(event, told.RunStarted))
    decided = next(at for at, event in enumerate(done.events) if isinstance(event, told.RetrievalDecided))
    before = lost.events[: draw(st.integers(started + 1, len(lost.events) - 1))]
    return logged([*before, told.RunResumed(attempt=2, sections=[]), *done.events[decided:]])
