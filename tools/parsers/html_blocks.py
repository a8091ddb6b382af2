"""The blocks of HTML elements, each with what it hangs on: terms, lead-ins, captions, header rows, labels, items.

The tree is walked once, without recursion. Every open block element has a frame that says what is written in it.
"""

import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from graph.evidence import BlockKind
from tools.parsers.canonical_text import COLONS
from tools.parsers.html_formulas import Mark, draws_latex, formula, with_formulas
from tools.parsers.html_frames import (
    BETWEEN_LINKS,
    BLOCKS,
    BREAK,
    CAPTIONED,
    CODE,
    CONTENTS,
    DOCUTILS_NUMERALS,
    FOOTNOTES,
    GENERATED_ID,
    HEADINGS,
    LISTS,
    NOTE_TAGS,
    PARTS,
    PLAIN,
    SIGNATURES,
    TITLES,
    Draft,
    Frame,
    Table,
    is_header,
    is_icon,
    joined,
    lines_of,
    number_in,
    table_of,
)
from tools.parsers.html_visible import (
    NOTES,
    TELLS_NOTHING,
    Visibility,
    draws_formula,
    is_note,
    is_note_mark,
    is_permalink,
    leads_to_note,
    leads_to_site,
)
from tools.parsers.linear_formulas import set_apart
from tools.parsers.link_targets import LinkTargets
from tools.parsers.numerals import in_form
from tools.parsers.raised_text import lowered, raised

_MOST_REPEATED = 5_000_000  # letters of merged cells, said again in each row and column: a few could say them forever
_TO_THE_END = 65_535  # rows, as rowspan="0" says


