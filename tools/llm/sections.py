"""Read a writer's reply into sections while it is still arriving, whatever the model made of the format.

Whatever the reply: the id of a source is looked up among those offered, never guessed; the others are counted. Text
that was shown stands, and a section that the reply breaks off in ends with "…", so that nothing cut looks whole.
"""

import re
from collections.abc import Iterable

from graph.errors import ModelReplyInvalid
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText
from tools.llm.citing import CitedIds, offers
from tools.llm.json_stream import Closed, JsonReader, Literal, Part, Path, StringDelta, StringEnd
from tools.llm.section_text import SectionText

PREAMBLE = 200  # characters of prose before the JSON that are passed over
START = re.compile(r'\{\s{0,20}"sections"')
LONGEST_START = 32
FENCE = re.compile(r"```\w{0,10}[ \t]{0,10}\r?\n")
LONGEST_FENCE = 26
PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")
BROKEN_OFF = "…"


class SectionReader:
    """Turn the text of one reply into drafts; how the text was cut makes no difference to the sections."""

    def __init__(self, offered: Iterable[str]) -> None:
        self._offered = offers(offered)
        self._head: str | None = ""  # text not yet known to be JSON or prose
        self._json: JsonReader | None = None
        self._prose = ""
        self._readable = False  # a list of sections, or a section, was there to be read
        self._written = False  # a section with text has been given
        self._path: Path | None = None
        self._begin()

    def feed(self, text: str) -> list[Draft]:
        """Read on; give the drafts that became certain."""
        if self._head is not None:
            text = self._settle(text)
        if not text:
            return []
        if self._json is not None:
            return self._read(self._json.feed(text))
        return self._paragraphs(text)

    def end(self, *, cut: bool) -> list[Draft]:
        """Close what is open. ``cut``: the reply ran into a limit.

        Raises ModelReplyInvalid where nothing could be read: neither a section nor an empty list of them.
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

    def _settle(self, text: str) -> str:
        """Find out whether the reply is JSON or prose; give what is to be read, "" while it is open."""
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
                    drafts += self._turn_to(tuple(owner)) + self._say(delta)
                case StringEnd(path=(*owner, "text")):
                    drafts += self._turn_to(tuple(owner))
                    self._readable = self._said = True
                case StringEnd(path=(*owner, "source_ids", int()), text=text):
                    drafts += self._turn_to(tuple(owner))
                    self._cited.cite(text)
                case StringEnd(path=(*owner, "source_ids"), text=text):
                    drafts += self._turn_to(tuple(owner))
                    self._cited.cite(text)
                case Literal(path=(*owner, "source_ids", int())):
                    drafts += self._turn_to(tuple(owner))
                    self._cited.cite(None)
                case Closed(path=path) if path == self._path:
                    drafts += self._close()
                case Closed(path=(*_, "sections"), size=0):
                    self._readable = True
        return drafts

    def _turn_to(self, path: Path) -> list[Draft]:
        if path == self._path:
            return []
        drafts = self._close()
        self._path = path
        return drafts

    def _begin(self) -> None:
        self._path = None
        self._text = SectionText()
        self._said = False
        self._cited = CitedIds(self._offered)

    def _say(self, delta: str) -> list[Draft]:
        if self._said:
            return []
        begun = self._text.begun
        shown = self._text.feed(delta)
        if not shown:
            return []
        return [DraftText(shown)] if begun else [DraftOpened(), DraftText(shown)]

    def _close(self, mark: str = "") -> list[Draft]:
        begun = self._text.begun
        rest = self._text.finish(mark)
        for written in self._text.tagged:
            self._cited.cite(written)
        drafts: list[Draft] = []
        if self._text.begun:
            self._written = True
            if rest:
                drafts += [DraftText(rest)] if begun else [DraftOpened(), DraftText(rest)]
            drafts.append(DraftClosed(self._text.text, self._cited.ids, self._cited.unknown))
        self._begin()
        return drafts

    def _paragraphs(self, text: str) -> list[Draft]:
        drafts: list[Draft] = []
        self._prose += text
        while end := PARAGRAPH_END.search(self._prose):
            drafts += self._say(self._prose[: end.start()]) + self._close()
            self._prose = self._prose[end.end() :]
        settled = len(self._prose.rstrip())
        drafts += self._say(self._prose[:settled])
        self._prose = self._prose[settled:]
        return drafts
