"""Chat completions of any run: the text, its marks, and spans that hold the claims that they are for."""

import json
import re
from itertools import pairwise
from typing import Any

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from answers.marks import marked_citations
from answers.quoted_runs import continues
from api.dialects.annotated_text import AnnotatedText, Numbering, SourceAddresses, by_appearance, by_index
from api.dialects.citation_marks import JOINER
from api.dialects.openai.encoder import DONE, OpenAIEncoder
from api.dialects.openai.schemas import CompletionForm, completion
from api.dialects.openai_api import DEFAULT_BASE_URL
from api.dialects.section_buffer import FinalSection
from graph.events import Envelope, RunFinished, SourcesGraded
from graph.evidence import Citation, Claim, Message, Source
from tests.api.reading import parse_frames
from tests.wire.runs import broken_runs, cancelled_runs, is_revised, logged, runs
from tests.wire.script import CITATION, SCRIPT, SOURCE

WANTED = st.builds(CompletionForm, events=st.booleans(), links=st.booleans(), usage=st.booleans())
MARK = re.compile(r"\[\[\d+\]\]\([^)]*\)|\[\d+\]")


def chunks_of(log: list[Envelope], wanted: CompletionForm) -> list[dict[str, Any]]:
    dialect = OpenAIEncoder(wanted)
    told = b"".join(map(dialect.encode, log))
    assert told.endswith(DONE)
    assert b"\r" not in told
    return [json.loads(frame["data"]) for frame in parse_frames(told.decode())[:-1]]


def deltas_of(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


def text_of(chunks: list[dict[str, Any]]) -> str:
    return "".join(delta.get("content", "") for delta in deltas_of(chunks))


def own_words(text: str) -> str:
    return MARK.sub("", text).replace(JOINER, "")


def ended(log: list[Envelope]) -> RunFinished:
    end = log[-1].event
    assert isinstance(end, RunFinished)
    return end


def spans(text: str, annotations: list[dict[str, Any]]) -> list[tuple[str, set[str]]]:
    """Give each span that is annotated, with the addresses that stand for it."""
    urls: dict[tuple[int, int], set[str]] = {}
    for each in (annotation["url_citation"] for annotation in annotations):
        urls.setdefault((each["start_index"], each["end_index"]), set()).add(each["url"])
    return [(text[start:end].replace(JOINER, ""), cited) for (start, end), cited in urls.items()]


def page_of(source: Source) -> str:
    return f"{DEFAULT_BASE_URL}/documents/{source['document_id']}#segment-{source['segment_index']}"


def proofs(message: Message) -> list[tuple[str, set[str]]]:
    """Give each claim that carries marks, with the addresses of what it cites."""
    urls = {source["index"]: source["url"] or page_of(source) for source in message["sources"]}
    marked = ((claim["text"], marked_citations(claim)) for claim in message.get("claims", []))
    return [(text, {urls[citation["source_index"]] for citation in cited}) for text, cited in marked if cited]


@given(runs(), WANTED)
@settings(phases=(Phase.generate,))
def test_text_and_spans_are_those_of_the_message(log: list[Envelope], wanted: CompletionForm) -> None:
    chunks = chunks_of(log, wanted)
    assume("error" not in chunks[-1] and not is_revised(log))
    end = ended(log)
    whole = completion("r", "s", end, wanted, created=1)["choices"][0]["message"]
    text = text_of(chunks)
    assert text == whole["content"]
    assert own_words(text) == end.message["answer"]
    assert spans(text, whole["annotations"]) == proofs(end.message)
    [annotated] = [delta["annotations"] for delta in deltas_of(chunks) if "annotations" in delta] or [[]]
    assert annotated == ([] if wanted.events else whole["annotations"])


@given(runs(), st.booleans())
@settings(phases=(Phase.generate,))
def test_a_number_is_the_place_of_its_source_among_those_that_the_client_was_given(
    log: list[Envelope], events: bool
) -> None:
    chunks = chunks_of(log, CompletionForm(events=events))
    assume("error" not in chunks[-1] and not is_revised(log))
    text = text_of(chunks)
    if events:
        shown = [chunk["event"]["data"]["metadata"][0]["source_url"] for chunk in chunks if is_source(chunk)]
    else:
        annotations = [each for delta in deltas_of(chunks) for each in delta.get("annotations", [])]
        urls = [each["url_citation"]["url"] for each in annotations]
        shown = list(dict.fromkeys(urls))
        assert urls[: len(shown)] == shown
    assert_numbers_lead_to_what_is_cited(text, shown, ended(log).message)


def assert_numbers_lead_to_what_is_cited(text: str, shown: list[str], message: Message) -> None:
    """Assert that each mark's numbers are the places of what its claim cites among the addresses that are shown."""
    assume(not re.search(r"\[\d+\]", message["answer"]))  # what a writer wrote is no mark
    marks = [re.findall(r"\d+", together) for together in re.findall(r"(?:\[\d+\])+", text)]
    claims = [claim for claim in message.get("claims", []) if marked_citations(claim)]
    joined = [  # claims that share a quote share its mark, behind the last of them
        one["section_index"] == other["section_index"] and continues(one, other) for one, other in pairwise(claims)
    ]
    cited = [urls for (_, urls), has_more in zip(proofs(message), [*joined, False], strict=False) if not has_more]
    assert [{shown[int(number) - 1] for number in numbers} for numbers in marks] == cited


def is_source(chunk: dict[str, Any]) -> bool:
    return bool(chunk.get("event", {}).get("type") == "source")


@given(st.one_of(runs(), broken_runs(), cancelled_runs()), WANTED)
@settings(phases=(Phase.generate,))
def test_whatever_happens_every_frame_but_an_error_is_a_chunk(log: list[Envelope], wanted: CompletionForm) -> None:
    chunks = chunks_of(log, wanted)
    failed = "error" in chunks[-1]
    if failed:
        [error] = chunks.pop().values()
        retracted = error["code"] == "answer_rewritten"
        assert retracted or not isinstance(log[-1].event, RunFinished)
    for chunk in chunks:
        assert chunk["object"] == "chat.completion.chunk"
        assert isinstance(chunk["choices"], list)
    assert deltas_of(chunks)[0] == {"role": "assistant", "content": ""}
    reasons = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice["finish_reason"]]
    assert reasons == ([] if failed else ["length" if ended(log).outcome == "cancelled" else "stop"])
    assert ["usage" in chunk for chunk in chunks].count(True) == (wanted.usage and not failed)


