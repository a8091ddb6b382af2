"""Measurement of what the claim checker catches, and of its false alarms, on claims known to be true or false.

The checker is that of the extractive family: code alone. No library is opened.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from typing_extensions import TypedDict

from answers.checking import worst_verdict
from evals.pacing import Progress
from evals.sets.xquad import load_xquad
from graph.errors import InvalidRequest
from graph.evidence import Segment, Verdict
from graph.ports import ClaimChecker, WrittenSection
from graph.usage import Meter
from research.mutations.claim_making import (
    FRESH,
    LANGUAGES,
    RELATION,
    VERBATIM,
    ClaimCase,
    Paragraph,
    load_cases,
    make_cases,
)
from tools.backends.backend_registry import configured_families
from tools.settings import EXTRACTIVE, Settings

_DEFAULT_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


class Kind(TypedDict):
    """One kind of false claim: the count and the share of each verdict; ``caught`` is contradicted plus unsupported."""

    n: int
    caught: float
    contradicted: float
    unsupported: float
    unverified: float
    supported: float


class Rewording(TypedDict):
    """One kind of true claim: the count, the share of false alarms, and the share found supported."""

    n: int
    false_alarms: float
    supported: float


class LanguageReport(TypedDict):
    """Shares in [0, 1]. ``caught`` is that of the ``n_mutants`` false claims of all kinds but the two below.

    ``caught_fresh`` is the share of those whose kind ends in ``_fresh``: their cues were written after the checker.
    ``relation_supported`` is the share of claims with right words in a wrong relation that passed as supported. A
    figure with nothing to count is None; false alarms are then 0.
    """

    n: int
    n_mutants: int
    n_verbatim: int
    n_paraphrases: int
    caught: float | None
    caught_fresh: float | None
    false_alarms_verbatim: float
    false_alarms_paraphrase: float
    supported_verbatim: float | None
    supported_paraphrase: float | None
    relation_supported: float | None
    kinds: dict[str, Kind]
    paraphrases: dict[str, Rewording]


class ClaimsReport(TypedDict):
    """The report of each language, by ISO 639-1 code."""

    languages: dict[str, LanguageReport]


def made_cases(folder: Path | None = None) -> list[ClaimCase]:
    """Make the set from the paragraphs of ``xquad/{en,zh,vi}.json`` in a folder; the same cases each time.

    The folder defaults to ``shared/data`` next to the checkout. Raises InvalidRequest where a file is missing.
    """
    data = folder or _DEFAULT_DATA
    files = {language.code: data / "xquad" / f"{language.code}.json" for language in LANGUAGES}
    for path in files.values():
        if not path.is_file():
            where = "" if folder else " next to the checkout"
            raise InvalidRequest(f"--data: there is no xquad/{path.name} in the data folder{where}.")
    cases: list[ClaimCase] = []
    for language in LANGUAGES:
        data_set = load_xquad(files[language.code])
        paragraphs = [Paragraph(text, page) for text, page in zip(data_set.paragraphs, data_set.articles, strict=True)]
        cases += make_cases(paragraphs, language)
    return cases


def chosen_cases(*, path: Path | None, data: Path | None) -> list[ClaimCase]:
    """Load cases from a file or make them from a data folder. Raises InvalidRequest for both, or where that fails."""
    if path is not None and data is not None:
        raise InvalidRequest("--data: use either --path or --data, not both.")
    return load_cases(path) if path is not None else made_cases(data)


async def run_claims(
    settings: Settings, cases: Sequence[ClaimCase], *, progress: Progress | None = None
) -> ClaimsReport:
    """Check every case with the extractive family's checker and count the verdicts by language and kind."""
    checker = configured_families(settings)(EXTRACTIVE).checker
    decided: list[tuple[ClaimCase, Verdict]] = []
    for number, case in enumerate(cases, 1):
        decided.append((case, await verdict_of(checker, case)))
        if progress is not None:
            progress(number, len(cases))
    languages = dict.fromkeys(case.lang for case in cases)
    return ClaimsReport(
        languages={lang: _language([each for each in decided if each[0].lang == lang]) for lang in languages}
    )


async def verdict_of(checker: ClaimChecker, case: ClaimCase) -> Verdict:
    """Check a claim with its evidence as the only source; of several sentences the worst verdict counts."""
    evidence = Segment("evidence", 0, 0, len(case.evidence), case.evidence)
    checked = await checker.check([WrittenSection(case.claim, (evidence,))], meter=Meter(calls_left=0))
    return worst_verdict({claim.verdict for claim in checked.sections[0]}, of_none="unverified")


def _language(decided: Sequence[tuple[ClaimCase, Verdict]]) -> LanguageReport:
    verbatim = [verdict for case, verdict in decided if case.supported and case.kind == VERBATIM]
    reworded = _by_kind((case, verdict) for case, verdict in decided if case.supported and case.kind != VERBATIM)
    wrong = _by_kind((case, verdict) for case, verdict in decided if not case.supported)
    fresh = [verdict for kind, verdicts in wrong.items() if kind.endswith(FRESH) for verdict in verdicts]
    shown = [kind for kind in wrong if kind != RELATION and not kind.endswith(FRESH)]
    caught = [verdict for kind in shown for verdict in wrong[kind]]
    paraphrases = [verdict for verdicts in reworded.values() for verdict in verdicts]
    return LanguageReport(
        n=len(decided),
        n_mutants=len(caught),
        n_verbatim=len(verbatim),
        n_paraphrases=len(paraphrases),
        caught=_caught(caught) if caught else None,
        caught_fresh=_caught(fresh) if fresh else None,
        false_alarms_verbatim=_caught(verbatim),
        false_alarms_paraphrase=_caught(paraphrases),
        supported_verbatim=_share(verbatim, "supported") if verbatim else None,
        supported_paraphrase=_share(paraphrases, "supported") if paraphrases else None,
        relation_supported=_share(wrong[RELATION], "supported") if RELATION in wrong else None,
        kinds={kind: _kind(verdicts) for kind, verdicts in wrong.items()},
        paraphrases={
            kind: Rewording(n=len(verdicts), false_alarms=_caught(verdicts), supported=_share(verdicts, "supported"))
            for kind, verdicts in reworded.items()
        },
    )


def _by_kind(decided: Iterable[tuple[ClaimCase, Verdict]]) -> Mapping[str, list[Verdict]]:
    kinds: dict[str, list[Verdict]] = {}
    for case, verdict in decided:
        kinds.setdefault(case.kind, []).append(verdict)
    return dict(sorted(kinds.items()))


def _kind(verdicts: Sequence[Verdict]) -> Kind:
    return Kind(
        n=len(verdicts),
        caught=_caught(verdicts),
        contradicted=_share(verdicts, "contradicted"),
        unsupported=_share(verdicts, "unsupported"),
        unverified=_share(verdicts, "unverified"),
        supported=_share(verdicts, "supported"),
    )


def _caught(verdicts: Sequence[Verdict]) -> float:
    return _share(verdicts, "contradicted", "unsupported")


def _share(verdicts: Sequence[Verdict], *which: Verdict) -> float:
    return round(sum(verdict in which for verdict in verdicts) / max(1, len(verdicts)), 4)
