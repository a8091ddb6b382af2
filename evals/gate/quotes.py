"""Whether quotes of gold evidence begin and end where its sentences do: a span that slipped is still an exact slice."""

from evals.metrics import Metric
from evals.records import Record, citations_of


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


WHOLE_QUOTES = Metric(
    name="whole_quotes",
    title="Quotes whole",
    means="citations of gold evidence that begin and end where its sentences do",
    observe=_whole,
)
