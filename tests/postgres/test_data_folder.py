"""The data folder of a deployment that names none."""

import os
from pathlib import Path

import platformdirs
import pytest

from graph.errors import ConfigurationError
from tests.conftest import NO_FILE
from tools.folders.data_folder import STATE_DIR, default_data_dir, has_library, is_in_place, private_replacement
from tools.settings import Settings
from tools.storage.embedded import locate_data_folder


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder, and have a home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CITEWELL_DATA_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "share"))
    return tmp_path


def as_user(monkeypatch: pytest.MonkeyPatch, *, root: bool) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)


def test_a_library_is_at_home_wherever_one_stands(somewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, root=False)
    assert default_data_dir() == platformdirs.user_data_path("citewell")
    assert default_data_dir().is_relative_to(somewhere / "home")
    (somewhere / "elsewhere").mkdir()
    monkeypatch.chdir(somewhere / "elsewhere")
    assert default_data_dir().is_relative_to(somewhere / "home")
    assert list((somewhere / "elsewhere").iterdir()) == []


def test_root_keeps_its_library_outside_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    as_user(monkeypatch, root=True)
    assert default_data_dir() == STATE_DIR


@pytest.mark.parametrize("root", [False, True])
def test_an_existing_library_in_the_folder_is_found(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch, root: bool
) -> None:
    as_user(monkeypatch, root=root)
    (somewhere / ".citewell" / "postgres").mkdir(parents=True)
    assert default_data_dir() == somewhere / ".citewell"
    assert is_in_place(default_data_dir())
    assert Settings(**NO_FILE).data_dir == somewhere / ".citewell"


def test_a_folder_of_that_name_without_a_library_is_no_library(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_user(monkeypatch, root=False)
    (somewhere / ".citewell").mkdir()
    assert not has_library(somewhere / ".citewell")
    assert not is_in_place(default_data_dir())


def test_a_library_that_root_keeps_for_a_private_folder_is_found(
    somewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.folders.data_folder.STATE_DIR", somewhere / "state")
    as_user(monkeypatch, root=True)
    assert not has_library(somewhere / ".citewell")
    private_replacement(somewhere / ".citewell" / "postgres").mkdir(parents=True)
    assert has_library(somewhere / ".citewell")


def test_a_setting_wins(somewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (somewhere / ".citewell" / "postgres").mkdir(parents=True)
    monkeypatch.setenv("CITEWELL_DATA_DIR", str(somewhere / "mine"))
    assert Settings(**NO_FILE).data_dir == somewhere / "mine"


def test_a_user_without_a_home_is_told_which_setting_helps() -> None:
    with pytest.raises(ConfigurationError, match="no home folder") as caught:
        locate_data_folder(Path("~no-such-account/citewell"), None)
    assert "CITEWELL_DATA_DIR" in caught.value.advice
