"""Thinking is told from the answer, and characters stay whole, wherever the reply was cut."""

from hypothesis import example, given
from hypothesis import strategies as st

from tools.llm.model_reply import ReplyText, ReplyThinking, SurrogateJoiner, ThinkingSplitter


def split(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkingSplitter()
    parts = [part for piece in pieces for part in splitter.feed(piece)] + splitter.end()
    said = "".join(part.text for part in parts if isinstance(part, ReplyText))
    return said, "".join(part.text for part in parts if isinstance(part, ReplyThinking))


def pieces_of(text: str, data: st.DataObject) -> list[str]:
    points = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)))
    return [text[a:b] for a, b in zip([0, *points], [*points, len(text)], strict=True)]


@given(
    st.text(st.sampled_from("<>/think a\n"), max_size=30),
    st.text(st.sampled_from("<>/think a\n"), max_size=30),
    st.data(),
)
def test_a_think_block_never_reaches_the_answer(thought, said, data):
    thought = thought.replace("</think>", "")
    reply = f" \n<think>{thought}</think>{said}"
    expected = reply.split("<think>", 1)[1].split("</think>", 1)
    assert split(pieces_of(reply, data)) == (expected[1], expected[0])


@given(st.text(st.sampled_from("<>/think a\n"), max_size=30), st.data())
def test_every_character_of_a_reply_goes_to_one_side(text, data):
    assert split(pieces_of(text, data)) == split([text])
    if "<think>" not in text:
        assert split([text]) == (text, "")


def test_thinking_that_never_ends_leaves_no_answer():
    assert split(["<think>so", " it </thin"]) == ("", "so it </thin")


@given(st.text(max_size=20), st.data())
@example("😀", None)
def test_a_character_cut_in_two_is_joined(text, data):
    halves = [c for char in text for c in _halves(char)]
    joiner = SurrogateJoiner()
    assert "".join(joiner.feed(half) for half in halves) + joiner.end() == text


def _halves(char: str) -> list[str]:
    encoded = char.encode("utf-16-le", "surrogatepass")
    return [encoded[i : i + 2].decode("utf-16-le", "surrogatepass") for i in range(0, len(encoded), 2)]


def test_a_half_without_its_other_is_replaced():
    joiner = SurrogateJoiner()
    assert joiner.feed("a\ud83d") + joiner.feed("b\ude00") + joiner.feed("\ud83d") + joiner.end() == "a�b��"
