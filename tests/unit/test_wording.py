"""What is asserted of the service is a code, a count, a name or a few words, so that its sentences can change."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SERVICE = ["answers", "api", "cli", "evals", "graph", "nodes", "prompts", "text", "tools"]
EXAMPLES = {"demo.py", "verify_routes.py"}  # of questions and of documents
WORDS = 5  # in a row, which make a sentence of ours
ALLOWED = ("default-src 'none'",)  # a policy is no prose
TEXTS = re.compile(r'""".*?"""', re.DOTALL)
JOINED = re.compile(r'"\s*\n\s*f?"')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
SIGNS = ".,:;!?()[]“”‘’\"'^$\\"
ASSERTING = re.compile(r"to_(?:have|contain)_\w+|get_by_\w+|filter|parametrize|raises|warns")


def test_no_sentence_of_ours_is_asserted() -> None:
    service = (file for package in SERVICE for file in (ROOT / package).rglob("*.*") if _is_ours(file))
    ours = set().union(*map(_runs_in, service))
    asserted = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in sorted((ROOT / "tests").glob("*/*.py"))
        if ours & _runs_in(file)  # to read all of them as code takes seconds
        for line, text in _asserted(ast.parse(file.read_text("utf-8")))
        if ours & _runs(text) and not text.startswith(ALLOWED)
    ]
    assert asserted == [], "assert a code, a count, a name or two or three words"


def test_a_sentence_that_is_asserted_is_found() -> None:
    source = 'x = "The tide comes in at noon."\nassert error.message == "The tide goes out at noon."'
    assert [(line, _runs(text)) for line, text in _asserted(ast.parse(source))] == [
        (2, {"the tide goes out at", "tide goes out at noon"})
    ]
    assert _runs("The tide goes out at 9") == {"the tide goes out at"}
    assert _runs("The tide goes out") == set()


def _is_ours(file: Path) -> bool:
    return file.suffix in {".py", ".js", ".json", ".toml"} and file.name not in EXAMPLES and "vendor" not in file.parts


def _runs_in(file: Path) -> set[str]:
    texts = LITERAL.findall(JOINED.sub("", TEXTS.sub("", file.read_text("utf-8"))))
    return set().union(*map(_runs, texts))


def _runs(text: str) -> set[str]:
    """Return what a text has of so many words in a row, without the signs around them."""
    if text.count(" ") < WORDS - 1:
        return set()
    words = [word.strip(SIGNS) for word in text.lower().replace("\\n", " ").split()]
    words = [word if WORD.fullmatch(word) else "" for word in words]
    runs = (words[at : at + WORDS] for at in range(len(words) - WORDS + 1))
    return {" ".join(run) for run in runs if all(run)}


def _asserted(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give each text, with its line, in an assert or in a call that asserts or finds."""
    for node in ast.walk(tree):
        name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Assert) or ASSERTING.fullmatch(name):
            inner = ast.walk(node.test if isinstance(node, ast.Assert) else node)
            texts = (part for part in inner if isinstance(part, ast.Constant) and isinstance(part.value, str))
            yield from ((part.lineno, str(part.value)) for part in texts)
