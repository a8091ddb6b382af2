"""Whether citations stand where they belong: an exact slice of an offered segment can still be the wrong slice."""

from collections import Counter

from evals.metrics import Metric
from evals.metrics.wording import words
from evals.records import ClaimRecord, Record, citations_of, claims_by_writer


def _whole(record: Record) -> list[float]:
    known = {
        (gold["document"], gold["index"]): (gold["start"], gold["end"])
        for gold in [*record["accepted"], *(gold for chosen in record["evidence"] for gold in chosen)]
    }
    whole: list[float] = []
    for citation in citations_of(record):
        spans = [known.get((citation["document"], index)) for index in citation["sentences"]]
        found = [span for span in spans if span is not None]
        if found and len(found) == len(spans):
            start, end = min(found)[0], max(found)[1]
            whole.append(float((start, end) == (citation["start"], citation["end"])))
    return whole


def _own_words(record: Record) -> list[float]:
    return [_share_quoted(claim) for claim in claims_by_writer(record) if claim["verdict"] == "supported"]


def _share_quoted(claim: ClaimRecord) -> float:
    said = Counter(words(claim["text"]))
    quoted = Counter(words(" ".join(citation["quote"] for citation in claim["citations"])))
    return (said & quoted).total() / max(1, said.total())


QUOTES = (
    Metric(
        name="whole_quotes",
        title="Quotes whole",
        means="citations of gold evidence that begin and end where its sentences do",
        observe=_whole,
    ),
    Metric(
        name="claims_in_own_quotes",
        title="Claims in their own quotes",
        means="words of a supported claim that stand in the quotes it cites itself",
        observe=_own_words,
    ),
)
