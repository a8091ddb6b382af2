"""Verdicts by kind of difference, in English, Chinese and Vietnamese, on sentences made up for it."""

import pytest

from graph.ports import CheckedClaim, WrittenSection
from graph.reasons import Reason
from tests.fakes import segment
from tests.unit.test_entries import segments_of
from tools.claims.code_checker import check_section

HANDBOOK = (
    "Full-time staff get 25 days of annual leave. Leave that is not used by 31 March 2021 expires. "
    "The office in Hanoi opened on 5 March 2020 with twelve employees. Anna Berg reports to Ben Okafor, who founded "
    "the company before the merger. About 40% of the budget, or $3.5 million, goes to research. "
    "Most teams do not work on Saturdays. The tower is 120 metres tall. All visitors must wear a badge."
)
ZH = (
    "全职员工每年享有二十五天年假。公司于2020年3月5日在河内成立，最初有十二名员工。约翰·史密斯在合并之前担任董事长。"
    "研究经费约占预算的40%，即350万美元。大多数团队周六不上班。这座塔高120米。所有访客必须佩戴胸牌。李明住在北京。"
)
VI = (
    "Nhân viên toàn thời gian được nghỉ hai mươi lăm ngày mỗi năm. Văn phòng Hà Nội mở cửa vào ngày 5 tháng 3 năm 2020 "
    "với mười hai nhân viên. Nguyễn Văn An điều hành công ty trước khi sáp nhập. Khoảng 28,5% ngân sách, tức 3,5 triệu "
    "đô la, được dành cho nghiên cứu. Hầu hết các nhóm không làm việc vào thứ bảy. Tòa tháp cao 120 mét. "
    "Tất cả khách phải đeo thẻ. Thành phố có 1.345.595 người."
)


