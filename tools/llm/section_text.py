"""The text of a section as it goes out: without tags, control characters, or space around it."""

import re
import unicodedata

TAG = re.compile(r"\[SEG=([^\[\]\s]{1,200})\]")
TAG_BEGUN = re.compile(r"\[(?:S(?:E(?:G(?:=[^\[\]\s]{0,200})?)?)?)?")
LONGEST_TAG = 206
UNWANTED = {c: None for c in range(0xA0) if unicodedata.category(chr(c)) == "Cc" and chr(c) not in "\n\t"}
SURROGATE = re.compile("[\ud800-\udfff]")


class SectionText:
    """Clean a section's text while it arrives; what comes out does not depend on how it was cut.

    A tag that the model wrote into the text is taken out and its id kept in ``tagged``.
    """

    def __init__(self) -> None:
        self.tagged: list[str] = []
        self._sent: list[str] = []
        self._held = ""
        self._space = ""

    @property
    def begun(self) -> bool:
        return bool(self._sent)

    @property
    def text(self) -> str:
        return "".join(self._sent)

    def feed(self, delta: str) -> str:
        """Give what can be shown now; the rest waits for more."""
        self._held += SURROGATE.sub("\N{REPLACEMENT CHARACTER}", delta.translate(UNWANTED))
        shown = ""
        while tag := TAG.search(self._held):
            shown += self._show(self._held[: tag.start()])
            self._space = self._space.rstrip(" \t")
            self._held = self._held[tag.end() :]
            self.tagged.append(tag[1])
        cut = self._held.rfind("[", max(0, len(self._held) - LONGEST_TAG))
        if cut < 0 or not TAG_BEGUN.fullmatch(self._held, cut):
            cut = len(self._held)
        shown += self._show(self._held[:cut])
        self._held = self._held[cut:]
        return shown

    def finish(self, mark: str = "") -> str:
        """Give what was held back, then ``mark`` where there is any text; space at the end is dropped."""
        shown = self._show(self._held)
        self._held = self._space = ""
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
