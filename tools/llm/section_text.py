"""The text of a section as a model writes it, cleaned while it streams: ids and citation marks are no part of it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from answers.inline_marks import BETWEEN, NUMBERS
from text.mark_places import code_spans
from text.normal_forms import without_surrogates

_SEPARATORS = re.compile(r"[\s,;、，|]+")
_WRAPPING = " \t[](){}<>\"'`"
_BETWEEN_IDS = re.compile(rf"[\s,;、，|{re.escape(_WRAPPING)}]+")


def offered_ids(segment_ids: Iterable[str]) -> dict[str, str]:
    """Return the ids by each spelling in which a model may write them."""
    return {written: i for i in segment_ids for written in (i, f"SEG={i}")}


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
        """Add an id as the model wrote it, or several in one string; count those that were not offered as unknown."""
        for each in _BETWEEN_IDS.split(written.strip(_WRAPPING)) if isinstance(written, str) else [""]:
            segment_id = self._offered.get(each)
            if segment_id is None:
                self.unknown += 1
            else:
                self._ids.setdefault(segment_id)


_OPEN, _CLOSE = r"\[(（【<", r"\])）】>"
_SIGNS = rf"\s{_OPEN}{_CLOSE}{{}},;，、。|\"'`*"
_LONGEST = 400  # characters between brackets that may be ids
_MENTION = re.compile(
    rf"(?P<wrapped>[(（](?=[\[【]))?(?P<open>[{_OPEN}])(?P<inner>[^{_OPEN}{_CLOSE}\n]{{1,{_LONGEST}}})[{_CLOSE}]"
    rf"(?(wrapped)[)）])|(?<![^{_SIGNS}])(?P<bare>[^{_SIGNS}]{{1,200}}?:\d{{1,7}})(?![\w:-])"
)
_ID = re.compile(r"SEG=\S{1,200}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d{1,7}")
_ID_BEGUN = re.compile(r"(?:S|SE|SEG|SEG=\S{0,200}|[0-9a-f]{1,8}(?:-[0-9a-f]{0,12}){0,4}(?::\d{0,7})?)?")
_LABEL = re.compile(r"[^\W\d]{1,16}(?: [^\W\d]{1,16})?\s?[:：=]\s*")  # "Source: ", "source_ids: "
_LINE_LABEL = re.compile(r"[ \t*_>-]*[^\W\d]{1,16}(?: [^\W\d]{1,16}){0,3}[ *_]*[:：][ \t*_]*")
_BEGUN = re.compile(
    r"[^\W\d]{0,16}(?: [^\W\d]{0,16})?\s?|[\d,;\s^ref:]{0,200}|\d{1,3}†.*", re.IGNORECASE
)  # of a label or a mark
_OPENED = re.compile(rf"[^{_OPEN}{_CLOSE}\n]{{0,{_LONGEST}}}")
_MARK = {"[": re.compile(NUMBERS, re.IGNORECASE), "【": re.compile(r"[1-9]\d{0,2}(?:†[^】\n]{0,200})?")}
_TARGET = re.compile(r"\([^()\s]{0,2000}(?:\)|(?P<more>\Z))")  # of a mark that is a link
_LINE_START = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?")
_LAST_TOKEN = re.compile(rf"(?<![^{_SIGNS}])[^{_SIGNS}]{{1,210}}\Z")
_BEFORE = 12  # characters before a mark that tell whether a source has it there too
UNWANTED = {c: None for c in range(0xA0) if unicodedata.category(chr(c)) == "Cc" and chr(c) not in "\n\t"}


class SectionText:
    """The text of a section, cleaned while it streams; the result is independent of the chunking.

    Ids that the model wrote into the text, in brackets or bare, are removed and collected in ``tagged``. Where the text
    is written from ``sources``, the model's own marks (``[1]``, ``[^1]``, ``【1】``) and footnotes are removed as well;
    those in code stay, and those that the sources have there too.
    """

    def __init__(self, sources: str | None = None) -> None:
        self.tagged: list[str] = []
        self._sources = sources
        self._sent: list[str] = []
        self._buffer = ""
        self._space = ""
        self._behind = False  # whether the buffer begins right behind what was removed
        self._leads = False  # whether that began its line

    @property
    def begun(self) -> bool:
        return bool(self._sent)

    @property
    def text(self) -> str:
        return "".join(self._sent)

    def without_label(self, line: str) -> str:
        """Return a line without the words that introduce the ids on it, such as "Source:"."""
        label = _LINE_LABEL.match(line)
        word = _SEPARATORS.split(line[label.end() :].strip(_WRAPPING), 1)[0] if label else ""
        return line[label.end() :] if label and _ID.fullmatch(word.strip(_WRAPPING)) else line

    def feed(self, delta: str) -> str:
        """Add text; return what can be shown now, and buffer the rest."""
        self._buffer += without_surrogates(delta.translate(UNWANTED))
        return self._advance(ended=False)

    def finish(self, mark: str = "") -> str:
        """Return the rest of the buffer, then ``mark`` if there is any text; trailing space is dropped."""
        shown = self._advance(ended=True)
        self._space = ""
        return shown + self._show(mark) if self._sent else shown

    def _advance(self, *, ended: bool) -> str:
        shown = ""
        while (found := self._next(ended=ended)) and found[1] is not None:
            start, end, ids = found
            before, leads = self._buffer[:start], self._leads_line(start)
            if not (self._behind and BETWEEN.fullmatch(before)):
                shown += self._show(before)
                self._leads = leads
            if not self._leads:
                self._space = self._space.rstrip(" \t")
            self.tagged += ids
            self._buffer = self._buffer[end:]
            self._behind = True
        hold = len(self._buffer) if ended else min(found[0] if found else len(self._buffer), self._undecided())
        if self._behind and not ended and BETWEEN.fullmatch(self._buffer, 0, hold):
            hold = 0
        rest, self._buffer = self._buffer[:hold], self._buffer[hold:]
        if rest:
            shown += self._show(rest)
            self._behind = self._leads = False
        return shown

    def _next(self, *, ended: bool) -> tuple[int, int | None, list[str]] | None:
        """Return the span and the ids of the first mention in the buffer; its end is None while it may go on."""
        last = self._last_sign
        text = last + self._buffer
        opened = None if ended else self._opened()
        at = len(last)
        while found := _MENTION.search(text, at):
            at = found.start() + 1
            start, end = found.start() - len(last), found.end() - len(last)
            ids = self._ids_in(found)
            if ids is None and not self._is_mark(found, start):
                continue
            if opened is not None and opened < start:
                return opened, None, []
            rest = self._buffer[end:]
            if not rest and not ended:
                return start - (self._buffer[start - 1 : start] in ("(", "（")), None, []
            if ids is not None:
                return start, end, ids
            if target := _TARGET.match(rest):
                return start, None if target["more"] is not None and not ended else end + target.end(), []
            if rest.startswith(":") and self._leads_line(start):
                line, newline, _ = rest.partition("\n")
                words = (each.strip(_WRAPPING) for each in _SEPARATORS.split(line))
                named = [each for each in words if _ID.fullmatch(each)]
                return start, end + len(line) if newline or ended else None, named
            return start, end, []
        return None

    @property
    def _last_sign(self) -> str:
        """What stands before the buffer, which tells whether a word begins there."""
        return "" if self._behind else (self._space or "".join(self._sent[-1:]))[-1:]

    def _leads_line(self, at: int) -> bool:
        line = f"{self.text}{self._space}{self._buffer[:at]}".rpartition("\n")[2]
        return _LINE_START.fullmatch(line) is not None

    def _ids_in(self, found: re.Match[str]) -> list[str] | None:
        """Return the ids that a mention names, None where it is none."""
        if bare := found["bare"]:
            return [bare] if _ID.fullmatch(bare) else None
        inner = found["inner"].strip()
        readings = (list(filter(None, words)) for words in self._readings(inner))
        return next((words for words in readings if words and all(map(_ID.fullmatch, words))), None)

    def _readings(self, inner: str) -> Iterator[list[str]]:
        """Yield what stands between brackets as words: whole, and behind its label."""
        yield _SEPARATORS.split(inner)
        if label := _LABEL.match(inner):
            tag = "SEG=" if label[0].startswith("SEG") else ""
            *words, last = _SEPARATORS.split(inner[label.end() :])
            yield [*(tag + each for each in words if each), tag + last if last else ""]

    def _is_mark(self, found: re.Match[str], start: int) -> bool:
        """Whether brackets hold a mark of the model's own: neither code nor what a source has there too."""
        pattern = _MARK.get(found["open"] or "")
        if self._sources is None or pattern is None or not pattern.fullmatch(found["inner"]):
            return False
        written = f"{self.text}{self._space}{self._buffer[:start]}"
        line = written.rpartition("\n")[2]
        if line[-_BEFORE:].lstrip() + found[0] in self._sources or line.count("`") % 2:
            return False
        return not any(first <= len(written) < end for first, end in code_spans(f"{written}x", len(written)))

    def _undecided(self) -> int:
        """Return where in the buffer a mention may have begun that what follows will complete."""
        last = self._last_sign
        token = _LAST_TOKEN.search(last + self._buffer, len(last))
        opened = self._opened()
        held = [token.start() - len(last)] if token and _ID_BEGUN.fullmatch(token[0]) else []
        return min([len(self._buffer), *held, *([] if opened is None else [opened])])

    def _opened(self) -> int | None:
        """Return where brackets are open that may hold ids or a mark."""
        at = max(map(self._buffer.rfind, "[(（【<"))
        inner = self._buffer[at + 1 :].lstrip()
        if at < 0 or not _OPENED.fullmatch(inner):
            return None
        begun = (last for *words, last in self._readings(inner) if all(map(_ID.fullmatch, filter(None, words))))
        if _BEGUN.fullmatch(inner) or any(map(_ID_BEGUN.fullmatch, begun)):
            return at - (at > 0 and self._buffer[at - 1] in "(（")
        return None

    def _show(self, text: str) -> str:
        text = self._space + (text.lstrip(" \t") if self._leads else text)
        if not self._sent:
            text = text.lstrip()
        shown = text.rstrip()
        self._space = text[len(shown) :]
        if shown:
            self._sent.append(shown)
        return shown
