"""What governs an entry: exact slices outside of it, in three languages, and ordinary prose that nothing governs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.citations import context_of_quote, context_outside
from answers.entries import entries_of
from answers.entry import Entry
from answers.quoting import quoted_spans, stands
from answers.subjects import namesakes
from graph.errors import UnreadableDocument
from graph.evidence import ContextSlice, Hit, Segment, SegmentBlock
from graph.ports import WrittenSection
from tools.claims.code_checker import check_section
from tools.extractive.extractive_family import select_quotes
from tools.extractive.reader import rank_by_part
from tools.parsers import parse
from tools.retrieval.segmenting import SegmentSize, segment
from tools.retrieval.structure import named_and_around, pack_blocks, unpack_blocks


def segments_of(text: str, name: str = "a.md", words: int = 300) -> list[Segment]:
    parsed = parse(text.encode(), name=name)
    spans = segment(parsed, SegmentSize(words, "words"), lambda texts: [len(each.split()) for each in texts])
    return [
        Segment("d", each.segment_index, each.start, each.end, parsed.text[each.start : each.end], blocks=each.blocks)
        for each in spans
    ]


def the_entry(text: str, start: str, name: str = "a.md", words: int = 300) -> Entry:
    """Return the entry that begins so."""
    found = [
        entry
        for each in segments_of(text, name, words)
        for entry in entries_of(each)
        if entry.text.lstrip("-0123456789. ").startswith(start)
    ]
    assert found, start
    return found[0]


def governors(entry: Entry) -> list[str]:
    return [each.text for each in entry.context if each.role == "governs"]


def kinds(entry: Entry) -> list[str]:
    return [kind for kind, _ in entry.governors]


GOVERNED = [
    ("The plan does not cover:\n\n- braces for adults\n- gold crowns", "braces", "The plan does not cover:", "denies"),
    (
        "Quiz. The following statements are false.\n\n1. Salt is sweet.\n2. Ice is hot.",
        "Ice",
        "The following",
        "denies",
    ),
    ("Không chi trả:\n\n- niềng răng người lớn\n- răng vàng", "niềng", "Không chi trả:", "denies"),
    ("本计划不包括：\n\n- 成人牙套\n- 金牙", "成人", "本计划不包括：", "denies"),
    ("Don't write:\n\n```\nopen('x')\n```", "open", "Don't write:", "denies"),
    ("# Leave (repealed)\n\nStaff get 35 days of leave.", "Staff", "Leave (repealed)", "repeals"),
    ("# Lưu trữ hồ sơ (đã bãi bỏ)\n\nHồ sơ được giữ 10 năm.", "Hồ sơ được", "Lưu trữ hồ sơ (đã bãi bỏ)", "repeals"),
    ("# 第三条（已废止）\n\n员工每年休假三十天。", "员工", "第三条（已废止）", "repeals"),
    ("# Common mistakes\n\nWater the plants at noon.", "Water", "Common mistakes", "doubts"),
    ("# 常见误解\n\n吃鱼会变聪明。", "吃鱼", "常见误解", "doubts"),
    ("This section was repealed in 2021. Staff get 35 days of leave.", "Staff", "This section was", "repeals"),
    ("Staff get 35 days of leave. That was never adopted.", "Staff", "That was never adopted.", "repeals"),
    ("Staff get 35 days of leave. This is not true.", "Staff", "This is not true.", "doubts"),
    ("公司每年放假三十天。上述规定已被撤销。", "公司", "上述规定已被撤销。", "repeals"),
    ("Phí là 40 đồng. Quyết định này đã bị hủy.", "Phí", "Quyết định này đã bị hủy.", "repeals"),
    ("The bridge is 90 m long.\n\nCorrection: the bridge is 80 m long.", "The bridge", "Correction:", "repeals"),
    ("Rumour has it. The bridge was built by a giant.", "The bridge", "Rumour has it.", "doubts"),
    ("Tương truyền như vậy. Cây cầu do một người khổng lồ xây.", "Cây cầu", "Tương truyền", "doubts"),
    ("民间流传着一种说法。这座桥是巨人造的。", "这座桥", "民间流传", "doubts"),
    ('"The pearls lie in the well," said Jory. Jory had lied all his life.', '"The pearls', "Jory had lied", "doubts"),
    (
        "If the council approves the pilot, the following is planned. Trams run all night.",
        "Trams",
        "If the",
        "conditions",
    ),
    (
        "For members who joined before 2010 the following rule holds. You may stop at 60.",
        "You",
        "For members",
        "conditions",
    ),
    ("Mục này chỉ dành cho sinh viên. Vé giảm 40 phần trăm.", "Vé", "Mục này", "conditions"),
    ("倘若试点获批，安排如下。末班船十一点开。", "末班船", "倘若", "conditions"),
    ("| Trip | Not supported |\n|---|---|\n| Alps | 30 days |", "Alps", "Trip | Not supported", "denies"),
    ("| 项目 | 已拒绝 |\n|---|---|\n| 桥梁 | 三百万 |", "桥梁", "项目 | 已拒绝", "denies"),
    ("Bob wrote:\n\n> The safe opens with 4712.", "The safe", "Bob wrote:", "says"),
    ("In her dream Ann was king. The palace had 90 rooms.", "The palace", "In her dream", "imagines"),
    ("The fee is 90 euros. Since 2022 it has been 120 euros.", "The fee", "Since 2022", "repeals"),
    ("A swim costs 4 euros.\n\nWith effect from 1 May a swim costs 6 euros.", "A swim", "With effect", "overtakes"),
    ("The ferry leaves from pier 3. In 2022 the firm moved the ferry to pier 8.", "The ferry", "In 2022", "overtakes"),
    ("年票为八十元。\n\n自今年六月起，年票为一百二十元。", "年票", "自今年", "overtakes"),
    ("Lệ phí là 30 đồng.\n\nTừ tháng 5, lệ phí tăng lên 45 đồng.", "Lệ phí", "Từ tháng", "repeals"),
    (
        "## Prices 2021\n\nA ticket: 12 euros.\n\n## Prices 2024\n\nA ticket: 15 euros.",
        "A ticket",
        "A ticket: 15",
        "overtakes",
    ),
    (
        "## 2.0\n\nThe cache holds 9 files.\n\n## 1.4\n\nA cache of 5 files.",
        "A cache",
        "The cache holds 9",
        "overtakes",
    ),
    ("# Memo 1\n\nIt has 8 letters.\n\n# Memo 2\n\nMemo 1 is withdrawn.", "It has", "Memo 1 is", "repeals"),
    ("Park behind the mill. That arrangement came to an end.", "Park", "That arrangement", "repeals"),
    (
        "The prize went to Ada Brill.\n\nErratum: we named the wrong winner. It was Cora Venn.",
        "The prize",
        "Erratum",
        "repeals",
    ),
    ("Ben fell asleep. The Marigold sank off Orrin. Then he woke up.", "The Marigold", "Ben fell", "imagines"),
    ("The troupe performed a comedy. The count had shot the cook.", "The count", "The troupe", "imagines"),
    ("Đây là một lời đồn. Quán Hoa Sen mở lúc bảy giờ.", "Quán", "Đây là", "doubts"),
    ("这种说法是谣言。荷花店七点开门。", "荷花店", "这种说法", "doubts"),
    ("有人说小店要关门。荷花店七点开门。", "荷花店", "有人说", "doubts"),
    ("Rumours say that the shop shuts. It opens in Rome. They pay.", "They pay", "Rumours say", "doubts"),
    ("A mistake that we often see:\n\n> The year comes first.", "The year", "A mistake", "denies"),
]


@pytest.mark.parametrize(("text", "start", "by", "kind"), GOVERNED, ids=[row[0][:30] for row in GOVERNED])
def test_what_stands_around_a_sentence_governs_it(text: str, start: str, by: str, kind: str) -> None:
    entry = the_entry(text, start)
    assert [each for each in governors(entry) if each.startswith(by)], governors(entry)
    assert kind in kinds(entry)
    assert not stands(entry, "How is it?")


ORDINARY = [
    ("If you do not want a log, use the following command:\n\n```\nrun --quiet\n```", "run"),
    ("The plan also covers:\n\n- braces for adults", "braces"),
    ("The following statements are true.\n\n1. Ice is cold.", "Ice"),
    ("Each column has a value (except generated columns):\n\n- a name", "a name"),
    ("# Dogs (amended in 2021)\n\nDogs are kept on a lead.", "Dogs are"),
    ("# Removing deprecated options\n\nRun the tool twice.", "Run"),
    ("The old rule, under which only managers parked, no longer applies. Staff park in the north.", "Staff"),
    ("It sets the size. This parameter can only be set at server start.", "It sets"),
    ("Mice are not supported. Keyboards work.", "Keyboards"),
    ("The file is written first. It is removed at the end.", "The file"),
    ("Warning: save your work. The tool restarts the server.", "The tool"),
    ("If the value is zero, the limit is off. The default is 4 MB.", "The default"),
    ("The bell was cast by a baker in 1788.\n\nIt is a myth that the crack comes from lightning.", "The bell"),
    ('Ann had never told a lie. "The deeds are behind the stove," she said.', '"The deeds'),
    ("旧版手册去年起失效，请不要再引用这份旧的文件。\n\n午餐补贴为每天三十元。", "午餐"),
    ("市里已批准并拨付补贴，安排如下。末班车九点开。", "末班车"),
    ("Nhiều người tưởng vậy, nhưng không đúng. Ngồi hàng đầu thì đỡ say.", "Ngồi"),
    ("| Setting | Default |\n|---|---|\n| size | 4 MB |", "size"),
    ("## 2.0\n\nThe cache holds 9 files.\n\n## 1.4\n\nA cache of 5 files.", "The cache"),
    ("## 12 May\n\nWe had 40 guests.\n\n## 12 June\n\nWe had 50 guests.", "We had 40"),
    ("The prize went to Ada Brill.\n\nErratum: the show is on 24 August, not on 31 August.", "The prize"),
    ("Ann had not slept. The Patience sank off Gannet Rock.", "The Patience"),
    ("Rumours say that the Kestrel weighs 2 kg. Tom Berry designed it.", "Tom Berry"),
    ("Rumours say that the Kestrel weighs 2 kg. Tom Berry designed it. He lives in Oslo.", "He lives"),
    ("Có tin đồn rằng quán sắp đóng cửa.\n\nQuán mở lúc bảy giờ.", "Quán mở"),
]


@pytest.mark.parametrize(("text", "start"), ORDINARY, ids=[row[0][:30] for row in ORDINARY])
def test_nothing_governs_a_sentence_of_ordinary_prose(text: str, start: str) -> None:
    entry = the_entry(text, start)
    assert governors(entry) == []
    assert stands(entry, "How is it?")


def test_a_denied_item_is_quoted_where_the_question_asks_for_what_is_denied() -> None:
    entry = the_entry("The plan does not cover:\n\n- braces for adults", "braces")
    assert stands(entry, "What does the plan not cover?")
    assert not stands(entry, "Does the plan pay for braces?")


@pytest.mark.parametrize(
    ("question", "may"),
    [
        ("I joined in 2016. When may I stop?", False),
        ("When may a member who joined in 2001 stop?", True),
        ("When may I stop?", False),
    ],
)
def test_a_condition_on_years_is_met_by_the_year_that_the_question_names(question: str, may: bool) -> None:
    text = "For members who joined before 1 April 2010 the following rule holds. You may stop at 60."
    assert stands(the_entry(text, "You"), question) is may


def test_the_words_of_a_speaker_may_be_quoted_where_the_question_names_the_speaker() -> None:
    entry = the_entry("Our colleague Bob Ridley wrote:\n\n> The safe opens with 4712.", "The safe")
    assert stands(entry, "What did Bob write about the safe?")
    assert not stands(entry, "What opens the safe?")


@pytest.mark.parametrize(
    ("text", "start", "question", "may"),
    [
        (
            "Ann Rohn painted. Her sister Greta left for Rome. She opened a shop in 1902.",
            "She",
            "When did Ann Rohn open?",
            False,
        ),
        (
            "Ann Rohn painted. Her sister Greta left for Rome. She opened a shop in 1902.",
            "She",
            "When did Greta open?",
            True,
        ),
        ("Tôi mượn anh Phan Công Lịch. Ông sang Nhật năm 1927.", "Ông", "Cụ Vũ Khoát sang Nhật năm nào?", False),
        ("女儿骆清音胆子大。她于一九二九年拍下了照片。", "她", "骆怀仁哪一年拍下照片？", False),
        ("女儿骆清音胆子大。她于一九二九年拍下了照片。", "她", "骆清音哪一年拍下照片？", True),
    ],
)
def test_a_sentence_about_somebody_else_does_not_stand(text: str, start: str, question: str, may: bool) -> None:
    assert stands(the_entry(text, start), question) is may


@pytest.mark.parametrize(
    ("text", "start", "question", "may"),
    [
        ("The Ilmar lab door code is 4712.", "The Ilmar", "What is the Ostwin lab door code?", False),
        ("The Ilmar lab door code is 4712.", "The Ilmar", "What is the Ilmar lab door code?", True),
        ("The Ilmar lab door code is 4712.", "The Ilmar", "What is the door code?", True),
        ("# Route 12\n\nThe last bus leaves at 23:10.", "The last", "When is the last bus on route 21?", False),
        ("# Hotel Anker\n\nBreakfast is from 7.", "Breakfast", "When is breakfast at the Hotel Krone?", False),
        ("The north gate opens at 6.", "The north", "When does the south gate open?", False),
        ("# Version 4\n\nThe limit is 20.", "The limit", "What is the limit in version 5?", False),
        ("It works since version 9.", "It works", "Does it work in version 15?", True),
        ("# Fees 2021\n\nA day is 4 euros.", "A day", "What was the fee in 2024?", False),
        ("| Lab | Code |\n|---|---|\n| Ilmar | 4712 |", "Ilmar", "What is the code of the Ostwin lab?", False),
        ("Phòng khám Hoa Sen mở lúc 7 giờ.", "Phòng", "Phòng khám Hoa Mai mở lúc mấy giờ?", False),
        ("Nhà máy số 2 có 90 thợ.", "Nhà máy", "Nhà máy số 3 có bao nhiêu thợ?", False),
        ("白鹭公司成立于一九八八年。", "白鹭", "海豚公司成立于哪一年？", False),
        ("白鹭公司成立于一九八八年。", "白鹭", "白鹭公司成立于哪一年？", True),
    ],
)
def test_a_sentence_about_another_thing_does_not_stand(text: str, start: str, question: str, may: bool) -> None:
    assert stands(the_entry(text, start), question) is may


@pytest.mark.parametrize("words", [300, 10])
@pytest.mark.parametrize(
    ("question", "may"),
    [
        ("How many watts does the H30 have?", False),
        ("How many watts does the H30, not the Max, have?", False),
        ("How many watts does the H30 Max have?", True),
        ("How many watts does the motor have?", True),
    ],
)
def test_a_variant_stands_only_for_a_question_that_names_it(question: str, may: bool, words: int) -> None:
    text = "# Blenders\n\n## H30\n\nIt has two speeds and a light foot.\n\n## H30 Max\n\nThe motor has 950 watts."
    assert stands(the_entry(text, "The motor", words=words), question) is may


def test_an_older_version_stands_only_for_a_question_that_names_it() -> None:
    text = "# 3.4\n\nBackups are kept for 21 days and then lost.\n\n# 3.1\n\nThe agent deletes backups after 60 days."
    entry = the_entry(text, "The agent", words=14)
    assert kinds(entry) == ["overtakes"]
    assert not stands(entry, "After how many days are old backups deleted?")
    assert stands(entry, "After how many days did 3.1 delete backups?")


def test_a_pronoun_reaches_the_sentence_that_names_whom_it_points_to() -> None:
    text = "Her sister Greta left for Rome. She learned to draw. She opened a shop in 1902."
    before = [each.text for each in the_entry(text, "She opened").context if each.role == "before"]
    assert before == ["Her sister Greta left for Rome.", "She learned to draw."]


def test_a_governor_near_its_sentence_is_quoted_in_one_span_and_a_far_one_apart() -> None:
    near = the_entry("Staff get 35 days of leave. That was never adopted.", "Staff")
    assert quoted_spans(near) == ((0, 51),)
    long = "Staff get 35 days of leave" + " and more" * 60 + "."
    far = the_entry(f"{long} That was never adopted.", "Staff")
    assert quoted_spans(far) == ((0, len(long)), (len(long) + 1, len(long) + 24))


LONG = "The rule on leave was set by the board in the year before and nobody has spoken of it since then at all. "


def test_a_governor_is_found_across_the_end_of_a_segment_and_survives_storage() -> None:
    text = "Staff get 35 days of leave. Leave is booked with the office two weeks before.\n\nThat was never adopted."
    first, *others = segments_of(text, "a.txt", words=14)
    assert others
    stored = Segment("d", 0, first.start, first.end, first.text, blocks=unpack_blocks(pack_blocks(first.blocks)))
    found = [entry for each in (stored, *others) for entry in entries_of(each) if entry.governors]
    assert found
    assert {governor for entry in found for governor in governors(entry)} == {"That was never adopted."}


def test_a_correction_reaches_another_segment() -> None:
    text = f"# Bridges\n\nThe Holm bridge is 90 m long.\n\n# Leave\n\n{LONG}\n\n# Notes\n\n" + (
        "Correction: the length of the Holm bridge was wrong. It is 80 m."
    )
    assert governors(the_entry(text, "The Holm bridge", words=20))[0].startswith("Correction:")
    assert governors(the_entry(text, "The rule on leave", words=20)) == []


def test_a_heading_far_above_governs_what_is_below_its_subheadings() -> None:
    text = "# Handbook (withdrawn)\n\n## Leave\n\nStaff get 35 days.\n\n# Parking\n\nStaff park in the north."
    assert governors(the_entry(text, "Staff get")) == ["Handbook (withdrawn)"]
    assert governors(the_entry(text, "Staff park")) == []


LINES = st.sampled_from(
    [
        *(row[0] for row in GOVERNED),
        *(row[0] for row in ORDINARY),
        "- an item",
        "He won. She lost.",
        "> quoted",
        "a | b",
        "# Archived",
        "“No,” he said.",
    ]
)


@given(
    st.lists(LINES | st.text(max_size=30), min_size=1, max_size=8),
    st.sampled_from(["a.md", "a.txt"]),
    st.integers(10, 60),
)
def test_governors_are_exact_slices_outside_of_what_they_govern(lines: list[str], name: str, words: int) -> None:
    text = "\n\n".join(lines).replace("\0", "")
    if not text.strip():
        return
    try:
        parsed = parse(text.encode("utf-8", "replace"), name=name)
    except UnreadableDocument:  # ">" alone, which holds no text
        return
    for each in segments_of(text, name, words):
        for entry in entries_of(each):
            slices = [context for context in entry.context if context.role == "governs"]
            assert slices == [governor for _, governor in entry.governors]
            assert len(set(slices)) == len(slices)
            for governor in slices:
                assert parsed.text[governor.start : governor.end] == governor.text
                assert governor.end <= entry.start or governor.start >= entry.end
            assert stands(entry, "What is it?") in (True, False)
            assert all(start < end for start, end in quoted_spans(entry))


def test_a_block_without_structure_is_read_by_its_form() -> None:
    text = "The plan does not cover:\n- braces for adults\n- gold crowns"
    entries = entries_of(Segment("d", 0, 7, 7 + len(text), text))
    assert [governors(each) for each in entries] == [[], ["The plan does not cover:"], ["The plan does not cover:"]]


def test_what_a_stored_block_hangs_on_governs_it() -> None:
    denied = ContextSlice("lead", 3, 20, "We do not insure:")
    block = SegmentBlock(100, 108, "list_item", (denied,))
    [entry] = entries_of(Segment("d", 3, 100, 108, "- crowns", blocks=(block,)))
    assert entry.context == (denied, ContextSlice("governs", 3, 20, "We do not insure:", "denies"))


def test_many_headings_that_are_named_alike_are_compared_in_time() -> None:
    headings = [f"Class Xyz{number:04d}" for number in range(1000)]
    text = "\n".join(f"{heading}\nThe broker uses {heading[6:]} to keep messages." for heading in headings)
    assert set(namesakes(headings, text)) == set(headings)


VARIANTS = "# Blenders\n\n## H30\n\nIt has two speeds and a light foot.\n\n## H30 Max\n\nThe motor has 950 watts."


def test_the_heading_of_another_thing_is_nothing_that_a_quote_hangs_on() -> None:
    found = segments_of(VARIANTS, words=14)
    assert len(found) > 1
    texts = "".join(each.text for each in found)
    for each in found:
        stored = unpack_blocks(pack_blocks(each.blocks))
        assert stored == each.blocks
        told = [entry for entry in entries_of(each) if entry.governors]
        assert [kinds(entry) for entry in told] == [["narrows"]]
        assert {entry.surroundings for entry in told} == {entry.context[0].text for entry in told}
        assert context_of_quote(each, each.start, each.end) == context_outside(each) == []
        assert named_and_around(each.blocks, each.start, each.end, texts) == ("", "")


def test_what_governs_and_was_stored_without_its_kind_is_quoted_with_its_sentence() -> None:
    stored = [[["governs", 27, 50, "That was never adopted."]], [[0, 26, "paragraph", [0]]]]
    [entry] = entries_of(Segment("d", 0, 0, 26, "Staff get 35 days of leave", blocks=unpack_blocks(stored)))
    assert kinds(entry) == ["conditions"]
    assert quoted_spans(entry) == ((0, 50),)


def test_a_correction_across_segments_reaches_one_sentence_of_a_block() -> None:
    text = f"# Bridges\n\nThe Holm bridge is 90 m long. Boats pass under it.\n\n# Leave\n\n{LONG}\n\n# Notes\n\n" + (
        "Correction: the length of the Holm bridge was wrong. It is 80 m."
    )
    assert kinds(the_entry(text, "The Holm bridge", words=20)) == ["repeals"]
    assert kinds(the_entry(text, "Boats pass", words=20)) == []


def test_a_heading_with_a_greater_than_sign_is_one_level() -> None:
    text = "# Handbook (withdrawn)\n\nStaff get 35 days.\n\n# File > Save\n\nIt keeps the file.\n"
    assert governors(the_entry(text, "Staff get")) == ["Handbook (withdrawn)"]
    assert governors(the_entry(text, "It keeps")) == []


def test_names_that_are_part_of_others_are_looked_up_in_time() -> None:
    names = [f"Kestrel {chr(65 + at % 26)}{at // 26:03d}" for at in range(1000)]
    headings = [each for name in names for each in (name, f"{name} Max")]
    text = "\n".join(f"{each}\nWe sell the {each} to people in Orrin." for each in headings)
    assert set(namesakes(headings, text)) == set(headings)


OFFICE = """# Insurance