def test_a_source_that_was_shown_keeps_its_number_or_the_stream_ends() -> None:
    [graded] = [event for event in SCRIPT if isinstance(event, SourcesGraded)]
    other = graded.sources[0] | {"segment_id": "another:0"}
    log = logged([graded, SourcesGraded(sources=[other])])
    *_, shown, failed = chunks_of(log, CompletionForm(events=True))
    assert shown["event"]["data"] == {"description": "The answer failed", "done": True}
    assert failed["error"]["code"] == "answer_rewritten"


def test_a_link_lands_where_the_quote_stands_and_a_number_means_one_place() -> None:
    words = "Oil burns long. Wax burns short. Gas is bright."
    one = Source(**{**SOURCE, "index": 1, "url": "https://lamps.example/fuel"})
    cited = [
        Citation(**{**CITATION, "source_index": 1, "quote": quote, "anchor": anchor})
        for quote, anchor in (
            ("Oil burns long.", "oil"),
            ("Wax burns short.", "wax (white)"),
            ("Gas is bright.", "oil"),
        )
    ]
    claims = [
        Claim(
            start=words.index(each["quote"]),
            end=words.index(each["quote"]) + len(each["quote"]),
            text=each["quote"],
            verdict="supported",
            reasons=[],
            citations=[each],
        )
        for each in cited
    ]

    def written(numbering: Numbering, *, links: bool) -> tuple[str, list[str]]:
        addresses = SourceAddresses("https://citewell.example")
        addresses.learn([one])
        text = AnnotatedText(addresses, numbering, links=links)
        told = "".join(text.write(FinalSection(0, words, [], claims)))
        return told, [each["url_citation"]["url"] for each in text.annotations]

    oil, wax = "https://lamps.example/fuel#oil", "https://lamps.example/fuel#wax%20%28white%29"
    assert written(by_appearance(), links=False) == (
        "Oil burns long.[1] Wax burns short.[2] Gas is bright.[1]",
        [oil, wax, oil],
    )
    text, urls = written(by_index, links=True)
    assert (text.count(f"[[1]]({oil})"), urls) == (3, [oil, wax, oil])