class Reader:
    """A reader of the visible elements of a tree; ``drafts`` are its blocks, ``left_out`` counts hidden passages."""

    def __init__(
        self, visibility: Visibility, mark: Mark, links: LinkTargets, formulas: frozenset[Any] = frozenset()
    ) -> None:
        """``mark`` writes the line of a formula so that its place in the text is known."""
        self._targets = links
        self._link: tuple[list[str], int] = ([], 0)  # where the words of the open link begin
        self.drafts: list[Draft] = []
        self.left_out = 0
        self._visibility = visibility
        self._frames: list[Frame] = [Frame("", "paragraph", (), "", 0, 0, 0, 0)]
        self._words: list[str] = []
        self._mark_formula = mark
        self._raised: list[tuple[Any, str, list[str], int]] = []  # open raised or lowered text, and where it begins
        self._formulas, self._draws = formulas, False
        self._repeated = 0
        self._links = self._opened = 0
        self._seen: set[tuple[Any, ...]] = set()  # tags and attributes that are read wherever they stand
        self._with_headings: set[Any] = set()
        self._with_tables: set[Any] = set()
        self._forget_links()

    def read(self, root: Any) -> None:
        """Read a tree in one walk: a hostile page may nest deeper than Python's stack."""
        for element in root.iter("table", *HEADINGS):
            for around in element.iterancestors("table"):
                (self._with_tables if element.tag == "table" else self._with_headings).add(around)
                break
        self._draws = draws_latex(root.getroottree())
        walker = etree.iterwalk(root, events=("start", "end"))
        skipped = None
        for event, element in walker:
            if event == "start":
                if not self._enter(element):
                    skipped = element
                    walker.skip_subtree()
                continue
            if element is skipped:
                skipped = None
            else:
                self._leave(element)
            if element.tail and element is not root:
                self._say(element.tail)
        self._flush()

    @property
    def _top(self) -> Frame:
        return self._frames[-1]

    def _say(self, words: str) -> None:
        self._words.append(words)
        length = len(words.strip(BETWEEN_LINKS))
        if self._links:
            self._linked += length
        else:
            self._free += length

    def _forget_links(self) -> None:
        self._linked = self._free = 0
        self._turns = self._home = False
        self._local = True

    def _enter(self, element: Any) -> bool:
        tag = element.tag
        if not isinstance(tag, str):
            return False
        if self._formulas and element in self._formulas and not self._visibility.is_hidden(element):
            if tag != "img" or not draws_formula(element):
                line = formula(element, self._mark_formula)
                self._say(set_apart(self._before(), line, _after(element)))
            return False
        if self._is_unseen(element):
            if tag in BLOCKS:
                self._flush()
            return False
        if tag in BLOCKS:
            return self._enter_block(tag, element)
        return self._enter_inline(tag, element)

    def _is_unseen(self, element: Any) -> bool:
        attributes = element.items()
        if not attributes and element.tag in PLAIN:
            return False
        alike = (element.tag, *(given for given in attributes if given[0] not in TELLS_NOTHING))
        if alike in self._seen:
            return False
        if self._visibility.is_frame(element):
            return True
        if not self._visibility.is_hidden(element):
            if self._visibility.is_told_by_attributes(element):
                self._seen.add(alike)
            return False
        said = (part.text or "" for part in element.iter() if part.tag not in ("script", "style", "template"))
        is_told = is_permalink(element) or draws_formula(element)
        self.left_out += not is_told and any(re.search(r"\w", words) for words in said)
        return True

    def _enter_inline(self, tag: str, element: Any) -> bool:
        if tag == "br":
            self._words.append(BREAK)
        elif tag == "img":
            self._say(element.get("alt") or "")
            self._link = (self._words, len(self._words))  # a picture that leads somewhere says nothing of it
        elif tag == "a" and element.get("href") is not None:
            if is_permalink(element):
                return False
            self._links += 1
            self._link = (self._words, len(self._words))
            self._local = self._local and element.get("href").startswith("#")
            self._home = leads_to_site(element.get("href"))
            turning = (element.get("rel") or "") in ("next", "prev", "previous", "up", "start", "contents", "index")
            self._turns |= turning or (element.get("accesskey") or "") in ("n", "p", "u", "h")
        setting = self._visibility.setting(element)
        if tag == "rt" and element.getparent().find("rp") is None:  # how a word is said, in brackets
            self._say("(")
        elif setting or (tag == "a" and is_note_mark(element)):
            self._words += [BREAK] if setting == "block" else []
            self._raised.append((element, setting, self._words, len(self._words)))
        self._mark(element)
        if element.text:
            self._say(element.text)
        return True

    def _leave(self, element: Any) -> None:
        tag = element.tag
        if tag in BLOCKS:
            self._leave_block(tag, element)
            return
        if self._raised and self._raised[-1][0] is element:
            self._set_raised(element, *self._raised.pop()[1:])
        if tag == "a" and element.get("href") is not None:
            self._links -= 1
            words, start = self._link
            if words is self._words and self._top.kind != "heading" and ":" in element.get("href"):
                words.append(self._targets.behind("".join(words[start:]), element.get("href")))
        elif tag == "rt" and element.getparent().find("rp") is None:
            self._say(")")
        elif tag == "span" and "versionmodified" in (element.get("class") or "").split():
            self._flush("label")

    def _before(self, end: int | None = None) -> str:
        """Return the last words before some, as far as one may change the other."""
        words = ""
        for piece in reversed(self._words[:end] if end is not None else self._words[-20:]):
            words = piece + words
            if len(words) > 20:
                break
        return words[-40:]

    def _set_raised(self, element: Any, setting: str, words: list[str], start: int) -> None:
        """Write raised or lowered text so that it stays apart from what it stands behind."""
        if setting == "block":
            self._words.append(BREAK)
            return
        if words is not self._words:  # a block has ended within it
            return
        mark, before, after = "".join(words[start:]), self._before(start), _after(element)
        del words[start:]
        if setting == "sub":
            words.append(lowered(before, mark, after=after))
        else:
            words.append(raised(before, mark, after=after, is_note=leads_to_note(element)))

    def _mark(self, element: Any) -> None:
        """Keep the id of an element as the anchor of what follows in the open block."""
        identity = element.get("id") or (element.get("name") if element.tag == "a" else None)
        if identity and not self._top.own_id and not GENERATED_ID.fullmatch(identity) and " " not in identity:
            self._top.anchor, self._top.anchored = identity, len(self.drafts)

    def _enter_block(self, tag: str, element: Any) -> bool:
        self._flush()
        table = self._top.table
        if tag in ("hr", "col", "colgroup") or (tag == "td" and table and table.labelled and is_icon(element)):
            return False
        if tag in CODE:
            self._read_code(element)
            return False
        frame = self._frame(tag)
        around, names = self._top, set((element.get("class") or "").split())
        self._frames.append(frame)
        if tag not in ("html", "body", "main", "article"):
            self._mark(element)
            frame.own_id = bool(element.get("id"))
        self._set_box(frame, names)
        self._set_part(frame, element, names)
        if tag in HEADINGS:
            self._set_heading(frame, around)
        elif tag in ("table", "tr", "td", "th"):
            self._set_table(frame, element)
        elif tag in LISTS or tag == "li":
            self._set_list(frame, around, element)
        elif tag in ("dl", "dt", "dd"):
            self._set_definition(frame, around, tag)
        elif names & SIGNATURES and around.tag == "td" and around.definitions is around:
            frame.kind, frame.hangs_on = "term", around.hangs_on
        if element.text:
            self._say(element.text)
        return True

    def _frame(self, tag: str) -> Frame:
        around, at = self._top, len(self.drafts)
        self._opened += 1
        described = around.terms if around.tag == "td" and around.definitions is around else ()
        above = joined(around.hangs_on, described)
        return Frame(
            tag, around.kind, above, around.anchor, around.anchored, at, len(self._frames), self._opened,
            lead=around.lead, instead=around.instead, lists=around.lists, since=around.since, item=around.item,
            box=around.box, box_kind=around.box_kind, definitions=around.definitions, table=around.table,
            row=around.row, level=around.level,
        )  # fmt: skip

    def _set_box(self, frame: Frame, names: set[str]) -> None:
        tag = frame.tag
        lowered = {name.lower().split("_")[0] for name in names} if names else names
        if tag == "details" or (tag in NOTE_TAGS and not NOTES.isdisjoint(names)):
            frame.box, frame.box_kind = frame, "label"
        elif tag in ("figure", "fieldset") or (tag == "div" and not CAPTIONED.isdisjoint(lowered)):
            frame.box, frame.box_kind = frame, "caption"
        elif frame.box is not None and tag in ("div", "p", "td") and not TITLES.isdisjoint(lowered):
            frame.kind = frame.box_kind
        elif tag in ("caption", "figcaption", "summary", "legend"):
            frame.kind = "label" if tag == "summary" else "caption"

    def _set_part(self, frame: Frame, element: Any, names: set[str]) -> None:
        if frame.tag == "blockquote":
            frame.kind = "quote"
            frame.hangs_on = self._above(frame, only_colon=True)
        if names and frame.tag != "body":
            contents = names & CONTENTS or ("contents" in names and names & {"topic", "local"})
            if contents or ("menu" in names and frame.tag in ("ul", "table", "dl")):
                frame.instead = "contents"
            elif names & FOOTNOTES and frame.tag != "p":
                frame.instead = "footnote"
        if frame.tag in ("aside", "section", "div", "li", "ol") and is_note(element):
            frame.instead = "footnote"

    def _set_heading(self, frame: Frame, around: Frame) -> None:
        if around.box is not None and around.box_kind == "label":
            frame.kind = "label"
        elif not around.lists and around.row is None and around.tag != "dd" and around.kind == "paragraph":
            frame.kind, frame.level = "heading", HEADINGS[frame.tag]
            if frame.anchored < len(self.drafts):
                frame.anchor = ""

    def _set_list(self, frame: Frame, around: Frame, element: Any) -> None:
        if frame.tag == "li":
            listing = around if around.tag in LISTS else None
            given = number_in(element.get("value"))
            number = given if given is not None else listing.number if listing else None
            if listing and number is not None:
                listing.number = number + listing.step
            frame.lists = max(1, frame.lists)
            unnumbered = number is None or (listing is not None and listing.numerals == "none")
            numerals = element.get("type") or (listing.numerals if listing else "")
            frame.marker = "- " if number is None or unnumbered else f"{in_form(number, numerals)}. "
            frame.kind, frame.item, frame.lead = "list_item", frame, None
            return
        frame.hangs_on = self._above(frame)
        frame.since = frame.since if frame.lists and frame.since is not None else len(self.drafts)
        frame.lists += 1
        if frame.tag == "ol":
            told = (name for name in (element.get("class") or "").split() if name in DOCUTILS_NUMERALS)
            frame.numerals = element.get("type") or self._visibility.list_style(element) or next(told, "")
            frame.step = -1 if element.get("reversed") is not None else 1
            start = number_in(element.get("start"))
            frame.number = start if start is not None else 1 if frame.step > 0 else len(element.findall("li"))

    def _set_definition(self, frame: Frame, around: Frame, tag: str) -> None:
        if tag == "dl":
            frame.hangs_on, frame.home = self._above(frame), frame.anchor
            frame.definitions = frame
            return
        listing = frame.definitions or around
        if tag == "dt":
            if listing.defined:
                listing.terms, listing.defined = [], False
            frame.kind = "term"
            if frame.anchored < len(self.drafts) and not frame.own_id:
                frame.anchor = listing.home
        else:
            listing.defined = True
            frame.kind, frame.item = "paragraph", None
            frame.hangs_on = joined(listing.hangs_on, listing.terms)  # libxml2 puts a dd into an open dd
        frame.definitions = listing
        frame.lead = None

    def _set_table(self, frame: Frame, element: Any) -> None:
        table = frame.table
        if frame.tag == "table":
            in_data = table is not None and table.is_data
            if frame.row is not None:
                self._break_row()
            frame.hangs_on = self._above(frame, only_colon=True)
            in_note = frame.box is not None and frame.box_kind == "label"
            frame.table = table_of(
                element, in_note, element in self._with_tables, element in self._with_headings, in_data=in_data
            )
            frame.row, frame.since = None, len(self.drafts)
            if frame.table.is_data:
                frame.box, frame.box_kind, frame.item, frame.kind = frame, "caption", None, "paragraph"
        elif table is None:
            return
        elif frame.tag == "tr":
            self._set_row(frame, table, element)
        elif frame.row is not None:
            self._fill(frame.row, table)
        elif table.entries:
            frame.definitions = frame
        elif frame.box is not None and frame.box_kind == "label" and (frame.tag == "th" or is_icon(element)):
            frame.kind = "label"

    def _set_row(self, frame: Frame, table: Table, element: Any) -> None:
        cells = [cell.tag for cell in element if cell.tag in ("td", "th")]
        if table.is_data and not (table.entries and "td" in cells):
            frame.row = []
        if not is_header(element, cells, table):
            group = () if table.group is None else (table.group,)
            frame.hangs_on = joined(frame.hangs_on, (*table.header, *group))

    def _leave_block(self, tag: str, element: Any) -> None:
        frame = self._top
        if tag in ("td", "th") and frame.row is not None:
            self._add_cell(frame.row, frame.table, element)
        elif tag == "tr" and frame.row is not None:
            self._finish_row(frame, element)
        else:
            self._flush()
        self._frames.pop()
        around = self._top
        written = len(self.drafts) - frame.first
        titled = written and tag in ("div", "header", "hgroup") and self.drafts[-1].kind == "heading"
        if titled or tag in HEADINGS or tag == "dt" or (not written and tag == "p"):
            around.anchor, around.anchored = frame.anchor, frame.anchored
        if written:
            last = len(self.drafts) - 1
            follows = frame.lead == last and tag not in PARTS
            around.lead = last if follows and (written == 1 or self.drafts[last].text.endswith(COLONS)) else None

    def _break_row(self) -> None:
        """Write the cells up to a nested table or code; the rest of the row hangs on them as blocks."""
        row, frames = self._top.row, self._frames
        at = max(index for index, frame in enumerate(frames) if frame.tag == "tr")
        said = self._said().replace("\n", " ")
        self._words = []
        if row is None:
            return
        index = self._add_row(frames[at], [*row, said] if said else row)
        for frame in frames[at:]:
            frame.row, frame.item = None, None
            frame.hangs_on = joined(frame.hangs_on, () if index is None else (index,))

    def _finish_row(self, frame: Frame, element: Any) -> None:
        table, row = frame.table, frame.row
        cells = [cell for cell in element if cell.tag in ("td", "th")]
        if table is None or row is None:
            return
        if len(cells) == 1 and set(row) == {row[0]}:  # over the whole row, as a title is
            del row[1:]
        while cells and table.spans and max(table.spans) >= len(row):
            self._fill(row, table)
            row += [""] * (bool(table.spans) and max(table.spans) >= len(row))
        index = self._add_row(frame, row)
        if is_header(element, [cell.tag for cell in cells], table):
            if table.has_body:
                table.header, table.has_body = (), False
            table.header = table.header if table.entries or index is None else (*table.header, index)
            return
        table.has_body = True
        covers = len(cells) == 1 and table.columns > 1 and (number_in(cells[0].get("colspan")) or 1) >= table.columns
        if covers and index is not None:
            table.group = index

    def _add_cell(self, row: list[str], table: Table | None, element: Any) -> None:
        """Add the words read since the row or its last cell, in each column and row that the cell covers."""
        text = self._said().replace("\n", " ")
        self._words = []
        if not element.keys():
            row.append(text)
            return
        across = min(max(number_in(element.get("colspan")) or 1, 1), 1000)
        down = number_in(element.get("rowspan"))
        for _ in range(across):
            if table is not None and down not in (None, 1):
                table.spans[len(row)] = ((down or _TO_THE_END) - 1, text)
            row.append(text)
            self._repeated += len(text) + 1
            if self._repeated > _MOST_REPEATED:
                break

    def _fill(self, row: list[str], table: Table) -> None:
        """Say the cells of the rows above again that reach into the next columns of this one."""
        while (span := table.spans.pop(len(row), None)) is not None:
            rows, text = span
            self._repeated += len(text) + 1
            if rows > 1 and self._repeated < _MOST_REPEATED:
                table.spans[len(row)] = (rows - 1, text)
            row.append(text)

    def _add_row(self, frame: Frame, cells: list[str]) -> int | None:
        text = " | ".join(cells) if any(cells) else ""
        return self._add("table_row", text.strip(), frame)

    def _said(self) -> str:
        words = "".join(self._words)
        return lines_of(with_formulas(words, self._mark_formula) if self._draws else words)

    def _flush(self, kind: BlockKind | None = None) -> None:
        """Write the collected words as a block of the kind of the innermost frame; in a cell, go on collecting."""
        frame = self._top
        if frame.row is not None:
            self._words.append(" ")
            return
        text, self._words = self._said() if self._words else "", []
        if not text:
            return
        kind = kind or frame.kind
        if kind == "list_item":
            item = frame.item
            text = "  " * (frame.lists - 1) + (item.marker if item else "") + text
        index = self._add(kind, text, frame)
        if index is None:
            return
        if kind == "list_item" and frame.item is not None:
            self._hang(frame.item, index)
            for open_frame in self._frames[frame.item.depth :]:
                open_frame.item = None
        elif kind == "term" and frame.definitions is not None:
            frame.definitions.terms.append(index)
        elif kind in ("label", "caption") and frame.box is not None:
            self._hang(frame.box, index)
        if kind in ("paragraph", "list_item", "quote", "footnote"):
            frame.lead = index

    def _hang(self, box: Frame, index: int) -> None:
        """Let the blocks to come within an open frame hang on a block."""
        for frame in self._frames[box.depth :]:
            frame.hangs_on = joined(frame.hangs_on, (index,))

    def _code_of(self, element: Any) -> Iterator[str]:
        walker = etree.iterwalk(element, events=("start", "end"))
        for event, part in walker:
            if event == "end":
                yield "" if part is element else part.tail or ""
            elif part is not element and (self._is_unseen(part) or (part.tag == "a" and is_permalink(part))):
                walker.skip_subtree()
            else:
                yield "\n" if part.tag == "br" else part.text or ""

    def _read_code(self, element: Any) -> None:
        text = "".join(self._code_of(element)).strip("\n")
        if self._top.row is not None:
            if "\n" not in text.strip():
                self._say(text)
                return
            self._break_row()
        frame = self._frame("pre")
        frame.hangs_on = self._above(frame)
        self._frames.append(frame)
        self._mark(element)
        self._add("code", text, frame)
        self._frames.pop()
        self._top.lead = None

    def _above(self, frame: Frame, *, only_colon: bool = False) -> tuple[int, ...]:
        """Return what a list, code or table hangs on: what is around it, and the paragraph directly before it."""
        lead = frame.lead
        if lead is None or lead != len(self.drafts) - 1:
            return frame.hangs_on
        if only_colon and not self.drafts[lead].text.endswith(COLONS):
            return frame.hangs_on
        return joined(frame.hangs_on, (lead,))

    def _add(self, kind: BlockKind, text: str, frame: Frame) -> int | None:
        linked = self._linked > 0 and self._free == 0
        turns = self._turns and self._linked > 0 and self._free <= 40 and kind not in ("heading", "code")
        local, home = linked and self._local, self._home
        self._forget_links()
        if not text.strip() or turns:
            return None
        if kind == "heading":
            if linked and home:
                return None
        elif frame.instead is not None and kind != "code":
            kind = frame.instead
        elif local and kind not in ("code", "label", "caption"):
            kind = "contents"
        previous = self.drafts[-1].kind if self.drafts else None
        on_previous = len(self.drafts) - 1 in frame.hangs_on
        tight = (previous in ("term", "label", "caption") and on_previous and kind != "code") or (
            kind in ("list_item", "table_row", "contents")
            and frame.since is not None
            and len(self.drafts) > frame.since
        )
        tight = tight or (kind == "term" and previous == "term" and bool(frame.definitions and frame.definitions.terms))
        index = len(self.drafts)
        within = self._frames[max(0, frame.depth - 1)] if frame.first == index else frame
        draft = Draft(kind, text, frame.hangs_on, frame.anchor, tight, frame.level, linked)
        draft.element, draft.within = frame.serial, within.serial
        self.drafts.append(draft)
        return index


def _after(element: Any) -> str:
    """Return the first letters behind an element, as far as they are near."""
    for _ in range(3):
        if element is None or element.tail:
            return element.tail[:20] if element is not None else ""
        beside = element.getnext()
        if beside is not None:
            return (beside.text or "")[:20] if isinstance(beside.tag, str) else ""
        element = element.getparent()
    return ""
