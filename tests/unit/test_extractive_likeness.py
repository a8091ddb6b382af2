"""How alike a question and sentences are, alone and behind what stands above them."""

import numpy as np
import pytest

from tools.extractive.similarity import measure_in_place, measure_similarity

SENTENCES = (
    "The crossing takes 55 minutes.",
    "- Dogs, 2 euros each",
    "  indented",
    "渡船每天八点开。",
    "Vé là 13 euro.",
)
OPENINGS = ("The Norholm ferry:", "Fares | adult:", "轮渡:", ":", "Giá vé: :")


def test_a_sentence_behind_an_opening_is_as_alike_as_the_two_written_together() -> None:
    together = [f"{opening} {sentence}" for opening, sentence in zip(OPENINGS, SENTENCES, strict=True)]
    question = "How long does the ferry take?"
    alone, behind = measure_in_place(question, SENTENCES, OPENINGS, np.arange(len(SENTENCES)))
    assert behind.tolist() == pytest.approx(measure_similarity(question, together).sentences.tolist(), abs=1e-6)
    assert alone.tolist() == measure_similarity(question, SENTENCES).sentences.tolist()
    assert behind.tolist() != pytest.approx(alone.tolist(), abs=1e-2)


def test_what_means_the_same_is_more_alike() -> None:
    alike = measure_similarity(
        "How long does the ferry take?", ("The ferry takes an hour.", "Rye bread is sold on Fridays.")
    )
    assert 0.5 < alike.coverage <= 1.0
    assert alike.sentences[0] > alike.sentences[1]


def test_likeness_counts_for_nothing_in_a_language_that_the_model_does_not_know() -> None:
    alike = measure_similarity("渡船要多久？", ("渡船要五十五分钟。", "周五卖黑麦面包。"))
    assert (alike.coverage, alike.sentences.tolist()) == (0.0, [0.0, 0.0])
