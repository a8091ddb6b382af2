"""Whether a judge has a say in a language, by the results of its exam in this one or in others."""

from collections.abc import Sequence
from dataclasses import dataclass

from graph.reasons import Reason
from prompts import lines
from tools.judges.exam import Exam
from tools.judges.exam_marking import LanguageResult
from tools.judges.exam_store import StoredExam

ELSEWHERE = 2  # languages in which a judge must have passed to have a say in one that the exam has no claims in


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a judge has a say in a language: the result that it ``passed`` or ``failed`` with, or none of the two.

    ``reason`` is why it has no say, or in which other languages it was examined.
    """

    passed: LanguageResult | None = None
    failed: LanguageResult | None = None
    reason: str = ""


def standing_of(judge: str, stored: StoredExam | None, exam: Exam, language: str) -> Standing | None:
    """Return what the results of a judge say of a language; None where it takes an exam to know.

    In a language that the exam has no claims in a judge has a say that passed in two others, by the stricter result.
    """
    results = stored.languages if stored else {}
    if language in exam.languages:
        if (result := results.get(language)) is None:
            return None
        if result.passed:
            return Standing(passed=result)
        return Standing(failed=result, reason=no_judge(language, f"{judge} failed it; {'; '.join(result.faults)}."))
    passed = sorted((each for each in results.values() if each.passed), key=lambda each: each.threshold or 0.0)
    if len(passed) >= ELSEWHERE:
        others = language_names([code for code in exam.languages if any(code == each.language for each in passed)])
        return Standing(passed=passed[-1], reason=Reason("judged_elsewhere", language_names([language]), others))
    failed = [each for each in results.values() if not each.passed]
    if len(failed) >= ELSEWHERE:
        others = language_names([each.language for each in failed])
        why = f"it has no claims in it, and {judge} failed in {others}."
        return Standing(failed=failed[0], reason=no_judge(language, why))
    return None


def missing_exams(stored: StoredExam | None, exam: Exam, language: str) -> list[str]:
    """Return the languages whose exam it takes to know the standing of a judge in one that is not known."""
    if language in exam.languages:
        return [language]
    results = stored.languages if stored else {}
    passed = sum(each.passed for each in results.values())
    return [code for code in exam.languages if code not in results][: ELSEWHERE - passed]


def no_judge(language: str, why: str) -> Reason:
    """Return the reason why no judge has a say in a language."""
    return Reason("no_judge", language_names([language]), why)


def language_names(languages: Sequence[str]) -> str:
    """Return the English names of languages (ISO 639-1) as a list in words."""
    names = [lines("en").languages.get(code, code) for code in languages]
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
