"""What requirements/install.sh says where Python cannot do what it needs; nothing is installed here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("bash", "dirname", "env", "grep")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the script and locks, and a PATH of its own that holds no Python and no uv."""
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def install(clone: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(clone / "requirements" / "install.sh"), "runtime"],
        env={"PATH": str(clone / "bin"), "HOME": os.environ.get("HOME", "/"), **environment},
        capture_output=True,
        text=True,
    )


def python_that(clone: Path, name: str, *, fails_at: str) -> Path:
    """Put a Python on the PATH that fails where its code names something, and is the real one otherwise."""
    path = clone / "bin" / name
    path.write_text(f'#!/bin/sh\ncase "$*" in *"{fails_at}"*) exit 1;; esac\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path


def test_a_machine_without_python_is_told_what_to_install(clone: Path) -> None:
    done = install(clone)
    assert done.returncode != 0
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert not (clone / ".venv").exists()


def test_a_python_that_makes_no_environments_is_told_its_debian_package(clone: Path) -> None:
    python_that(clone, "python3", fails_at="ensurepip")
    done = install(clone)
    assert done.returncode != 0
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"apt-get install python{version}-venv" in done.stderr
    assert not (clone / ".venv").exists()


def test_a_named_python_of_another_version_is_refused(clone: Path) -> None:
    old = python_that(clone, "python3.9", fails_at="version_info < (3, 14)")
    done = install(clone, PYTHON=str(old))
    assert done.returncode != 0
    assert f"PYTHON={old} is not a Python 3.11, 3.12 or 3.13" in done.stderr