def check(claim: str, text: str) -> CheckedClaim:
    (checked,) = check_section(WrittenSection(claim, (segment("doc", 0, text),)))
    return checked


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        # the very sentence, with other white space, quotes, case and stops
        (HANDBOOK, "Full-time staff get 25 days of annual leave."),
        (HANDBOOK, "full–time  staff get 25 days\nof annual leave"),
        (HANDBOOK, "“The tower is 120 metres tall”"),
        (ZH, "这座塔高 120 米"),
        (VI, "Tòa tháp cao 120 mét"),
        # another notation
        (HANDBOOK, "Full-time staff get twenty-five days of annual leave."),
        (HANDBOOK, "Most teams don't work on Saturdays."),
        (ZH, "全职员工每年享有25天年假。"),
        (VI, "Nhân viên toàn thời gian được nghỉ 25 ngày mỗi năm."),
        (VI, "Thành phố có 1,345,595 người."),
        (HANDBOOK, "Full-time staff get 25 days of annual leave [1]."),
        (HANDBOOK, "- The tower is 120 metres tall."),
        (HANDBOOK, "About 40 percent of the budget, or $3.5 million, goes to research."),
        (ZH, "研究经费约占预算的百分之四十，即350万美元。"),
        (VI, "Khoảng 28,5 phần trăm ngân sách, tức 3,5 triệu đô la, được dành cho nghiên cứu."),
    ],
)
def test_the_same_in_other_writing_is_supported(text: str, claim: str) -> None:
    found = check(claim, text)
    assert (found.verdict, found.reasons) == ("supported", ())
    assert found.proofs


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        # the same date or amount, written otherwise
        (HANDBOOK, "The office in Hanoi opened on March 5th, 2020 with 12 employees."),
        (HANDBOOK, "The office in Hanoi opened on 2020-03-05 with twelve employees."),
        (HANDBOOK, "About 40 percent of the budget, or 3,500,000 dollars, goes to research."),
        (VI, "Văn phòng Hà Nội mở cửa vào ngày 5/3/2020 với 12 nhân viên."),
        # who says so
        (HANDBOOK, "According to the handbook, full-time staff get 25 days of annual leave."),
        (HANDBOOK, "The police report confirms that the tower is 120 metres tall."),
        (ZH, "根据手册，所有访客必须佩戴胸牌。"),
        (VI, "Theo tài liệu, tất cả khách phải đeo thẻ."),
        # other wording
        (HANDBOOK, "Roughly 40% of the budget, or $3.5 million, goes to research."),
        (HANDBOOK, "The majority of teams do not work on Saturdays."),
        (HANDBOOK, "The tower is 120 metres tall and all visitors must wear a badge."),
        (ZH, "研究经费大约占预算的40%，即350万美元。"),
        (VI, "Xấp xỉ 28,5% ngân sách, tức 3,5 triệu đô la, được dành cho nghiên cứu."),
        ("However, the tower is closed in winter.", "The tower is closed in winter."),
        ("The committee mostly funds coastal towns and ports.", "The committee mostly funds alpine towns and ports."),
        # what follows from it
        (HANDBOOK, "Some visitors must wear a badge."),
        (VI, "Một số khách phải đeo thẻ."),
        # a word that may be the opposite, or else a sentence that is as true
        ("The council voted to expand the harbour in spring.", "The council voted to shrink the harbour in spring."),
        ("Rainfall dwindled rapidly near the coast.", "Rainfall soared rapidly near the coast."),
        # a number that stands nowhere may be reckoned from others
        (HANDBOOK, "Staff receive an allowance of 700 euros for the gym."),
        # a bound or a prefix put in
        ("The dam lost 90% of its water in summer.", "The dam lost less than 90% of its water in summer."),
        ("Kế hoạch của nhóm là khả thi trong mùa mưa này.", "Kế hoạch của nhóm là bất khả thi trong mùa mưa này."),
    ],
)
def test_wording_is_left_open(text: str, claim: str) -> None:
    found = check(claim, text)
    assert found.verdict == "unverified", found
    assert found.proofs


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The loss was -$5 million for the year.", "The loss was $5 million for the year."),
        ("The balance is (4,200) euros.", "The balance is 4,200 euros."),
        ("The sample held 10⁶ cells.", "The sample held 106 cells."),
        ("The panel yields 5 mW of power.", "The panel yields 5 MW of power."),
        ("The dose is 2.125 grams.", "The dose is 2,125 grams."),
        ("Use 1/2 tablet a day.", "Use 1-2 tablet a day."),
        ("Prices rose from 3 to 5,000 dong.", "Prices rose from 3,000 to 5,000 dong."),
        ("The part number is 00123.", "The part number is 123."),
        ("Run version 1.10 of the tool.", "Run version 1.1 of the tool."),
        ("On day 3 100 people fell ill.", "On day 3100 people fell ill."),
        ("WHO must approve the drug.", "Who must approve the drug."),
        ("The judge, said the accused, is insane.", "The judge said the accused is insane."),
        ("Sales have fallen since the merger.", "Sales have fallen because of the merger."),
        ("The engine cannot fail.", "The engine may not fail."),
        ('"Anna shot the guard." He was not believed.', "Anna shot the guard."),
        ("See the table of [1].", "See the table of [2]."),
        ("The code is 140 euros.", "The code is \u202e140\u202c euros."),
        ("来了七八个人。", "来了78个人。"),
        ("员工不得进入机房。", "员工不进入机房。"),
        ("The drug is quite safe for children.", "The drug is extremely safe for children."),
        ("A pass in any module is sufficient here.", "A pass in every module is sufficient here."),
        ("She offered the hospital her kidney.", "She gave the hospital her kidney."),
        ("The fee is A$500 a year.", "The fee is $500 a year."),
        ("Hepatitis A is spread by water.", "Hepatitis is spread by water."),
        ("The area is 5² units.", "The area is 52 units."),
        ("The check is a != b here.", "The check is a = b here."),
        ("The link carries 8 Mb a second.", "The link carries 8 MB a second."),
        ("The parcel weighs 12 pounds.", "The parcel weighs 12 lb."),
        ("Growth rose by 2 percentage points.", "Growth rose by 2 percent."),
        ("Few people came to the fair.", "A few people came to the fair."),
        ("A few people came to the fair.", "Few people came to the fair."),
        ("There is a little water in the well.", "There is little water in the well."),
        ("The loss was €-300 in May.", "The loss was €300 in May."),
        (
            "Smoking is safe for adults.",
            "According to the World Health Organization report, smoking is safe for adults.",
        ),
        ("Anna stole the money.", "The police report confirms that Anna stole the money."),
        ("100 people died.", "> 100 people died."),
        ("5 million dollars were lost.", "- 5 million dollars were lost."),
        ("People were hurt.", "12. People were hurt."),
        ("The code is 140 euros.", "The code is 1\u200b40 euros."),
        ("The code is open.", "The code is open\U000e0041\U000e0042."),
        ("亏损为-500万元。", "亏损为500万元。"),
        ("产量增加了3倍。", "产量增加了3次。"),
        ("最后的国王是溥仪。", "国王是溥仪。"),
        ("员工要签到。", "员工必须签到。"),
        ("Vận động viên chiến đấu với quân Pháp.", "Vận động viên chiến đấu cùng với quân Pháp."),
        ("Một số bệnh nhân tử vong.", "Các bệnh nhân tử vong."),
        ("Bà Lan từng là bộ trưởng.", "Bà Lan đã là bộ trưởng."),
    ],
)
def test_what_is_more_than_notation_is_never_supported(text: str, claim: str) -> None:
    assert check(claim, text).verdict != "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The following statements are false. Vaccines cause autism. The earth is flat.", "The earth is flat."),
        ("Common myths:\n\n- Honey cures colds.\n- Cats fear water.\n\nNone of this is true.", "Cats fear water."),
        ("Staff must never:\n\n1. Share the password.\n2. Open the vault at night.", "Open the vault at night."),
        ('Smith said: "I was there. Anna shot the guard. Then I ran."', "Anna shot the guard."),
        ("This section is no longer in force. Employees get 30 days of leave.", "Employees get 30 days of leave."),
        ("If the merger fails, the following applies. The bonus is paid in full.", "The bonus is paid in full."),
        ("True or false? The liver produces insulin. Answer: false.", "The liver produces insulin."),
        ("April fools! The office moves to Mars in 2027.", "The office moves to Mars in 2027."),
        ("Bob wrote:\n\nThe vault is open at night.", "The vault is open at night."),
        (
            "Lord Hay was shot by Miss Pell. The butler had lied, and she was acquitted.",
            "Lord Hay was shot by Miss Pell.",
        ),
        ("This section was repealed in 2021. Employees get 35 days of leave.", "Employees get 35 days of leave."),
        ("以下说法都是错误的。地球是平的。", "地球是平的。"),
        ("Bảo hiểm không chi trả:\n\n- Điều trị nha khoa.\n- Phẫu thuật ở nước ngoài.", "Phẫu thuật ở nước ngoài."),
    ],
)
def test_a_sentence_that_the_text_around_it_denies_is_left_open(text: str, claim: str) -> None:
    assert check(claim, text).verdict == "unverified"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The following rules hold. Visitors wear a badge.", "Visitors wear a badge."),
        ("The plan covers:\n\n- Dental treatment.\n- Surgery abroad.", "Surgery abroad."),
        ("Nobody was hurt. The mill was rebuilt in 1990.", "The mill was rebuilt in 1990."),
        ('Smith said: "I was there." Anna wrote it down.', "Anna wrote it down."),
    ],
)
def test_a_sentence_that_nothing_denies_is_supported(text: str, claim: str) -> None:
    assert check(claim, text).verdict == "supported"


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
    [of] = segments_of(OFFICE.encode(), "a.md")
    [checked] = check_section(WrittenSection(claim, (of,)))
    assert checked.verdict == verdict