The following statements are false:

- The counter closes at five.
- Lost hats are paid for.

The better plan pays for teeth. It costs nine euros.

# Printing

Version 2 of the Aster client uses port 8300. Version 3 uses port 9300.
"""


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The counter closes at five.", "unverified"),
        ("Lost hats are paid for.", "unverified"),
        ("The better plan pays for teeth.", "supported"),
        ("It costs nine euros.", "supported"),
        ("Version 2 of the Aster client uses port 8300.", "supported"),
        ("Version 3 uses port 9300.", "supported"),
    ],
)
def test_what_a_lead_in_calls_false_is_its_list_and_not_what_comes_after(claim: str, verdict: str) -> None:
    [of] = segments_of(OFFICE)
    [checked] = check_section(WrittenSection(claim, (of,)))
    assert checked.verdict == verdict


def test_a_lead_in_without_a_list_calls_all_of_its_section_false() -> None:
    text = "The following is false.\n\nThe counter closes at five.\n\n# Printing\n\nThe printer is in the hall."
    [of] = segments_of(text)
    claims = ["The counter closes at five.", "The printer is in the hall."]
    checked = [check_section(WrittenSection(claim, (of,)))[0].verdict for claim in claims]
    assert checked == ["unverified", "supported"]


def test_a_sentence_about_he_hangs_on_the_one_that_names_him_not_on_a_rumour_before() -> None:
    text = "Rumours say that the Kestrel weighs 2 kg. Tom Berry designed it. He lives in Oslo."
    question = "Where does Tom Berry live?"
    [of] = segments_of(text)
    he = the_entry(text, "He lives")
    assert stands(he, question)
    assert [each["text"] for each in context_of_quote(of, he.start, he.end)] == ["Tom Berry designed it."]
    quotes = select_quotes(rank_by_part(question, [Hit(of, 0.9)]), [Hit(of, 0.9)])
    assert [quote.text for quote in quotes] == ["Tom Berry designed it. He lives in Oslo."]
