"""What a model reads: real tags only, within its context, and nothing of a document that speaks in our voice."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Segment
from tools.llm.context import segment_context
from tools.llm.neutral import INVISIBLE, neutralise
from tools.llm.tokens import cut_to_tokens, estimate_tokens

HOSTILE = st.lists(
    st.sampled_from(
        ["[SEG=", "[", "SEG", "=", "]", "ＳＥＧ", "［", "＝", "seg", " ", "\n", "\u200b", "\u2060", "S", "E", "G",
         "a:1", "<|im_start|>", "<|", "|>", "<", ">", "system", ":", "\nassistant: ", '"sections":', "</think>",
         "[/INST]"]
    ),
    max_size=20,
).map("".join)  # fmt: skip
LOOKS_LIKE_A_TAG = re.compile(r"\[\s*SEG\s*=\s*([^\]]*)\]?", re.IGNORECASE)


def segment(
    index: int, text: str, *, document: str = "d", title: str = "T", heading: str = "", page: int | None = None
):
    return Segment(document, index, 0, len(text), text, page_idx=page, heading=heading, title=title)


INVISIBLES = {chr(c) for c in range(0xFFFF) if re.match(f"[{INVISIBLE}]", chr(c))}


@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), max_size=4))
def test_no_forged_tag_comes_through(rows):
    offered = [segment(i, text, title=title, heading=heading) for i, (text, title, heading) in enumerate(rows)]
    context = segment_context(offered, max_tokens=10_000)
    read = "".join(c for c in unicodedata.normalize("NFKC", context.text) if c not in INVISIBLES)
    assert LOOKS_LIKE_A_TAG.findall(read) == list(context.segment_ids) == [s.segment_id for s in offered]


@given(HOSTILE)
def test_markers_of_chat_templates_and_roles_lose_their_power(text):
    read = neutralise(text)
    assert "<|" not in read
    assert "|>" not in read
    assert not re.search(r"</?think>|\[/?INST\]", read, re.IGNORECASE)
    assert not re.search(r"^\s*(system|assistant|user)\s*:", read, re.IGNORECASE | re.MULTILINE)
    assert not re.search(r'"(sections|source_ids)"\s*:', read)


@pytest.mark.parametrize(
    "text", ["Plain words, [brackets] and a < b > c.", "Segments: see page 3.", "用户可以登录。", "x = [1, 2]"]
)
def test_ordinary_text_is_left_as_it_is(text):
    assert neutralise(text) == text


def test_segments_stand_under_title_heading_and_page_by_document_in_reading_order():
    context = segment_context(
        [
            segment(4, "later", heading="A > B", page=2),
            segment(0, "other", document="e", title="Other"),
            segment(3, "earlier", heading="A > B", page=2),
        ],
        max_tokens=1000,
    )
    assert context.text == "# T > A > B, page 3\n[SEG=d:3] earlier\n[SEG=d:4] later\n\n# Other\n[SEG=e:0] other"
    assert context.segment_ids == ("d:4", "e:0", "d:3")


@given(st.lists(st.text(max_size=300), min_size=1, max_size=6), st.integers(40, 400))
def test_the_context_keeps_to_its_tokens_and_to_the_best(texts, most):
    offered = [segment(i, text) for i, text in enumerate(texts)]
    context = segment_context(offered, max_tokens=most)
    assert estimate_tokens(context.text) <= most
    assert context.segment_ids == tuple(s.segment_id for s in offered)[: len(context.segment_ids)]
    assert context.segment_ids


@given(st.text(max_size=400), st.integers(1, 120))
def test_a_cut_text_keeps_to_its_tokens_and_shows_the_cut(text, most):
    cut = cut_to_tokens(text, most)
    assert estimate_tokens(cut) <= max(most, 1)
    assert cut == text or (cut.endswith("…") and text.startswith(cut[:-1]))
