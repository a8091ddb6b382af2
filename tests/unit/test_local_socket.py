"""The socket by which a server answers this machine's command line: private, one a data folder, and never stale."""

import os
import socket
from pathlib import Path

import pytest

from cli.local_socket import FOLDER, SOCKET_NAME, connect, deciding, listening, settings_read


def test_a_listener_is_found_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        assert listener is not None
        assert (tmp_path / FOLDER).stat().st_mode & 0o777 == 0o700
        assert (tmp_path / FOLDER / SOCKET_NAME).stat().st_mode & 0o777 == 0o600
        with answered_by(tmp_path) as connection:
            accepted, _ = listener.accept()
            with accepted:
                accepted.sendall(b"yes")
            assert connection.recv(3) == b"yes"
    assert not (tmp_path / FOLDER / SOCKET_NAME).exists()
    assert connect(tmp_path) is None


def test_what_a_killed_server_leaves_answers_nothing_and_is_replaced(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as dead:
        in_folder(dead.bind, tmp_path / FOLDER)
    assert (tmp_path / FOLDER / SOCKET_NAME).exists()
    assert connect(tmp_path) is None
    with listening(tmp_path) as listener:
        assert listener is not None
        answered_by(tmp_path).close()


def test_of_two_servers_the_first_answers(tmp_path: Path) -> None:
    with listening(tmp_path) as first:
        assert first is not None
        with listening(tmp_path) as second:
            assert second is None
        answered_by(tmp_path).close()
    with listening(tmp_path) as next_one:
        assert next_one is not None


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_may_enter_is_not_used(tmp_path: Path, mode: int) -> None:
    with listening(tmp_path) as listener:
        assert listener is not None
        (tmp_path / FOLDER).chmod(mode)
        assert connect(tmp_path) is None
    with listening(tmp_path) as listener:
        assert listener is None


def test_a_link_to_a_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / FOLDER).symlink_to(tmp_path / "elsewhere")
    with listening(tmp_path) as listener:
        assert listener is None
    assert connect(tmp_path) is None
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_another_users_folder_is_not_used(tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        assert listener is not None
        os.chown(tmp_path / FOLDER, 1, 1)
        assert connect(tmp_path) is None
    with listening(tmp_path) as listener:
        assert listener is None


def test_a_long_path_is_no_obstacle(tmp_path: Path) -> None:
    data_dir = tmp_path / ("long " * 20) / ("longer " * 20)
    data_dir.mkdir(parents=True)
    with listening(data_dir) as listener:
        assert listener is not None
        answered_by(data_dir).close()


def test_a_data_folder_that_goes_away_ends_nothing(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    with listening(data_dir) as listener:
        assert listener is not None
        data_dir.rename(tmp_path / "moved")
    assert connect(data_dir) is None


def test_settings_are_those_of_the_environment_and_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("CITEWELL_")]:
        monkeypatch.delenv(name)
    (tmp_path / ".env").write_text("CITEWELL_EFFORT=fast\ncitewell_release=judged\nHOME_TOWN=Ulm\n", encoding="utf-8")
    monkeypatch.setenv("CITEWELL_EFFORT", "thorough")
    monkeypatch.setenv("UNRELATED", "x")
    found = settings_read()
    assert found["CITEWELL_EFFORT"] == "thorough", "the environment wins"
    assert found["CITEWELL_RELEASE"] == "judged"
    assert not {"HOME_TOWN", "UNRELATED"} & found.keys()


@pytest.mark.parametrize(
    "name", ["HOST", "PORT", "WORKSPACE", "USER", "AUTH__MODE", "OIDC__ISSUER", "LOG_LEVEL", "DATA_DIR"]
)
def test_what_changes_no_answer_does_not_count(name: str) -> None:
    assert deciding({f"CITEWELL_{name}": "x"}) == {}


@pytest.mark.parametrize("name", ["CITEWELL_MODELS", "CITEWELL_GROUPS", "CITEWELL_JUDGE__MODEL", "SERPER_API_KEY"])
def test_what_may_change_an_answer_counts(name: str) -> None:
    assert deciding({name: "x"}) == {name: "x"}


def test_a_setting_that_refers_to_a_variable_counts_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = {"CITEWELL_MCP_SEARCH": '[{"headers": {"Authorization": "${TOKEN_OF_MINE}"}}]'}
    monkeypatch.setenv("TOKEN_OF_MINE", "one")
    before = deciding(setting)
    monkeypatch.setenv("TOKEN_OF_MINE", "two")
    assert deciding(setting) != before


def answered_by(data_dir: Path) -> socket.socket:
    connection = connect(data_dir)
    assert connection is not None
    return connection


def in_folder(bind: object, folder: Path) -> None:
    """Call with the socket's path by a name that is short, whatever the folder's is."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        assert callable(bind)
        bind(f"/proc/self/fd/{opened}/{SOCKET_NAME}")
    finally:
        os.close(opened)
