"""Subtitles as people and programs write them: cues without numbers, speakers, live captions, four formats."""

import pytest

from graph.errors import UnreadableDocument
from tools.parsers import parse


def said(text: str, name: str) -> list[tuple[str, str]]:
    parsed = parse(text.encode(), name=name)
    return [(block.anchor, parsed.text[block.start : block.end]) for block in parsed.blocks]


def test_a_sentence_over_cues_is_one_and_begins_at_the_time_of_its_first_cue() -> None:
    text = "1\n00:01:10,000 --> 00:01:12,000\nIt was sold to\n\n2\n00:01:12,100 --> 00:01:15,000\na museum.\n"
    assert said(text, "x.srt") == [("t=00:01:10", "It was sold to a museum.")]


def test_a_number_that_is_said_stays_and_that_of_a_cue_does_not() -> None:
    times = ("00:00:01,000 --> 00:00:02,000", "00:00:05,000 --> 00:00:06,000", "01:00:00,000 --> 01:00:01,000")
    cues = zip(times, ("When?", "1968", "12"), strict=True)
    text = "".join(f"{at}\n{time}\n{words}\n\n" for at, (time, words) in enumerate(cues, 1))
    assert said(text, "x.srt") == [("t=00:00:01", "When?"), ("t=00:00:05", "1968 12")]


def test_lines_that_roll_up_are_said_once() -> None:
    cues = ["a lamp", "a lamp\nis <00:00:03.000><c>lit</c>", "is lit\nat ten"]
    text = "".join(f"\n00:0{at}.000 --> 00:0{at + 1}.000 align:start\n{cue}\n" for at, cue in enumerate(cues))
    assert said(f"WEBVTT\nKind: captions\n{text}", "x.vtt") == [("t=00:00:00", "a lamp is lit at ten")]


def test_captions_without_full_stops_get_new_times() -> None:
    cues = "".join(f"\n00:{at:02}.000 --> 00:{at + 1:02}.000\nlamp {at}{' lamp' * 20}\n" for at in range(30))
    assert len(said(f"WEBVTT\n{cues}", "x.vtt")) > 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.sbv", "0:00:01.000,0:00:02.000\nAnn: a lamp,\nlit\n\n0:00:03.000,0:00:04.000\n- Off\n"),
        ("x.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>a lamp,\nlit</v>\n\n00:03.000 --> 00:04.000\n- Off\n"),
        (
            "x.ass",
            "[Events]\nFormat: Start, End, Name, Text\nDialogue: 0:00:03.00,0:00:04.00,,- Off\n"
            "Dialogue: 0:00:01.00,0:00:02.00,Ann,{\\i1}a lamp,\\Nlit{\\i0}\n"
            "Dialogue: 0:00:01.00,0:00:02.00,,{\\p1}m 0 0\n",
        ),
    ],
)
def test_who_speaks_is_said(name: str, text: str) -> None:
    assert said(text, name) == [("t=00:00:01", "Ann: a lamp, lit"), ("t=00:00:03", "- Off")]


def test_what_is_no_subtitle_is_told() -> None:
    with pytest.raises(UnreadableDocument, match="no subtitles"):
        said("A text.", "x.srt")
