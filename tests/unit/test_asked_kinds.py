"""What kind of answer a question asks for, and its signs in an entry, in three languages."""

import pytest

from tools.extractive.asked_kinds import AskedKind, asked_kinds, shows


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many connections are allowed?", "value"),
        ("What is pool_size if I don't set it?", "default"),
        ("Which option prints the settings?", "command"),
        ("how to print the settings", "steps"),
        ("What does pool_size mean?", "definition"),
        ("Which values are accepted?", "list"),
        ("What is the difference between fast and safe mode?", "comparison"),
        ("with sync off, can data be lost?", "yesno"),
        ("Why is the file ignored?", "reason"),
        ("Mặc định là bao nhiêu?", "default"),
        ("Lệnh nào in ra cấu hình?", "command"),
        ("Tại sao tệp bị bỏ qua?", "reason"),
        ("默认端口是多少？", "value"),
        ("怎么打印设置？", "steps"),
        ("软限制和硬限制有什么区别？", "comparison"),
    ],
)
def test_a_question_asks_for_a_kind(question: str, kind: AskedKind) -> None:
    assert kind in asked_kinds(question)


@pytest.mark.parametrize(
    ("kind", "text", "other"),
    [
        ("value", "At most 64 operations.", "The pool is shared."),
        ("default", "The default is on.", "It is on."),
        ("command", "Run broker --show-settings.", "Settings are shown."),
        ("reason", "This avoids a lost write.", "A write was lost."),
        ("comparison", "Unlike safe mode, fast mode keeps nothing.", "Fast mode keeps nothing."),
        ("reason", "因为文件权限不对", "文件权限不对"),
        ("default", "Mặc định là 20.", "Đặt là 20."),
    ],
)
def test_an_entry_shows_a_kind(kind: AskedKind, text: str, other: str) -> None:
    assert shows(kind, text)
    assert not shows(kind, other)
