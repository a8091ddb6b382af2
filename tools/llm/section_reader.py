"""Parse a writer's streaming reply into sections: clean text, and the cited ids that the prompt offered."""

import re
from collections.abc import Iterable
from dataclasses import replace

from graph.errors import ModelReplyInvalid
from graph.ports import Draft, DraftClosed, DraftOpened, DraftText, fixed_section
from tools.llm.json_stream import Closed, JsonReader, Literal, Part, Path, StringDelta, StringEnd
from tools.llm.section_text import CitedIds, SectionText, offered_ids

PREAMBLE = 200  # characters of prose that are skipped before the JSON
START = re.compile(r"(?:```\w{0,10}\s{1,10})?\{\s{0,20}[\"'“]?sections[\"'”]?\s{0,5}:")
START_BEGUN = re.compile(r"(?:`{1,3}|```\w{0,10}\s{0,10})?(?:\{\s{0,20}[\"'“]?[a-z]{0,8}[\"'”]?\s{0,5})?\Z")
LONGEST_START = 70
FENCE = re.compile(r"```\w{0,10}[ \t]{0,10}\r?\n")
LONGEST_FENCE = 26
LONGEST_LABEL = 240  # characters of a line that tell whether it only names sources
NEXT_SECTION = re.compile(r"\{\s{0,20}[\"'“]?(?:text|source_ids)[\"'”]?\s{0,5}:")
SAID = re.compile(r"\S\s+\S|[^\W\d_a-zA-Z]{2}")  # words, rather than a name or an id
BROKEN_OFF = "…"


