"""Parse a writer's streaming reply into sections: clean text, and the cited ids that the prompt offered."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from graph.errors import ModelReplyInvalid
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText
from text.normal_forms import without_surrogates
from tools.llm.json_stream import Closed, JsonReader, Literal, Part, Path, StringDelta, StringEnd


def offered_ids(segment_ids: Iterable[str]) -> dict[str, str]:
    """Return the ids by each spelling in which a model may write them."""
    return {written: i for i in segment_ids for written in (i, f"SEG={i}", f"[SEG={i}]")}


class CitedIds:
    """The distinct ids that one section cites, and the number of unknown ones."""

    def __init__(self, offered: Mapping[str, str]) -> None:
        self.unknown = 0
        self._offered = offered
        self._ids: dict[str, None] = {}

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._ids)

    def cite(self, written: object) -> None:
        """Add an id as the model wrote it; count it as unknown if it was not offered."""
        segment_id = self._offered.get(written.strip()) if isinstance(written, str) else None
        if segment_id is None:
            self.unknown += 1
        else:
            self._ids.setdefault(segment_id)


TAG = re.compile(r"\[SEG=([^\[\]\s]{1,200})\]")
TAG_BEGUN = re.compile(r"\[(?:S(?:E(?:G(?:=[^\[\]\s]{0,200})?)?)?)?")
LONGEST_TAG = 206
UNWANTED = {c: None for c in range(0xA0) if unicodedata.category(chr(c)) == "Cc" and chr(c) not in "\n\t"}


class SectionText:
    """The text of a section, cleaned while it streams; the result is independent of the chunking.

    Tags that the model wrote into the text are removed and their ids collected in ``tagged``.
    """

    def __init__(self) -> None:
        self.tagged: list[str] = []
        self._sent: list[str] = []
        self._buffer = ""
        self._space = ""

    @property
    def begun(self) -> bool:
        return bool(self._sent)

    @property
    def text(self) -> str:
        return "".join(self._sent)

    def feed(self, delta: str) -> str:
        """Add text; return what can be shown now, and buffer the rest."""
        self._buffer += without_surrogates(delta.translate(UNWANTED))
        shown = ""
        while tag := TAG.search(self._buffer):
            shown += self._show(self._buffer[: tag.start()])
            self._space = self._space.rstrip(" \t")
            self._buffer = self._buffer[tag.end() :]
            self.tagged.append(tag[1])
        cut = self._buffer.rfind("[", max(0, len(self._buffer) - LONGEST_TAG))
        if cut < 0 or not TAG_BEGUN.fullmatch(self._buffer, cut):
            cut = len(self._buffer)
        shown += self._show(self._buffer[:cut])
        self._buffer = self._buffer[cut:]
        return shown

    def finish(self, mark: str = "") -> str:
        """Return the rest of the buffer, then ``mark`` if there is any text; trailing space is dropped."""
        shown = self._show(self._buffer)
        self._buffer = self._space = ""
        return shown + self._show(mark) if self._sent else shown

    def _show(self, text: str) -> str:
        text = self._space + text
        if not self._sent:
            text = text.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._sent.append(shown)
        return shown


PREAMBLE = 200  # characters of prose that are skipped before the JSON
START = re.compile(r'\{\s{0,20}"sections"')
LONGEST_START = 32
FENCE = re.compile(r"```\w{0,10}[ \t]{0,10}\r?\n")
LONGEST_FENCE = 26
PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")
BROKEN_OFF = "…"


class SectionReader:
    """A parser of one reply into drafts; the sections are independent of the chunking."""

    def __init__(self, offered: Iterable[str]) -> None:
        self._offered = offered_ids(offered)
        self._head: str | None = ""  # text not yet known to be JSON or prose
        self._json: JsonReader | None = None
        self._prose = ""
        self._readable = False  # whether the reply had a list of sections or a section
        self._written = False  # whether a section with text was returned
        self._path: Path | None = None
        self._begin()

    def feed(self, text: str) -> list[Draft]:
        """Parse more text and return the drafts that became certain."""
        if self._head is not None:
            text = self._detect_format(text)
        if not text:
            return []
        if self._json is not None:
            return self._read(self._json.feed(text))
        return self._paragraphs(text)

    def end(self, *, cut: bool) -> list[Draft]:
        """End the reply and close an open section. ``cut``: the reply hit a limit.

        Raises ModelReplyInvalid if it had no section with text, unless it is complete and says so by an empty section
        or an empty list.
        """
        drafts: list[Draft] = []
        if self._head is not None:
            head, self._head = self._head.strip(), None
            drafts += self._paragraphs(head)
        whole = not cut
        if self._json is not None:
            drafts += self._read(self._json.end())
            whole = self._json.complete
        drafts += self._close("" if whole else BROKEN_OFF)
        if not self._written and not (self._readable and whole):
            raise ModelReplyInvalid("The model's reply holds no section that can be read.")
        return drafts

    def _detect_format(self, text: str) -> str:
        """Detect whether the reply is JSON or prose; return the text to parse, "" while undecided."""
        head = ((self._head or "") + text).lstrip()
        self._head = head
        if head.startswith("`") and len(head) < LONGEST_FENCE and "\n" not in head:
            return ""
        if fence := FENCE.match(head):
            head = head[fence.end() :].lstrip()
        start = START.search(head, 0, PREAMBLE + LONGEST_START)
        if head.startswith("{") or re.match(r"\[\s*[{\]]", head):
            return self._take_json(head)
        if start and start.start() < PREAMBLE:
            return self._take_json(head[start.start() :])
        if len(head) < PREAMBLE + LONGEST_START:
            return ""
        self._head = None
        return head

    def _take_json(self, text: str) -> str:
        self._head = None
        self._json = JsonReader()
        return text

    def _read(self, parts: Iterable[Part]) -> list[Draft]:
        drafts: list[Draft] = []
        for part in parts:
            match part:
                case StringDelta(path=(*owner, "text"), delta=delta):
                    drafts += self._switch_to(tuple(owner)) + self._add_text(delta)
                case StringEnd(path=(*owner, "text")):
                    drafts += self._switch_to(tuple(owner))
                    self._readable = self._text_ended = True
                case StringEnd(path=(*owner, "source_ids", int()), text=text):
                    drafts += self._switch_to(tuple(owner))
                    self._cited.cite(text)
                case StringEnd(path=(*owner, "source_ids"), text=text):
                    drafts += self._switch_to(tuple(owner))
                    self._cited.cite(text)
                    self._ids_known = True
                case Literal(path=(*owner, "source_ids", int())):
                    drafts += self._switch_to(tuple(owner))
                    self._cited.cite(None)
                case Closed(path=(*owner, "source_ids")):
                    drafts += self._switch_to(tuple(owner))
                    self._ids_known = True
                case Closed(path=path) if path == self._path:
                    drafts += self._close()
                case Closed(path=(*_, "sections"), size=0):
                    self._readable = True
        return drafts

    def _switch_to(self, path: Path) -> list[Draft]:
        if path == self._path:
            return []
        drafts = self._close()
        self._path = path
        return drafts

    def _begin(self) -> None:
        self._path = None
        self._text = SectionText()
        self._text_ended = False
        self._cited = CitedIds(self._offered)
        self._ids_known = False

    def _add_text(self, delta: str) -> list[Draft]:
        if self._text_ended:
            return []
        begun = self._text.begun
        shown = self._text.feed(delta)
        if not shown:
            return []
        return [DraftText(shown)] if begun else [self._opened(), DraftText(shown)]

    def _opened(self) -> DraftOpened:
        return DraftOpened(source_ids=self._cited.ids if self._ids_known else None)

    def _close(self, mark: str = "") -> list[Draft]:
        begun = self._text.begun
        rest = self._text.finish(mark)
        for written in self._text.tagged:
            self._cited.cite(written)
        drafts: list[Draft] = []
        if self._text.begun:
            self._written = True
            if rest:
                drafts += [DraftText(rest)] if begun else [self._opened(), DraftText(rest)]
            drafts.append(DraftClosed(self._text.text, self._cited.ids, self._cited.unknown))
        self._begin()
        return drafts

    def _paragraphs(self, text: str) -> list[Draft]:
        drafts: list[Draft] = []
        self._prose += text
        while end := PARAGRAPH_END.search(self._prose):
            drafts += self._add_text(self._prose[: end.start()]) + self._close()
            self._prose = self._prose[end.end() :]
        end_of_text = len(self._prose.rstrip())
        drafts += self._add_text(self._prose[:end_of_text])
        self._prose = self._prose[end_of_text:]
        return drafts
