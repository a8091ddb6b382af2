"""WiCE's figures, counted by hand on a small file of invented claims."""

import json
from pathlib import Path

import numpy as np
import pytest

from evals.bootstrap import balanced_accuracy
from evals.sets.wice import WiCEClaim, load_wice, page_of
from graph.errors import InvalidRequest
from research.fitting.fit_support import held_out, support_rows
from research.wice_measurement import best_threshold, run_wice, word_coverage
from tools.backends.backend_registry import configured_families
from tools.claims.lexical_support import SUPPORT_THRESHOLD
from tools.settings import Settings

BRIDGE = [
    "# Bridges",
    "The Cedar Bridge was finished in 1911.",
    "It carries two lanes.",
    "The bakery opens at six.",
    "Write to us @ the town hall.",
]


def row(label: str, claim: str, sets: list[list[int]], article: str = "Town") -> dict[str, object]:
    return {
        "label": label,
        "supporting_sentences": sets,
        "claim": claim,
        "evidence": BRIDGE,
        "meta": {"claim_title": article},
    }


def written(tmp_path: Path, *rows: dict[str, object]) -> Path:
    file = tmp_path / "claims.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


ROWS = (
    row("supported", "The Cedar Bridge was finished in 1911.", [[1], [0, 1]]),
    row("partially_supported", "The Cedar Bridge was finished in 1911 by Hugo Brandt of Graz.", [[1, 2]], "Bridge"),
    row("not_supported", "Otters sleep at anchor off Lisbon.", [[]], "Otter"),
)


async def test_every_figure_is_counted(tmp_path: Path) -> None:
    checker = configured_families(Settings())("extractive").checker
    report = await run_wice(checker, written(tmp_path, *ROWS))
    assert report["claims"] == 3
    assert report["figures_of"] == "the shipped weights"
    assert (report["auroc"], report["balanced_accuracy"]) == (1.0, 1.0)
    assert report["shipped"] == {"claims": 3, "auroc": 1.0, "balanced_accuracy": 1.0}
    assert report["threshold"] == SUPPORT_THRESHOLD
    assert (report["baseline_auroc"], report["baseline_balanced_accuracy"]) == (1.0, 1.0)
    assert report["baseline_threshold"] == 1.0
    # one line for the first two claims: all of the first's set [1], and half of the second's [1, 2]
    assert report["evidence_claims"] == 2
    assert report["evidence_precision"] == 1.0
    assert report["evidence_recall"] == 0.75
    assert report["evidence_f1"] == pytest.approx((1 + 2 / 3) / 2, abs=1e-4)
    assert report["evidence_lines"] == pytest.approx(2 / 3, abs=1e-3)
    assert {label: sum(counts.values()) for label, counts in report["verdicts"].items()} == {
        "supported": 1,
        "partially_supported": 1,
        "not_supported": 1,
    }
    assert report["verdicts"]["supported"]["supported"] == 1


async def test_a_file_of_one_label_is_refused(tmp_path: Path) -> None:
    checker = configured_families(Settings())("extractive").checker
    with pytest.raises(InvalidRequest, match="both supported claims and others"):
        await run_wice(checker, written(tmp_path, ROWS[0]))


def test_a_page_keeps_its_lines_through_segments() -> None:
    lines = tuple(f"Line {number} says {'word ' * 60}." for number in range(9))
    page = page_of(WiCEClaim("Town", "x", "supported", lines, ()))
    assert len(page.segments) > 1
    seen: list[int] = []
    for index, segment in enumerate(page.segments):
        for number in page.lines(index, 0, len(segment.text)):
            start = segment.text.index(lines[number])
            assert page.lines(index, start, start + len(lines[number])) == {number}
            seen.append(number)
    assert sorted(seen) == list(range(9))


def test_folds_are_of_whole_articles(tmp_path: Path) -> None:
    rows = support_rows(load_wice(written(tmp_path, *ROWS)))
    assert rows.articles == ("Town", "Bridge", "Otter")
    assert rows.supported.tolist() == [True, False, False]
    assert held_out(rows)["claims"] == 3


def test_the_baseline_is_the_share_of_words_by_rarity() -> None:
    page = ("cats sleep", "dogs sleep", "dogs bark")
    claims = [WiCEClaim("a", text, "supported", page, ()) for text in ("cats sleep", "cats fly", "fish fly", "")]
    both, one, none, empty = word_coverage(claims)
    assert (both, none, empty) == (1.0, 0.0, 0.0)
    assert 0.0 < one < 0.5  # what no page has weighs the most


def test_thresholds_are_inclusive() -> None:
    yes, no = np.array([0.5, 0.9]), np.array([0.4, 0.6])
    assert balanced_accuracy(yes, no, 0.5) == 0.75
    assert best_threshold(yes, no) == (0.5, 0.75)


@pytest.mark.parametrize("content", ["", "[]", '{"label": "true"}', '{"label": "supported"}', "3", "{"])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(content)
    with pytest.raises(InvalidRequest, match="not a WiCE file"):
        load_wice(file)


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load_wice(tmp_path / "gone.jsonl")
