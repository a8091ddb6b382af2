"""The Python programs that the manual shows, run as if each were pasted into a file of its own."""

import io
import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MANUAL = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
_PROGRAM = re.compile(r"^```(?:python|py)\n(.*?)^```", re.MULTILINE | re.DOTALL)
STUDIO = "http://127.0.0.1:2024"


@dataclass(frozen=True, slots=True)
class Program:
    """The ``number``th program of a page, from 1."""

    page: Path
    number: int
    code: str

    def __str__(self) -> str:
        return f"{self.page.stem}-{self.number}"

    def run(self, there: Mapping[str, str]) -> tuple[dict[str, Any], str]:
        """Run the program with the texts that ``there`` replaces, such as addresses of servers that tests started.

        Blocks: call it without a running event loop, as a file is. Returns its names and what it printed.
        """
        code = self.code
        for shown, used in there.items():
            code = code.replace(shown, used)
        names: dict[str, Any] = {"__name__": "__main__"}
        with redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(self), "exec", dont_inherit=True), names)
        return names, printed.getvalue()


PROGRAMS = [
    Program(page, number, code)
    for page in MANUAL
    for number, code in enumerate(_PROGRAM.findall(page.read_text(encoding="utf-8")), start=1)
]
STUDIO_PROGRAMS = [program for program in PROGRAMS if STUDIO in program.code]
