"""Repositories that somebody has tampered with: what is read of one stands in it, and nothing of it runs.

Each is read soundly or refused with a reason, with limits that any of them reaches.
"""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph.errors import CitewellError
from tools.library import git_copy, git_reader
from tools.library.git_reader import GitReader
from tools.library.new_documents import NewDocument

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
MOST_SECONDS = 30  # a guard against hangs
SECRET = b"The code of the vault is 5566."
PERSON = ("-c", "user.name=Keeper", "-c", "user.email=keeper@example.org")
LEADS_OUT = (
    "[include]\n\tpath = {outside}/config\n[core]\n\tfsmonitor = touch {ran}\n\tsshCommand = touch {ran}\n\tworktree = "
    '{outside}\n[remote "origin"]\n\turl = ext::touch {ran}\n[uploadpack]\n\tpackObjectsHook = touch {ran}\n'
)
PLACES = (
    ".git", ".git/config", ".git/HEAD", ".git/commondir", ".git/objects", ".git/objects/info/alternates", ".git/refs",
    ".git/objects/pack", ".git/refs/heads/main", ".git/packed-refs", ".git/hooks/post-checkout", ".git/shallow",
    ".git/hooks/reference-transaction", ".git/info/grafts", ".git/objects/info/packs", ".gitmodules", "lamp.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository below `root`, and one outside of that."""
    folder = tmp_path_factory.mktemp("originals")
    for name, text in (("root/harbour", b"A lamp."), ("outside", SECRET)):
        (place := folder / name).mkdir(parents=True)
        (place / "lamp.md").write_bytes(text)
        (place / "config").write_text("[core]\n")
        for arguments in (("init", "-b", "main"), ("add", "."), ("commit", "-m", "First"), ("repack", "-a")):
            subprocess.run(["git", *PERSON, *arguments], cwd=place, check=True, capture_output=True)
    return folder


def emptied(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def removed(path: Path, outside: Path, share: float) -> None:
    emptied(path)


def linked(path: Path, outside: Path, share: float) -> None:
    """Put a link to what has the same name outside."""
    emptied(path)
    inner = Path(*path.parts[path.parts.index("harbour") + 1 :])
    path.symlink_to(outside / inner)


def led_out(path: Path, outside: Path, share: float) -> None:
    emptied(path)
    named = {".git": f"gitdir: {outside}/.git", "alternates": f"{outside}/.git/objects", "commondir": f"{outside}/.git"}
    text = LEADS_OUT.format(outside=outside, ran=outside.parent / "ran")
    path.write_text(named.get(path.name, f"#!/bin/sh\ntouch {outside.parent}/ran\n" if "hooks" in path.parts else text))
    path.chmod(0o755)


def cut(path: Path, outside: Path, share: float) -> None:
    for each in [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()][:1]:
        data = each.read_bytes()
        each.chmod(0o644)
        each.write_bytes(data[: int(share * len(data))])


def changed(path: Path, outside: Path, share: float) -> None:
    for each in [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()][:1]:
        data = bytearray(each.read_bytes() or b"\0")
        data[int(share * (len(data) - 1))] ^= 0xFF
        each.chmod(0o644)
        each.write_bytes(data)


def grown(path: Path, outside: Path, share: float) -> None:
    """Put many files where one is, or in a folder."""
    if not path.is_dir():
        emptied(path)
        path.mkdir()
    for number in range(40):
        (path / f"{number:038x}").write_bytes(b"x" * 500)


def piped(path: Path, outside: Path, share: float) -> None:
    emptied(path)
    os.mkfifo(path)


TAMPERINGS: list[Callable[[Path, Path, float], None]] = [removed, linked, led_out, cut, changed, grown, piped]
STEPS = st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(TAMPERINGS), st.floats(0, 1)), max_size=4)


@given(steps=STEPS, ref=st.sampled_from(["", "main", "refs/heads/main", "../../main", "HEAD", "v1", "main.lock"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_repository_leads_nowhere_else_and_runs_nothing(
    originals: Path, monkeypatch: pytest.MonkeyPatch, steps: list[Any], ref: str
) -> None:
    monkeypatch.setattr(git_copy, "CHUNK_BYTES", 64)
    monkeypatch.setattr(git_reader, "LONGEST_PATH", 20)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        shutil.copytree(originals, here, symlinks=True, dirs_exist_ok=True)
        for place, tamper, share in steps:
            try:
                tamper(here / "root/harbour" / place, here / "outside", share)
            except OSError:  # what an earlier step has put there
                continue
        for data in asyncio.run(read_all(here, ref)):
            assert SECRET not in data
        assert not (here / "ran").exists()


async def read_all(folder: Path, ref: str) -> list[bytes]:
    """Read the files of the repository as a server does; none where it is refused."""
    root = folder / "root"
    async with asyncio.timeout(MOST_SECONDS):
        try:
            reader = GitReader(str(root / "harbour"), cache=folder / "cache", max_bytes=400, ref=ref, root=root)
            files = (await reader.listing()).files
            read = await reader.read([file.path for file in files])
            await reader.close()
        except CitewellError as error:
            assert error.message  # noqa: PT017
            assert error.advice  # noqa: PT017
            return []
    return [each.data or b"" for each in read if isinstance(each, NewDocument)]
