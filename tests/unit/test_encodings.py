"""Texts that do not say how they are encoded: read where one encoding stands out, and always with a warning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import UnreadableDocument
from tools.parsers import parse
from tools.parsers.encodings import guessed, guesses_heard
from tools.parsers.plain import decode

TEXTS = {
    "cp1252": [
        "Die Straße ist für Fußgänger gesperrt. Über die Öffnung entscheidet der Bürgermeister später.",
        "La lámpara del baño se apaga a las diez. ¿Dónde está el señor Núñez?",
        "The keeper’s lamp — “the old one” — is switched off at ten o’clock each night.",
        "La città è più bella di sera, perché le luci sono già accese.",
        "A lâmpada não está ligada às dez; é uma questão de segurança e atenção.",
    ],
    "cp1250": [
        "Žlutý kůň pěl ďábelské ódy. Lampy se zhasínají v deset hodin večer.",
        "A lámpákat este tízkor oltják el. Az őr őrzi a kulcsokat, és gyűjti a régi fűtőtesteket.",
    ],
    "cp1254": ["Lambalar saat onda söndürülür. Anahtarlar nöbetçide, çünkü öğle arası değişiyor. Işık açık kalır."],
    "cp1251": ["Лампы выключают в десять часов вечера. Ключи лежат у дежурного."],
    "cp866": ["Лампы выключают в десять часов вечера. Ключи лежат у дежурного."],
    "cp1253": ["Οι λάμπες σβήνουν στις δέκα το βράδυ. Τα κλειδιά είναι στον φύλακα."],
    "cp1255": ["המנורות נכבות בעשר בערב. המפתחות אצל השומר."],
    "cp1256": ["تطفأ المصابيح في العاشرة مساء. المفاتيح عند الحارس."],
    "cp874": ["ปิดไฟเวลาสี่ทุ่ม กุญแจอยู่ที่ยาม"],
    "gb18030": ["灯在晚上十点关闭。钥匙在值班员那里。电话号码是一二三。"],
    "big5": ["燈在晚上十點關閉。鑰匙在值班員那裡。電話號碼是一二三。"],
    "euc_jp": ["ランプは夜十時に消されます。鍵は当直の人が持っています。"],
    "cp949": ["램프는 밤 열 시에 꺼집니다. 열쇠는 당직자가 가지고 있습니다."],
    "utf-16-be": ["The lamps are off at ten.\nThe keys lie at the desk.\n"],
}


@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_a_text_is_read_as_it_was_written(encoding: str, text: str) -> None:
    parsed = parse(text.encode(encoding), name="x.txt")
    assert parsed.text == text
    [warning] = parsed.warnings
    assert parsed.metadata["encoding"] in warning
    assert "guess" in warning


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("café", "cp1252"),
        ("The price is £5 per day.", "cp1252"),
        ("½ tablet, 20 °C", "cp1252"),
        ("It’s here", "cp1252"),
        ("Größe", "cp1252"),
        ("ÉCOLE PRIMAIRE", "cp1252"),
        ("Ação não", "cp1252"),
        ("Łódź", "cp1250"),
        ("Żółw 20 zł", "cp1250"),
        ("Vlkoš 5, Žďár", "cp1250"),
        ("IŞIK AÇIK", "cp1254"),
        ("Ключи лежат", "cp1251"),
        ("Ελλάδα", "cp1253"),
        ("Die Straße ist für Fußgänger gesperrt.", "cp850"),
        ("Die Straße ist für Fußgänger gesperrt.", "mac_roman"),
    ],
)
def test_a_text_too_short_to_tell_is_read_as_is_likeliest_and_told(text: str, encoding: str) -> None:
    parsed = parse(text.encode(encoding), name="x.txt")
    assert parsed.text == text
    assert "guess" in parsed.warnings[0]


@pytest.mark.parametrize("charset", ["utf-8", "no-such-charset"])
def test_a_file_that_names_a_wrong_charset_is_read_as_is_likeliest_and_told(charset: str) -> None:
    page = f"<html><head><meta charset={charset}></head><body><p>Die Straße ist gesperrt.</p></body></html>"
    parsed = parse(page.encode("cp1252"), name="x.html")
    assert parsed.text == "Die Straße ist gesperrt."
    assert "guess" in parsed.warnings[0]


def test_a_text_in_utf_8_with_a_broken_letter_keeps_the_others() -> None:
    parsed = parse("Tiếng Việt không có dấu".encode() + b"\xff and more", name="x.txt")
    assert parsed.text == "Tiếng Việt không có dấu\ufffd and more"
    assert len(parsed.warnings) == 2


@pytest.mark.parametrize("data", [bytes(range(1, 256)) * 3, b"\x7fELF\x02\x01\x01" + bytes(range(1, 200))])
def test_bytes_that_are_no_text_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableDocument):
        parse(data, name="x.txt")


def test_what_names_its_encoding_is_not_guessed() -> None:
    declared = "<html><head><meta charset='cp1251'></head><body><p>Это лампа.</p></body></html>"
    parsed = parse(declared.encode("cp1251"), name="x.html")
    assert (parsed.text, parsed.warnings) == ("Это лампа.", ())
    assert parse("Это лампа.".encode(), name="x.txt").warnings == ()


def test_nothing_is_guessed_where_nobody_hears_of_it() -> None:
    with pytest.raises(UnreadableDocument):
        decode("Die Straße ist für Fußgänger gesperrt.".encode("cp1252"))


@pytest.mark.parametrize("name", ["x.md", "x.html", "x.csv", "x.rst", "x.py", "x.json", "x.yaml"])
def test_each_format_of_text_tells_of_its_guess(name: str) -> None:
    words = "Die Straße ist für Fußgänger gesperrt."
    text = {"x.html": f"<p>{words}</p>", "x.json": f'"{words}"', "x.csv": f"a,b\n1,{words}\n"}.get(name, words)
    parsed = parse(text.encode("cp1252"), name=name)
    assert words in parsed.text
    assert parsed.metadata["encoding"] == "windows-1252"
    assert len(parsed.warnings) == 1


def test_what_follows_the_sample_is_read_too() -> None:
    german = "Die Straße ist für Fußgänger gesperrt.\n".encode("cp1252") * 10_000
    assert parse(german + "Größe".encode("cp1252"), name="x.txt").text.endswith("Größe")


@given(st.binary(max_size=300))
def test_a_guess_decodes_the_very_bytes(data: bytes) -> None:
    with guesses_heard() as heard:
        text = guessed(data)
    assert (text is None) == (not heard)
    if text is not None and "\ufffd" not in text:
        wider = {"euc-kr": "cp949", "shift_jis": "cp932", "windows-874": "cp874"}  # as browsers read these names
        assert text.encode(wider.get(heard[0], heard[0])) == data
