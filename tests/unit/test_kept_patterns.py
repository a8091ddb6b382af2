import re
import re._compiler as compiler
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.kept_patterns import KeptPatterns

AT_IMPORT = r"""
import re
NAMED = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)|([a-zÀ-ÿ]+)[\u4e00-\u9fff]*", re.IGNORECASE)
MANY = [re.compile(each) for each in ("^a+$", "[^\\W_]+", "(?x) a b  # c")]
def of(words): return re.compile("|".join(map(re.escape, words)))
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    before = compiler.compile
    yield tmp_path / "cache" / "kept.patterns"
    compiler.compile = before
    re.purge()


def run_module(file: Path) -> dict[str, Any]:
    """Import a module by the kept patterns of a file, and save them."""
    re.purge()
    kept = KeptPatterns(file)
    kept.use()
    module: dict[str, Any] = {"__name__": "module"}
    exec(compile(AT_IMPORT, "module", "exec"), module)
    module["of"](["secret"])
    kept.save()
    return module


def test_patterns_of_modules_are_kept_and_those_made_of_input_are_not(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    run_module(file)
    written = file.read_bytes()
    assert b"month" in written
    assert b"secret" not in written
    module = run_module(file)
    assert file.read_bytes() == written
    named = module["NAMED"]
    assert named.groupindex == {"year": 1, "month": 2}
    assert named.flags == re.IGNORECASE | re.UNICODE
    assert [each.lastgroup for each in named.finditer("2026-11 ÉTÉ中")] == ["month", None]
    assert [path.name for path in file.parent.iterdir()] == ["kept.patterns"]


def test_a_file_that_was_cut_off_is_written_anew(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    run_module(file)
    whole = file.read_bytes()
    for length in (0, 1, 40, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        run_module(file)
        assert file.read_bytes() == whole


def test_nothing_is_written_where_python_writes_no_byte_code(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    run_module(file)
    assert not file.parent.exists()
