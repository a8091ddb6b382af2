"""The fenced blocks of the manual's pages, and the commands in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """The ``number``th fenced block of a page, from 1, and its language."""

    page: Path
    number: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.stem}-{self.number}"

    @property
    def is_settings(self) -> bool:
        """Whether it has settings, as a shell or an environment file has them."""
        return self.language == "sh" and bool(re.search(r"^CITEWELL_\w+=", self.text, re.MULTILINE))

    @property
    def commands(self) -> str:
        """What a reader types: a block of the shell, or what stands behind the prompt of a transcript."""
        if self.language == "sh":
            return self.text
        typed = re.findall(r"^\$ ((?:.*\\\n|.*,\n)*.*\n)", self.text, re.MULTILINE)
        return "".join(typed) if self.language == "text" else ""


def blocks_of(page: str) -> list[Block]:
    """List the fenced blocks of a page, named from the root of the repository."""
    path = ROOT / page
    found = _BLOCK.findall(path.read_text(encoding="utf-8"))
    return [Block(path, number, language, text) for number, (language, text) in enumerate(found, start=1)]