def test_a_lead_in_without_a_list_calls_all_of_its_section_false() -> None:
    text = b"The following is false.\n\nThe counter closes at five.\n\n# Printing\n\nThe printer is in the hall."
    [of] = segments_of(text, "a.md")
    claims = ["The counter closes at five.", "The printer is in the hall."]
    checked = [check_section(WrittenSection(claim, (of,)))[0].verdict for claim in claims]
    assert checked == ["unverified", "supported"]


@pytest.mark.parametrize(
    ("text", "claim", "source_says", "answer_says"),
    [
        # numbers
        (HANDBOOK, "Full-time staff get 30 days of annual leave.", "25 days", "30 days"),
        (HANDBOOK, "Full-time staff get thirty-five days of annual leave.", "25 days", "thirty-five days"),
        (HANDBOOK, "According to the handbook, full-time staff get 30 days of annual leave.", "25 days", "30 days"),
        (HANDBOOK, "About 45% of the budget, or $3.5 million, goes to research.", "40%", "45%"),
        (ZH, "全职员工每年享有三十五天年假。", "二十五天", "三十五天"),
        (VI, "Nhân viên toàn thời gian được nghỉ ba mươi ngày mỗi năm.", "hai mươi lăm ngày", "ba mươi ngày"),
        (VI, "Thành phố có 1.345.596 người.", "1.345.595", "1.345.596"),
        # scale
        (HANDBOOK, "About 40% of the budget, or $3.5 billion, goes to research.", "3.5 million", "3.5 billion"),
        (ZH, "研究经费约占预算的40%，即350亿美元。", "350万", "350亿"),
        (VI, "Khoảng 28,5% ngân sách, tức 3,5 tỷ đô la, được dành cho nghiên cứu.", "3,5 triệu", "3,5 tỷ"),
        # units
        (HANDBOOK, "Full-time staff get 25 weeks of annual leave.", "25 days", "25 weeks"),
        (HANDBOOK, "The tower is 120 feet tall.", "120 metres", "120 feet"),
        (HANDBOOK, "About 40% of the budget, or €3.5 million, goes to research.", "$", "€"),
        (ZH, "这座塔高120英尺。", "120米", "120英尺"),
        (VI, "Tòa tháp cao 120 feet.", "120 mét", "120 feet"),
        # dates
        (HANDBOOK, "The office in Hanoi opened on 5 May 2020 with twelve employees.", "5 March 2020", "5 May 2020"),
        (HANDBOOK, "The office in Hanoi opened on 2020-03-06 with twelve employees.", "5 March 2020", "2020-03-06"),
        (HANDBOOK, "Leave that is not used by 31 March 2022 expires.", "31 March 2021", "31 March 2022"),
        (ZH, "公司于2020年4月5日在河内成立，最初有十二名员工。", "2020年3月5日", "2020年4月5日"),
        (VI, "Văn phòng Hà Nội mở cửa vào ngày 5 tháng 3 năm 2021 với mười hai nhân viên.", "2020", "2021"),
        # names
        (HANDBOOK, "The office in Lisbon opened on 5 March 2020 with twelve employees.", "Hanoi", "Lisbon"),
        (
            HANDBOOK,
            "Clara Diaz reports to Ben Okafor, who founded the company before the merger.",
            "Anna Berg",
            "Clara",
        ),
        (ZH, "玛丽·琼斯在合并之前担任董事长。", "约翰", "玛丽"),
        (VI, "Trần Thị Bình điều hành công ty trước khi sáp nhập.", "Nguyễn", "Trần"),
        # order in time, quantifiers, comparisons, obligation
        (HANDBOOK, "Anna Berg reports to Ben Okafor, who founded the company after the merger.", "before", "after"),
        (HANDBOOK, "Few teams do not work on Saturdays.", "Most", "Few"),
        (ZH, "约翰·史密斯在合并之后担任董事长。", "前", "后"),
        (ZH, "少数团队周六不上班。", "大多", "少"),
        (VI, "Nguyễn Văn An điều hành công ty sau khi sáp nhập.", "trước", "sau"),
        ("Some visitors must wear a badge.", "All visitors must wear a badge.", "Some", "All"),
        ("Một số khách phải đeo thẻ.", "Tất cả khách phải đeo thẻ.", "Một số", "Tất cả"),
    ],
)
def test_a_concrete_conflict_is_contradicted_with_both_sides_named(
    text: str, claim: str, source_says: str, answer_says: str
) -> None:
    found = check(claim, text)
    assert found.verdict == "contradicted", found
    said, _, answered = found.reasons[0].partition(", the answer says ")
    assert source_says in said
    assert answer_says in answered
    assert found.proofs


