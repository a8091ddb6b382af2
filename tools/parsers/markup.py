"""The words of an HTML fragment, as they stand inside Markdown."""

from html.parser import HTMLParser

_UNSEEN = frozenset({"script", "style", "template", "head"})
_BREAKS = frozenset({"br", "p", "div", "li", "tr", "summary", "details", "h1", "h2", "h3", "h4", "h5", "h6", "hr"})


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BREAKS:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        if tag in _BREAKS:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.words.append(data)


def words_of(html: str) -> str:
    """Give the text of a fragment, without tags, comments, scripts and styles; block tags break the line."""
    parser = _Words()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.words).splitlines())
    return "\n".join(line for line in lines if line)
