"""What a question asks for and names: quantities, names and numbers, in three languages."""

import pytest

from tools.extractive.question_analysis import asked_quantity, names_in, numbers_in, quantities_in, share_missing


@pytest.mark.parametrize(
    ("question", "text", "given"),
    [
        ("How much is a return ticket?", "A return is 13 euros, paid within 3 days.", ["13 euros"]),
        ("What does it cost?", "Children travel free.", ["free"]),
        ("How long does the crossing take?", "It takes 55 minutes and costs €13.", ["55 minutes"]),
        ("How long do I have to wait?", "Wait for half an hour.", ["half an hour"]),
        ("How often is the filter changed?", "Change it every month, at 9:00.", ["every"]),
        ("What time does the pool close?", "It closes at 21:30 on 4 days.", ["21:30"]),
        ("When does the ferry leave?", "It leaves at 8 am.", ["8 am"]),
        ("Vé khứ hồi giá bao nhiêu?", "Vé khứ hồi 130.000 đồng, đi mất 2 giờ.", ["130.000 đồng"]),
        ("Chuyến đi kéo dài bao lâu?", "Chuyến đi mất hai giờ.", ["hai giờ"]),
        ("Mấy giờ thư viện mở cửa?", "Thư viện mở cửa lúc 8h30.", ["8h30"]),
        ("Đi mất mấy giờ?", "Chuyến đi mất hai giờ.", ["hai giờ"]),
        ("Thư viện mở cửa khi nào?", "Thư viện mở cửa lúc 8h30.", ["8h30"]),
        ("Bao lâu thay lõi lọc một lần?", "Thay lõi lọc mỗi năm.", ["mỗi"]),
        ("Bao lâu một lần phải thay lõi lọc?", "Thay lõi lọc mỗi năm.", ["mỗi"]),
        ("门票多少钱？", "门票四十分钟内有效，每张20元。", ["20元"]),
        ("路上要多久？", "路上要四十分钟，票价20元。", ["四十分钟"]),
        ("多久更换一次滤芯？", "每六个月更换。", ["每"]),
        ("图书馆几点开门？", "图书馆九点开门。", ["九点"]),
    ],
)
def test_the_quantity_asked_for_is_found(question: str, text: str, given: list[str]) -> None:
    quantity = asked_quantity(question)
    assert quantity is not None
    assert [text[start:end] for start, end in quantities_in(text, quantity, question)] == given


@pytest.mark.parametrize("question", ["Who built the bridge?", "Ai xây cây cầu?", "谁建了这座桥？", ""])
def test_other_questions_ask_for_no_quantity(question: str) -> None:
    assert asked_quantity(question) is None


def test_a_quantity_that_the_question_names_is_none_of_its_answers() -> None:
    question = "What is the fine for a delay of 3 Days, and how long may it be?"
    quantity = asked_quantity("how long")
    assert quantity is not None
    text = "After 3 days and again after 2 weeks."
    assert [text[slice(*span)] for span in quantities_in(text, quantity, question)] == ["2 weeks"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How long does the Norholm ferry take?", {"norholm"}),
        ("Who is Ann O'Hara's neighbour in Gull Bay?", {"ann", "o hara", "gull", "bay"}),
        ("What does error E42 mean, and may I ignore it?", {"e42"}),
        ('What is the "red lamp" for?', {"red lamp"}),
        ("The lamp is red. Why is it red?", set()),
        ("Lõi lọc của máy Sao Mai M2 giá bao nhiêu?", {"sao", "mai", "m2"}),
        ("A3 和 A5 的滤芯有什么不同？", {"a3", "a5"}),
        ("Ａ３的滤芯多久换一次？", {"a3"}),
        ("请问A3滤芯和A5滤芯一样吗？", {"a3", "a5"}),
        ("“红灯”是什么意思？", {"红灯"}),
        ("how many are there in 2024", set()),
    ],
)
def test_the_names_of_a_question(question: str, names: set[str]) -> None:
    assert names_in(question) == names


def test_numbers_are_listed_as_written_with_digits_of_any_width() -> None:
    assert numbers_in("In ２０２５ it was 1,200.50 euros, or 7%.") == {"2025", "1,200.50", "7"}
    assert numbers_in("none") == frozenset()


@pytest.mark.parametrize(
    ("wanted", "held", "share"),
    [
        (set(), {"2025"}, 0.0),
        ({"2025"}, set(), 1.0),
        ({"2024", "2025"}, {"2025"}, 0.0),
        ({"a3", "a5"}, {"a5"}, 0.0),
        ({"norholm", "a5"}, {"a5"}, 0.5),
        ({"2025", "12"}, {"12"}, 0.5),
    ],
)
def test_of_things_that_look_alike_one_is_enough(wanted: set[str], held: set[str], share: float) -> None:
    assert share_missing(frozenset(wanted), frozenset(held)) == share