DENIED = "Kofi Mensah always swam across the lake with his sons. The old pump of the mill failed on Monday."
VI_DENIED = "Ông Minh luôn đến thăm trường làng vào mùa hè."


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (DENIED, "Kofi Mensah did not always swim across the lake with his sons."),
        (DENIED, "The old pump of the mill did not fail on Monday."),
        (VI_DENIED, "Ông Minh không phải lúc nào cũng đến thăm trường làng vào mùa hè."),
        ("这个村子有七成的居民在河边种水稻。", "这个村子有八成的居民在河边种水稻。"),
        ("Giải đấu làng lần XXIII có mười hai đội tham gia.", "Giải đấu làng lần XXII có mười hai đội tham gia."),
    ],
)
def test_what_denies_or_counts_otherwise_is_caught(text: str, claim: str) -> None:
    assert check(claim, text).verdict in ("contradicted", "unsupported"), check(claim, text)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "Between 30 and 50 thousand cranes rest there, from 30 to 50 thousand a year.",
            "From 30,000 to 50,000 a year.",
        ),
        ("The fair was held 17-19 October, 2016, in Lagos.", "The fair was held October 17-19, 2016, in Lagos."),
        ("这个村子有百分之七十的居民在河边种水稻。", "这个村子有七成的居民在河边种水稻。"),
        ("Đoàn múa làng đã trình diễn ở chợ vào ngày 28 tháng 5.", "Đoàn múa làng đã trình diễn ở chợ vào ngày 28/5."),
        ("She moved her small shop to the United Kingdom in spring.", "She moved her small shop to the UK in spring."),
    ],
)
def test_another_notation_is_not_blamed(text: str, claim: str) -> None:
    assert check(claim, text).verdict in ("supported", "unverified"), check(claim, text)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (HANDBOOK, "Most teams work on Saturdays."),
        (HANDBOOK, "Full-time staff do not get 25 days of annual leave."),
        (HANDBOOK, "The tower isn't 120 metres tall."),
        (HANDBOOK, "It is not true that the tower is 120 metres tall."),
        (ZH, "大多数团队周六上班。"),
        (ZH, "全职员工每年不享有二十五天年假。"),
        (ZH, "李明不住在北京。"),
        (VI, "Hầu hết các nhóm làm việc vào thứ bảy."),
        (VI, "Tòa tháp không cao 120 mét."),
        (VI, "Tất cả khách không phải đeo thẻ."),
    ],
)
def test_a_negation_put_in_or_left_out_is_contradicted(text: str, claim: str) -> None:
    found = check(claim, text)
    assert found.verdict == "contradicted", found
    assert "says" in found.reasons[0]


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Anna reports to Ben.", "Ben reports to Anna."),
        ("Alpha Corp bought Beta Ltd in 2019.", "Beta Ltd bought Alpha Corp in 2019."),
        ("It is not true that staff get 30 days.", "staff get 30 days."),
        ("Some people believe that the earth is flat.", "The earth is flat."),
        ("Staff who joined before 2019 get 30 days of leave.", "Staff get 30 days of leave."),
        ("如果下雨，比赛将取消。", "比赛将取消。"),
        ("张伟向李娜汇报工作。", "李娜向张伟汇报工作。"),
        ("An báo cáo cho Bình mỗi tuần.", "Bình báo cáo cho An mỗi tuần."),
        (
            "The museum was designed by a local architect in 1998.",
            "In 1998 a local architect drew up plans for the museum.",
        ),
        ("Is the tower open on Sundays?", "The tower is open on Sundays."),
    ],
)
def test_right_words_in_an_unproven_relation_stay_unverified_and_show_the_closest_sentence(
    text: str, claim: str
) -> None:
    found = check(claim, text)
    assert found.verdict == "unverified", found
    assert found.proofs
    assert found.reasons


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (HANDBOOK, "Penguins live in Antarctica."),
        (HANDBOOK, "The cafeteria serves lunch until three o'clock."),
        (ZH, "企鹅生活在南极洲。"),
        (VI, "Chim cánh cụt sống ở Nam Cực."),
    ],
)
def test_what_the_sources_do_not_hold_is_unsupported_and_shows_nothing(text: str, claim: str) -> None:
    found = check(claim, text)
    assert (found.verdict, found.proofs) == ("unverified", ())
    assert found.reasons


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (HANDBOOK, "全职员工有二十五天年假。"),
        (HANDBOOK, "Nhân viên được nghỉ 25 ngày."),
        (ZH, "Full-time staff get 25 days of leave every year."),
        (VI, "Most teams are off on Saturdays."),
    ],
)
def test_a_claim_in_another_language_is_not_refuted_by_missing_words(text: str, claim: str) -> None:
    found = check(claim, text)
    assert (found.verdict, found.reasons) == ("unverified", (Reason("other_language"),))


