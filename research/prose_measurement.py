"""Measurement of verdicts on true and false claims in a strong model's words, and on false near-twins."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from evals.pacing import Progress
from graph.errors import InvalidRequest
from graph.evidence import Segment, Verdict
from graph.ports import ClaimChecker, WrittenSection
from graph.usage import Meter
from research.claims import worst_verdict


class ProseClaim(BaseModel, frozen=True):
    """A claim, its evidence passages with their title and heading, and whether it follows from them."""

    evidence: list[str] | str
    claim: str
    lang: str
    kind: str
    supported: bool
    title: str = ""
    heading: str = ""

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The passages as segments of documents."""
        texts = [self.evidence] if isinstance(self.evidence, str) else self.evidence
        return tuple(
            Segment(f"evidence-{at}", 0, 0, len(text), text, title=self.title, heading=self.heading)
            for at, text in enumerate(texts)
        )


class Rates(TypedDict):
    """Counts of true and false claims, and the shares of each in [0, 1]; None where there are none.

    Failed and caught both mean found contradicted or unsupported.
    """

    true: int
    true_supported: float | None
    true_failed: float | None
    false: int
    false_supported: float | None
    false_caught: float | None


class ProseReport(TypedDict):
    """The rates over all claims, by language and by kind."""

    all: Rates
    languages: dict[str, Rates]
    kinds: dict[str, Rates]


Judged = tuple[ProseClaim, Verdict]


def load_prose(path: Path) -> list[ProseClaim]:
    """Load claims from JSON lines. Raises InvalidRequest where the file can't be read, naming the faulty line."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"--path: {path} can't be read as text.") from error
    claims: list[ProseClaim] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
            claims.append(ProseClaim.model_validate(row))
        except (ValueError, ValidationError) as error:
            raise InvalidRequest(f"--path: line {number} of {path} is no claim.") from error
    if not claims:
        raise InvalidRequest(f"--path: {path} holds no claim.")
    return claims


async def run_prose(checker: ClaimChecker, path: Path, *, progress: Progress | None = None) -> ProseReport:
    """Check every claim of a file against its evidence; of several sentences the worst verdict counts."""
    claims = load_prose(path)
    judged: list[Judged] = []
    for number, claim in enumerate(claims, 1):
        checked = await checker.check([WrittenSection(claim.claim, claim.segments)], meter=Meter())
        verdicts = {each.verdict for each in checked.sections[0]}
        judged.append((claim, worst_verdict(verdicts, of_none="unverified")))
        if progress is not None:
            progress(number, len(claims))
    return ProseReport(
        all=_rates(judged),
        languages={lang: _rates([one for one in judged if one[0].lang == lang]) for lang in _sorted(judged, "lang")},
        kinds={kind: _rates([one for one in judged if one[0].kind == kind]) for kind in _sorted(judged, "kind")},
    )


def _sorted(judged: Sequence[Judged], field: str) -> list[str]:
    return sorted({str(getattr(claim, field)) for claim, _ in judged})


def _rates(judged: Sequence[Judged]) -> Rates:
    true = Counter(verdict for claim, verdict in judged if claim.supported)
    false = Counter(verdict for claim, verdict in judged if not claim.supported)
    return Rates(
        true=true.total(),
        true_supported=_share(true, "supported"),
        true_failed=_share(true, "contradicted", "unsupported"),
        false=false.total(),
        false_supported=_share(false, "supported"),
        false_caught=_share(false, "contradicted", "unsupported"),
    )


def _share(counts: Counter[Verdict], *verdicts: Verdict) -> float | None:
    return round(sum(counts[each] for each in verdicts) / counts.total(), 4) if counts else None
