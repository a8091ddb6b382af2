"""Parser of subtitles (SubRip, WebVTT, SBV, SubStation Alpha) as speech: sentences joined over cues into paragraphs.

A paragraph ends with a sentence before a pause, where another one speaks, or where it is long. Its anchor is the time
at which it begins, as a fragment that players know, such as ``t=00:01:10``.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from graph.errors import UnreadableDocument
from text.sentences import sentences
from tools.parsers.canonical_text import CHECK_SUFFIX, CanonicalText, Parsed, storable, unwrapped
from tools.parsers.plain import decode

_TIME = r"(?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMING = rf"^[ \t]*({_TIME})[ \t]*(?:-->|,)[ \t]*({_TIME})(?![\d:]).*$"
_NUMBER = r"^[ \t]*\d+[ \t]*\n"  # above it
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]{1,100})>")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>|<[\d:.]{5,16}>|\{\\[^{}\n]{0,200}\}")
_DASH = re.compile(r"[-–—‐](?=\s?\S)|>>")  # before what another one says
_PAUSE_SECONDS = 2.0
_LONG = 120  # characters of a paragraph, so that its time is near that of its last sentence
_MOST_ROLLED = 3  # lines
_LABEL = re.compile(r"[^\W\d_][^:.!?]{0,30}:\s")  # "ANA: Where is it?"


class _Cue(NamedTuple):
    start: float
    end: float
    speaker: str
    lines: list[str]


def read(data: bytes) -> Parsed:
    """Parse subtitles of any of the four formats. Raises UnreadableDocument if they hold no cue."""
    text = "\n".join(storable(decode(data)).splitlines())
    is_script, is_web = re.search(r"^Dialogue:", text, re.MULTILINE) is not None, text.startswith("WEBVTT")
    cues = _script_cues(text) if is_script else list(_cues(text, is_web=is_web))
    if not cues:
        raise UnreadableDocument("The file holds no subtitles: no line with two times.", suggestion=CHECK_SUFFIX)
    written = _written(_unrolled(cues))
    if is_script or is_web:
        written.left_out["comment"] = len(re.findall(r"^Comment:" if is_script else r"^NOTE\b", text, re.MULTILINE))
    return written.parsed()


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def _cues(text: str, *, is_web: bool) -> Iterator[_Cue]:
    is_numbered = re.match(rf"\s*{_NUMBER}{_TIMING}", text, re.MULTILINE) is not None
    timings = list(re.finditer(f"{_NUMBER}{_TIMING}" if is_numbered else _TIMING, text, re.MULTILINE))
    ends = [*(timing.start() for timing in timings), len(text)][1:]
    for timing, until in zip(timings, ends, strict=False):
        words = text[timing.end() : until].strip("\n")
        if is_web:  # names of cues and comments stand behind a blank line; in SubRip more of the words may
            words = re.split(r"\n[ \t]*\n", words, maxsplit=1)[0]
        start, end = _seconds(timing[1]), _seconds(timing[2])
        said = ["", *_VOICE.split(words)]  # each speaker, then the words
        for speaker, spoken in zip(said[::2], said[1::2], strict=True):
            spoken = _TAG.sub("", spoken)
            lines = [line.strip() for line in (html.unescape(spoken) if is_web else spoken).split("\n")]
            if any(lines):
                yield _Cue(start, end, speaker.strip(), [line for line in lines if line])


def _script_cues(text: str) -> list[_Cue]:
    """Return the lines of a SubStation Alpha script in the order in which they are shown, without drawings."""
    events = text.rpartition("[Events]")[2]
    named = re.search(r"^Format:(.*)$", events, re.MULTILINE)
    names = [name.strip() for name in (named[1] if named else "Layer,Start,End,Style,Name,,,,,Text").split(",")]
    cues = []
    for line in re.findall(r"^Dialogue:(.*)$", events, re.MULTILINE):
        event = dict(zip(names, line.split(",", len(names) - 1), strict=False))
        words, speaker = event.get("Text", ""), (event.get("Name") or event.get("Actor") or "").strip()
        start, end = event.get("Start", "").strip(), event.get("End", "").strip()
        if re.search(r"\\p[1-9]", words) or not re.fullmatch(_TIME, start) or not re.fullmatch(_TIME, end):
            continue
        words = _TAG.sub("", words).replace("\\h", " ").replace("\\n", "\\N").strip()
        cues.append(
            _Cue(_seconds(start), _seconds(end), speaker, [each for each in words.split("\\N") if each.strip()])
        )
    return sorted(cues, key=lambda cue: cue.start)


def _unrolled(cues: list[_Cue]) -> list[_Cue]:
    """Return cues without the lines that roll: live captions show the last line of a cue again above the next one."""
    last: list[str] = []
    once: list[_Cue] = []
    for cue in cues:
        again = next(
            (count for count in range(min(len(cue.lines), _MOST_ROLLED), 0, -1) if last[-count:] == cue.lines[:count]),
            0,
        )
        last = cue.lines or last
        once.append(cue._replace(lines=cue.lines[again:]))
    rolled = sum(0 < len(cue.lines) < len(before.lines) for cue, before in zip(once, cues, strict=True))
    return once if 3 * rolled > len(cues) else cues


def _written(cues: list[_Cue]) -> CanonicalText:
    text = CanonicalText()
    spoken: list[str] = []
    length, began, ended, speaker = 0, 0.0, 0.0, ""

    def close() -> None:
        minutes, seconds = divmod(int(began), 60)
        anchor = f"t={minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        text.add("paragraph", unwrapped("\n".join(spoken)), anchor=anchor)

    for cue in cues:
        for at, line in enumerate(cue.lines):
            rests = cue.start - ended > _PAUSE_SECONDS or length > _LONG or _LABEL.match(line)
            other = (not at and cue.speaker != speaker) or _DASH.match(line)
            if spoken and (other or (rests and _ends(spoken[-1])) or length > 6 * _LONG):
                close()
                spoken, length = [], 0
            if not spoken:
                began, line = cue.start, f"{cue.speaker}: {line}" if cue.speaker else line
            spoken.append(line)
            length += len(line)
            ended, speaker = cue.end, cue.speaker
    close()
    return text


def _ends(line: str) -> bool:
    """Whether a sentence ends with a line: whatever followed would be another one."""
    return sentences(f"{line[-80:].lstrip()} Ω")[-1][0] >= len(line[-80:].lstrip())