def test_a_number_that_stands_nowhere_is_named() -> None:
    found = check("Staff receive an allowance of 700 euros for the gym.", HANDBOOK)
    assert found.reasons == (Reason("nowhere", "700"),)


@pytest.mark.parametrize(
    "claim",
    [
        "Staff are entitled to 25 days off each year.",
        "The office opened in Hanoi in March 2020.",
        "The research budget is $3.5 million.",
        "Ben Okafor founded the company.",
        "Visitors need a badge.",
    ],
)
def test_an_honest_rewording_raises_no_alarm(claim: str) -> None:
    assert check(claim, HANDBOOK).verdict in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The council voted to expand the harbour in spring.", "The council voted to enlarge the harbour in spring."),
        ("The firm hired a renowned local physician.", "The firm hired a celebrated local physician."),
        ("委员会决定保护这座古老的港口。", "委员会决定维护这座古老的港口。"),
        ("这支军队在冬天离开了山谷。", "这支部队在冬天离开了山谷。"),
        ("Hội đồng quyết định bảo vệ bến cảng cũ.", "Hội đồng quyết định che chở bến cảng cũ."),
        (
            "The change takes place over the 2018-2019 school year.",
            "The change takes place over the 2018–19 school year.",
        ),
    ],
)
def test_a_near_synonym_raises_no_alarm(text: str, claim: str) -> None:
    assert check(claim, text).verdict in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The order is against the use of tea and coffee.", "Tea and coffee are also not allowed."),
        (
            "Two of the best young chess players will meet in a final at the Grand Hall on April 9th in Turin.",
            "Berg met Okafor again in a final at the Grand Hall on April 9 in Turin.",
        ),
    ],
)
def test_another_clause_in_the_place_of_one_is_no_conflict(text: str, claim: str) -> None:
    assert check(claim, text).verdict in ("unverified", "unsupported")