class SectionReader:
    """A parser of one reply into drafts; the sections are independent of the chunking.

    A fault in the JSON costs no more than what it stands in: reading goes on with the next section. JSON of another
    form is read for the text and the ids that its fields hold. Prose becomes a section a paragraph; a paragraph of
    nothing but ids names those of the one before. ``sources`` is what the model was shown of the segments.
    """

    def __init__(self, offered: Iterable[str], sources: str = "") -> None:
        self._offered = offered_ids(offered)
        self._sources = sources
        self._head: str | None = ""  # text not yet known to be JSON or prose
        self._json: JsonReader | None = None
        self._unread = ""  # JSON behind a fault, or behind a section that stands alone
        self._alone = False
        self._others: dict[Path, str] = {}  # strings of fields that we did not ask for
        self._prose = ""
        self._fed = ""  # of the paragraph
        self._waiting: DraftClosed | None = None  # a paragraph that ids may follow
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
        return self._paragraphs(text) if self._json is None else self._sections(text)

    def end(self, *, cut: bool) -> list[Draft]:
        """End the reply and close an open section. ``cut``: the reply hit a limit.

        Where no section was open, one of its own says that it was cut. Raises ModelReplyInvalid if it had no section
        with text, unless it is complete and says so by an empty section or an empty list.
        """
        drafts: list[Draft] = []
        if self._head is not None:
            head, self._head = self._head.strip(), None
            drafts += self._paragraphs(head)
        whole = not cut
        if self._json is None:
            drafts += self._paragraphs("", ended=True)
        else:
            drafts += self._read(self._json.end())
            whole = self._json.complete
        if not (self._written or self._readable or self._text.begun):
            drafts += self._other_text()
        closing = self._close(BROKEN_OFF if not whole and (cut or not self._text_ended) else "")
        drafts += closing + self._released()
        if cut and not whole and not closing and self._written:
            drafts += fixed_section(BROKEN_OFF)
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
        return text[text.index("{") :] if text.startswith("`") else text

    def _sections(self, text: str) -> list[Draft]:
        assert self._json is not None
        drafts = self._read(self._json.feed(text))
        while self._json.broken or (self._json.complete and self._alone):
            self._unread += self._json.unread()
            following = NEXT_SECTION.search(self._unread)
            if following is None:
                self._unread = self._unread[-LONGEST_START:]
                break
            drafts += self._close()
            rest, self._unread = self._unread[following.start() :], ""
            self._json = JsonReader()
            drafts += self._read(self._json.feed(rest))
        return drafts

    def _read(self, parts: Iterable[Part]) -> list[Draft]:
        drafts: list[Draft] = []
        for part in parts:
            match part:
                case StringDelta(path=(*owner, "text"), delta=delta):
                    drafts += self._switch_to(tuple(owner)) + self._add_text(delta)
                case StringEnd(path=(*owner, "text")):
                    drafts += self._switch_to(tuple(owner))
                    self._readable = self._text_ended = True
                case (
                    StringEnd(path=(*owner, "source_ids", int()), text=text)
                    | Literal(path=(*owner, "source_ids", int()), text=text)
                ):
                    drafts += self._switch_to(tuple(owner))
                    self._cited.cite(text)
                case StringEnd(path=(*owner, "source_ids"), text=text):
                    drafts += self._switch_to(tuple(owner))
                    self._cited.cite(text)
                    self._ids_known = True
                case StringDelta(path=path, delta=delta) if "source_ids" not in path:
                    self._others[path] = self._others.get(path, "") + delta
                case Closed(path=(*owner, "source_ids")):
                    drafts += self._switch_to(tuple(owner))
                    self._ids_known = True
                case Closed(path=path) if path == self._path:
                    drafts += self._close()
                case Closed(path=(*_, "sections"), size=0):
                    self._readable = True
        return drafts

    def _other_text(self) -> list[Draft]:
        """Return what a reply says in other fields than those that were asked for, a section an object."""
        drafts: list[Draft] = []
        objects: dict[Path, list[str]] = {}
        for path, text in self._others.items():
            objects.setdefault(path[: -2 if isinstance(path[-1], int) else -1], []).append(text)
        for strings in objects.values():
            said = [each for each in strings if SAID.search(each)]
            if said:
                drafts += self._close() + self._add_text("\n\n".join(said))
                for each in strings:
                    if each.strip() in self._offered:
                        self._cited.cite(each)
        return drafts

    def _switch_to(self, path: Path) -> list[Draft]:
        if path == self._path:
            return []
        drafts = self._close()
        self._path = path
        self._alone = path == ()
        return drafts

    def _begin(self) -> None:
        self._path = None
        self._fed = ""
        self._text = SectionText(self._sources)
        self._text_ended = False
        self._cited = CitedIds(self._offered)
        self._ids_known = False

    def _add_text(self, delta: str) -> list[Draft]:
        if self._text_ended:
            return []
        self._fed += delta
        begun = self._text.begun
        shown = self._text.feed(delta)
        if not shown:
            return []
        return [DraftText(shown)] if begun else [*self._opened(), DraftText(shown)]

    def _opened(self) -> list[Draft]:
        return [*self._released(), DraftOpened(source_ids=self._cited.ids if self._ids_known else None)]

    def _released(self) -> list[Draft]:
        waiting, self._waiting = self._waiting, None
        return [] if waiting is None else [waiting]

    def _close(self, mark: str = "") -> list[Draft]:
        begun = self._text.begun
        rest = self._text.finish(mark)
        for written in self._text.tagged:
            self._cited.cite(written)
        ids, unknown = self._cited.ids, self._cited.unknown
        drafts: list[Draft] = []
        if self._text.begun:
            self._written = True
            if rest:
                drafts += [DraftText(rest)] if begun else [*self._opened(), DraftText(rest)]
            self._waiting = DraftClosed(self._text.text, ids, unknown)
        elif self._waiting is not None and self._json is None:
            ids = tuple(dict.fromkeys((*self._waiting.source_ids, *ids)))
            self._waiting = replace(self._waiting, source_ids=ids, unknown_ids=self._waiting.unknown_ids + unknown)
        self._begin()
        return drafts if self._json is None else drafts + self._released()

    def _paragraphs(self, text: str, *, ended: bool = False) -> list[Draft]:
        self._prose += text
        if start := START.search(self._prose):
            json, self._prose = self._prose[start.start() :], self._prose[: start.start()]
            drafts = self._paragraphs("", ended=True) + self._close()
            return drafts + self._sections(self._take_json(json))
        begun = None if ended else START_BEGUN.search(self._prose)
        hold = begun.start() if begun else len(self._prose)
        *lines, last = self._prose[:hold].splitlines(keepends=True) or [""]
        if ended or last.endswith("\n") or len(last) > LONGEST_LABEL:
            lines, last = [*lines, last], ""
        self._prose = last + self._prose[hold:]
        return [draft for line in lines for draft in self._add_line(line)]

    def _add_line(self, line: str) -> list[Draft]:
        """Add a line of prose, or a part of a long one: what only introduces ids is left out, and empty ones divide."""
        begins = not self._fed or self._fed.endswith("\n")
        if begins and not line.strip() and self._fed.count("```") % 2 == 0:
            return self._close()
        return self._add_text(self._text.without_label(line) if begins else line)