def test_both_notations_of_a_range_of_years_are_the_same() -> None:
    text = "The change takes place over the 2018-2019 school year."
    assert check("The change takes place over the 2018–19 school year.", text).verdict != "contradicted"
    assert check("The change takes place over the 2018–20 school year.", text).verdict == "contradicted"


def test_initials_stand_for_a_name() -> None:
    text = "The NFR kept the film of the US director. It was shown in Turin."
    found = check("The film was kept by the National Film Registry for the United States director.", text)
    assert not any("stands nowhere" in reason for reason in found.reasons)


def test_an_at_sign_is_no_date() -> None:
    assert check("Write to ann @ example.org today.", "Write to ann @ example.org.").verdict == "unverified"


def test_a_number_that_is_only_rounded_is_left_open() -> None:
    text = "The population of the town was 1,345,595 in 2010. It spent 44.7% of its budget."
    assert check("In 2010 the town had some 1.35 million people.", text).verdict == "unverified"
    assert check("It spent 45% of its budget.", text).verdict == "unverified"
    assert check("The population of the town was 1,345,596 in 2010.", text).verdict == "contradicted"


def test_an_answer_word_before_a_claim_denies_nothing() -> None:
    text = "The restored video is in black and white."
    assert check("No, the restored video is in black and white.", text).verdict == "unverified"
    assert check("Yes, the restored video is not in black and white.", text).verdict == "contradicted"
