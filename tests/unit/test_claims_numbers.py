"""Numbers that can be read in two ways: the true claim is never refused, the false one never proven."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.evidence import Verdict
from graph.ports import WrittenSection
from tests.fakes import segment
from text.numbers import read_chinese, read_vietnamese
from tools.claims.code_checker import check_section
from tools.claims.exact_forms import exact_form
from tools.claims.sentence_parsing import parse_sentence
from tools.claims.source_sentences import quantities_of


def verdict(claim: str, text: str) -> Verdict:
    (checked,) = check_section(WrittenSection(claim, (segment("doc", 0, text),)))
    return checked.verdict


@pytest.mark.parametrize(
    ("numerals", "value"),
    [
        ("一千五", 1500),
        ("三百五", 350),
        ("三万五", 35_000),
        ("两千三", 2300),
        ("一亿二", 120_000_000),
        ("二十三万五", 235_000),
        ("一千零五", 1005),
        ("一千五百", 1500),
        ("一千五百零三", 1503),
        ("三百一十五", 315),
        ("十五", 15),
        ("两千零三", 2003),
        ("三亿二千万", 320_000_000),
        ("二零二五", 2025),
        ("一三八〇〇一三八〇〇〇", 13_800_138_000),
        # not sure: 105 in Japanese; 130 or 140; 5,000 for one; 300 taels; 1,050,000 or 1,500,000
        ("百五", None),
        ("一百三四", None),
        ("五千一", None),
        ("三百两", None),
        ("一百五万", None),
        # 80 kW, 5,000 kW, 120 kg; 50,000 kW, or 51,000 in Japanese
        ("八十千", 80_000),
        ("五千千", 5_000_000),
        ("一百二十千", 120_000),
        ("五万千", None),
        ("一万千五百", 11_500),
    ],
)
def test_a_last_digit_behind_a_chinese_scale_counts_tenths_of_it(numerals: str, value: float | None) -> None:
    assert read_chinese(numerals) == value


@pytest.mark.parametrize(
    ("words", "value", "length"),
    [
        ("một trăm hai", 120, 3),
        ("hai ba trăm", None, 3),  # 200 or 300
        ("ba lăm người", 35, 2),
        ("năm chục thuyền", 50, 2),
        ("một vạn hai", 12_000, 3),
        ("tám trăm linh tư", 804, 4),
        ("hai nghìn không trăm hai mươi", 2020, 6),
        ("một nghìn không trăm linh năm", 1005, 6),
        ("hai triệu ba", 2_300_000, 3),
        ("một nghìn hai", 1200, 3),
        ("một trăm hai nghìn đồng", 120_000, 4),
        ("hai trăm năm nghìn", 250_000, 4),
        ("một triệu tư đồng", 1_400_000, 3),
        ("một triệu lăm", 1_500_000, 3),
        ("một trăm lẻ hai", 102, 4),
        ("một trăm linh năm", 105, 4),
        ("một trăm hai mươi", 120, 4),
        ("một trăm mười hai", 112, 4),
        ("hai trăm ba mươi tư", 234, 5),
        ("một triệu hai trăm nghìn", 1_200_000, 5),
        ("một nghìn chín trăm bốn mươi lăm", 1945, 7),
        ("hai triệu rưỡi", 2_500_000, 3),
        ("hai nghìn tỷ đồng", 2e12, 3),
        ("mười lăm nghìn tỷ đồng", 1.5e13, 4),
        ("hai trăm năm", 200, 2),  # years
        ("một trăm tư liệu", 100, 2),  # documents
        # not sure: 310 or 300 a month; 123 or 120 to 130; 2,003 or 2,300 million
        ("ba trăm một tháng", None, 3),
        ("một trăm hai ba người", None, 4),
        ("hai nghìn ba triệu", None, 4),
        ("hai trăm ba lô", None, 3),
    ],
)
def test_a_last_digit_behind_a_vietnamese_scale_counts_tenths_of_it(
    words: str, value: float | None, length: int
) -> None:
    assert read_vietnamese(words.split(), 0) == (value, length)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("这台电脑的价格是一千五。", "这台电脑的价格是1500。"),
        ("这件衣服卖三百五元。", "这件衣服卖350元。"),
        ("门票每张一千零五元。", "门票每张1005元。"),
        ("客服电话是一三八〇〇一三八〇〇〇。", "客服电话是13800138000。"),
        ("价格上涨了百分之一百二。", "价格上涨了120%。"),
        ("価格は三百五円です。", "価格は三百五円です。"),
        ("Vé vào cửa giá một trăm hai nghìn đồng.", "Vé vào cửa giá 120 nghìn đồng."),
        ("Đoàn có một trăm lẻ hai người.", "Đoàn có 102 người."),
        ("Kho có một trăm tư liệu quý.", "Kho có 100 tư liệu quý."),
        ("Làng đã có từ hai trăm năm trước.", "Làng đã có từ 200 năm trước."),
    ],
)
def test_a_number_is_proven_in_its_own_sense(text: str, claim: str) -> None:
    assert verdict(claim, text) == "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("这台电脑的价格是一千五元。", "这台电脑的价格是1,500元。"),
        ("这辆车的价格是三万五元。", "这辆车的价格是35000元。"),
        ("这辆车的价格是三万五元。", "这辆车的价格是3.5万元。"),
        ("仓库里有两千三个箱子。", "仓库里有2300个箱子。"),
        ("房租是五千一年。", "房租是5000一年。"),
        ("房租是五千一。", "房租是5100。"),
        ("他读了第一百五条。", "他读了第105条。"),
        ("他读了第一百五条。", "他读了第150条。"),
        ("客人住在三百二号房间。", "客人住在302号房间。"),
        ("这座桥建于一千九百四年。", "这座桥建于1904年。"),
        ("価格は三百五円です。", "価格は305円です。"),
        ("Công ty đã chi hai triệu ba đồng cho sách.", "Công ty đã chi 2,3 triệu đồng cho sách."),
        ("Công ty đã chi một triệu tư đồng cho sách.", "Công ty đã chi 1.400.000 đồng cho sách."),
        ("Tiền thuê là ba trăm một tháng.", "Tiền thuê là 300 một tháng."),
        ("Tiền thuê là ba trăm một tháng.", "Tiền thuê là 310 tháng."),
        ("Đoàn có một trăm hai ba người.", "Đoàn có 123 người."),
        ("Dự án này có vốn hai nghìn tỷ đồng.", "Dự án này có vốn 2.000 tỷ đồng."),
        ("The project cost two thousand million euros.", "The project cost 2 billion euros."),
    ],
)
def test_a_true_number_in_other_words_is_not_refused(text: str, claim: str) -> None:
    assert verdict(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("这台电脑的价格是一千五。", "这台电脑的价格是1005。"),
        ("这件衣服卖三百五元。", "这件衣服卖305元。"),
        ("仓库里有两千三个箱子。", "仓库里有2003个箱子。"),
        ("门票每张一千零五元。", "门票每张1500元。"),
        ("门票每张一千零五元。", "门票每张一千五元。"),
        ("Vé vào cửa giá một trăm hai nghìn đồng.", "Vé vào cửa giá 102 nghìn đồng."),
        ("Vé vào cửa giá một trăm hai mươi đồng.", "Vé vào cửa giá một trăm lẻ hai đồng."),
        ("Công ty đã chi hai triệu ba đồng cho sách.", "Công ty đã chi 2.000.003 đồng cho sách."),
        ("Đoàn có một trăm lẻ hai người.", "Đoàn có 120 người."),
        ("Dự án này có vốn hai nghìn tỷ đồng.", "Dự án này có vốn 3.000 tỷ đồng."),
        ("The project cost two thousand million euros.", "The project cost 3 billion euros."),
    ],
)
def test_a_false_number_is_contradicted(text: str, claim: str) -> None:
    assert verdict(claim, text) == "contradicted"


ABSURD = [
    "二" * 320,
    "两" * 20 + "百",
    "5 " + "trillion " * 30,
    "5 " + "tỷ " * 2000,
    "9" + "亿" * 39,
    "9" + "亿" * 38 + " trillion",
    "9" * 30 + "万",
    "1" + " 000" * 110,
    "one hundred " * 1500,
    "một trăm " * 1500,
]


@pytest.mark.parametrize("number", ABSURD)
def test_a_number_that_nobody_means_is_compared_as_it_is_written(number: str) -> None:
    text = f"The safe holds {number} coins."
    assert quantities_of(parse_sentence(text)) is not None
    assert verdict(text, text) == "supported"
    assert verdict(text, "The safe holds seven coins.") != "supported"
    assert verdict("The safe holds seven coins.", text) != "supported"


def test_long_chinese_digits_are_not_proven_by_others_that_round_to_the_same() -> None:
    digits = "一二三四五六七八九〇一二三四五六七八九"
    assert verdict(f"卡号是{digits}。", f"卡号是{digits}。") == "supported"
    assert verdict(f"卡号是{digits[:-1]}八。", f"卡号是{digits}。") != "supported"


NUMBER_WORDS = st.sampled_from(
    [
        *"零一二两五九十百千万亿",
        "9",
        "1.5",
        " ",
        "trillion ",
        "hundred ",
        "nine ",
        "trăm ",
        "tỷ ",
        "chín ",
        "nghìn ",
        " 000",
    ]
)


@given(st.lists(NUMBER_WORDS, max_size=60).map("".join), st.integers(1, 40))
def test_any_run_of_numerals_and_scales_is_read(run: str, times: int) -> None:
    exact_form(run * times)
    assert len(quantities_of(parse_sentence(run * times))) >= 0


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Phòng số một trăm hai ở tầng một của nhà.", "Phòng số 120 ở tầng một của nhà."),
        ("Nhà số hai trăm ba đường Lê Lợi đã bán.", "Nhà số 230 đường Lê Lợi đã bán."),
        ("Bài học số một trăm hai nói về lúa nước.", "Bài học số 120 nói về lúa nước."),
        ("房间号是三百五，在三楼。", "房间号是350，在三楼。"),
        ("编号为一百五的箱子在三楼。", "编号为150的箱子在三楼。"),
        ("三百五室在大楼东侧。", "350室在大楼东侧。"),
    ],
)
def test_a_name_in_words_is_not_proven_as_a_quantity(text: str, claim: str) -> None:
    assert verdict(claim, text) == "unverified"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Giá vé là một trăm hai ở chợ này.", "Giá vé là 120 ở chợ này."),
        ("Phòng số một trăm linh hai ở tầng một của nhà.", "Phòng số 102 ở tầng một của nhà."),
        ("房间价格是三百五，在三楼。", "房间价格是350，在三楼。"),
    ],
)
def test_a_quantity_beside_such_a_name_is_proven(text: str, claim: str) -> None:
    assert verdict(claim, text) == "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("They need two or three hundred boats for the race.", "They need 2 or 300 boats for the race."),
        ("They need 2 to 300 boats for the race.", "They need two to three hundred boats for the race."),
        ("Họ cần hai đến ba trăm chiếc thuyền cho cuộc đua.", "Họ cần 2 đến 300 chiếc thuyền cho cuộc đua."),
        ("Họ cần hai ba trăm chiếc thuyền cho cuộc đua.", "Họ cần 2 300 chiếc thuyền cho cuộc đua."),
        ("Có bốn năm trăm người đến đây học nghề.", "Có 4 500 người đến đây học nghề."),
        (
            "The camp had between five hundred and six hundred guests in May.",
            "The camp had between 50600 guests in May.",
        ),
        (
            "The proxy at 192.168.100.200 serves the third floor.",
            "The proxy at 192,168,100,200 serves the third floor.",
        ),
        ("The proxy at 192.168.100.200 serves the third floor.", "The proxy at 192168100200 serves the third floor."),
        ("The index fell – 5 points in one day of May.", "The index fell -5 points in one day of May."),
        ("这台机器用电八十千瓦时。", "这台机器用电1080瓦时。"),
        ("他买了十五千克大米。", "他买了5010克大米。"),
        ("这座电站的功率是五万千瓦。", "这座电站的功率是51000瓦。"),
        ("百度发布了新的模型。", "100度发布了新的模型。"),
    ],
)
def test_another_number_is_not_proven(text: str, claim: str) -> None:
    assert verdict(claim, text) in ("unverified", "contradicted")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("They need two or three hundred boats for the race.", "They need two or three hundred boats for the race."),
        ("In room two, three hundred people waited for news.", "In room two, 300 people waited for news."),
        ("Mỗi năm hai trăm người đến đây học nghề.", "Mỗi năm 200 người đến đây học nghề."),
        ("Bốn trăm người đến đây học nghề.", "400 người đến đây học nghề."),
        ("The camp had between five hundred and six hundred guests.", "The camp had between 500 and 600 guests."),
        ("The camp had two hundred and fifty guests in May.", "The camp had 250 guests in May."),
        ("The file has 1.234.567.890 bytes in all.", "The file has 1234567890 bytes in all."),
        ("The range is -5 to 10 degrees in May.", "The range is −5 to 10 degrees in May."),
        ("货物重二十千克。", "货物重20000克。"),
        ("昨天百度发布了新的模型。", "昨天百度发布了新的模型。"),
    ],
)
def test_a_number_beside_such_a_one_is_proven(text: str, claim: str) -> None:
    assert verdict(claim, text) == "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("该厂去年用电二十五千瓦时。", "该厂去年用电25千瓦时。"),
        ("该厂去年用电五千三百千瓦时。", "该厂去年用电5300千瓦时。"),
        ("这座电站的功率是五千千瓦。", "这座电站的功率是5000千瓦。"),
        ("这座电站的功率是五万千瓦。", "这座电站的功率是50000千瓦。"),
        ("Công ty bán hai ba chục chiếc thuyền.", "Công ty bán 20-30 chiếc thuyền."),
        ("They sold between one million and two million boats.", "They sold between 1 and 2 million boats."),
        ("They had between 1 million and 2 million guests here.", "They had between 1 and 2 million guests here."),
    ],
)
def test_a_scale_that_two_numbers_or_a_unit_share_refuses_no_true_claim(text: str, claim: str) -> None:
    assert verdict(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The dose was .75 mg in May.", "The dose was 0.75 mg in May."),
        ("The dose was -.75 mg in May.", "The dose was -0.75 mg in May."),
        ("It was minus 5 degrees in May.", "It was -5 degrees in May."),
        ("Kho lạnh được giữ ở âm 18 độ quanh năm.", "Kho lạnh được giữ ở -18 độ quanh năm."),
        ("It cost 5k dollars in May.", "It cost 5,000 dollars in May."),
        ("They sold half a million boats in May.", "They sold 500,000 boats in May."),
        ("They sold two and a half million boats.", "They sold 2.5 million boats."),
        ("The trip took one and a half hours on Monday.", "The trip took 1.5 hours on Monday."),
        ("They sold two dozen boats in May.", "They sold 24 boats in May."),
        ("They sold half a dozen boats in May.", "They sold six boats in May."),
        ("A third of the students passed the test in May.", "One third of the students passed the test in May."),
        ("增长了百分之三点五。", "增长了3.5%。"),
        ("降水量是三点五毫米。", "降水量是3.5毫米。"),
        ("会议在下午三点五十分开始。", "会议在下午3点50分开始。"),
        ("Làng có hai vạn dân sống ở đây.", "Làng có 20.000 dân sống ở đây."),
        ("Bà có ngàn hai đồng trong túi.", "Bà có 1.200 đồng trong túi."),
        ("Chị mua hai tá trứng ở chợ.", "Chị mua 24 trứng ở chợ."),
        ("Có ba lăm người ở đây hôm qua.", "Có 35 người ở đây hôm qua."),
        ("Con đường dài một nghìn không trăm linh năm mét.", "Con đường dài 1.005 mét."),
    ],
)
def test_a_true_number_in_another_form_is_not_refused(text: str, claim: str) -> None:
    assert verdict(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The dose was .75 mg in May.", "The dose was 75 mg in May."),
        ("It was minus 5 degrees in May.", "It was minus 7 degrees in May."),
        ("Kho lạnh được giữ ở âm 18 độ quanh năm.", "Kho lạnh được giữ ở -20 độ quanh năm."),
        ("They sold half a million boats in May.", "They sold 5,000 boats in May."),
        ("They sold two and a half million boats.", "They sold 2 million boats."),
        ("The trip took one and a half hours on Monday.", "The trip took 2.5 hours on Monday."),
        ("They sold two dozen boats in May.", "They sold 12 boats in May."),
        ("They sold half a dozen boats in May.", "They sold a dozen boats in May."),
        ("A third of the students passed the test in May.", "A half of the students passed the test in May."),
        ("增长了百分之三点五。", "增长了35%。"),
        ("会议在下午三点五十分开始。", "会议在下午3点40分开始。"),
        ("Làng có hai vạn dân sống ở đây.", "Làng có 2.000 dân sống ở đây."),
        ("Chị mua hai tá trứng ở chợ.", "Chị mua 25 trứng ở chợ."),
        ("Có ba lăm người ở đây hôm qua.", "Có 53 người ở đây hôm qua."),
        ("Con đường dài một nghìn không trăm linh năm mét.", "Con đường dài 1.050 mét."),
    ],
)
def test_a_false_number_in_another_form_is_contradicted(text: str, claim: str) -> None:
    assert verdict(claim, text) == "contradicted"


@pytest.mark.parametrize(
    ("text", "claim", "expected"),
    [
        ("Quãng đường dài 2,5 km qua núi.", "Quãng đường dài 2.500 m qua núi.", "unverified"),
        ("Xe chở 5 tấn gạo về kho.", "Xe chở 5.000 kg gạo về kho.", "unverified"),
        ("Quãng đường dài 2,5 km qua núi.", "Quãng đường dài 2,5 m qua núi.", "contradicted"),
        ("Xe chở 5 tấn gạo về kho.", "Xe chở 5 kg gạo về kho.", "contradicted"),
        ("The water was 5 degrees on Monday.", "The water was 5 °C on Monday.", "unverified"),
        ("Hôm qua nhiệt độ ở đây là 5 độ.", "Hôm qua nhiệt độ ở đây là 5 °C.", "unverified"),
        ("昨天该市气温达5度。", "昨天该市气温达5°C。", "unverified"),
        ("The water was 5 degrees on Monday.", "The water was 7 degrees on Monday.", "contradicted"),
        ("The water was 5 °F on Monday.", "The water was 5 °C on Monday.", "contradicted"),
    ],
)
def test_units_are_compared_with_what_their_numbers_mean(text: str, claim: str, expected: Verdict) -> None:
    assert verdict(claim, text) == expected


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The crate of oranges weighs 1.250 kg.", "The crate of oranges weighs 1.25 kg."),
        ("The crate of oranges weighs 1.25 kg.", "The crate of oranges weighs 1.250 kg."),
        ("The crate of oranges weighs 1.250 kg.", "The crate of oranges weighs 1,250 kg."),
        ("Unemployment rose by 3.125 percent in May.", "Unemployment rose by about 3.1 percent in May."),
        ("Unemployment rose by 3.125 percent in May.", "Unemployment rose by less than 4 percent in May."),
        ("The value of pi is 3.142 here.", "The value of pi is 3.14 here."),
        ("The value of pi is 3.14 here.", "The value of pi is 3.142 here."),
        ("A mile is 1.609 km long.", "A mile is 1.6 km long."),
        ("The grant was 1.250 million dollars.", "The grant was 1.25 million dollars."),
        ("The trail runs from 2 to 3.000 km.", "The trail runs from 2 to 3 km."),
        ("The temperature was -1.250 degrees.", "The temperature was -1.25 degrees."),
        ("这箱橙子重1.250公斤。", "这箱橙子重1.25公斤。"),
        ("这箱橙子重1,250公斤。", "这箱橙子重1250公斤。"),
        ("Thùng cam này nặng 1,250 kg.", "Thùng cam này nặng 1,25 kg."),
        ("Thùng cam này nặng 1.250 kg.", "Thùng cam này nặng 1.25 kg."),
        ("Thùng cam này nặng 1.250 kg.", "Thùng cam này nặng 1250 kg."),
        ("Die Kiste ist voll und wiegt 1,250 kg.", "Die Kiste ist voll und wiegt 1,25 kg."),
    ],
)
def test_one_separator_before_three_digits_may_be_either(text: str, claim: str) -> None:
    assert verdict(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The crate of oranges weighs 1.250 kg.", "The crate of oranges weighs 1.5 kg."),
        ("The crate of oranges weighs 1.250 kg.", "The crate of oranges weighs 1.260 kg."),
        ("The crate of oranges weighs 1.250 kg.", "The crate of oranges weighs 125 kg."),
        ("The crate of oranges weighs 1,250 kg.", "The crate of oranges weighs 1.25 kg."),
        ("The company has 1,234 employees in Hanoi.", "The company has 1,235 employees in Hanoi."),
        ("The company has 1,234 employees in Hanoi.", "The company has 12 employees in Hanoi."),
        ("Unemployment rose by 3.125 percent in May.", "Unemployment rose by 5.1 percent in May."),
        ("The value of pi is 3.142 here.", "The value of pi is 3.24 here."),
        ("The grant was 1.250 million dollars.", "The grant was 2.250 million dollars."),
        ("The town has 1.345.595 people.", "The town has 1.345.596 people."),
        ("The fee is 0.125 euros.", "The fee is 0.25 euros."),
        ("The crate of oranges weighs 1.250 kg.", "The crate of oranges weighs 1.251 kg."),
        ("Trường này có 1.250 học sinh.", "Trường này có 1.251 học sinh."),
        ("Trường này có 1.200 học sinh.", "Trường này có 1.234 học sinh."),
        ("Trường này có 1200 học sinh.", "Trường này có 1.234 học sinh."),
        ("Trường này có 1.234 học sinh.", "Trường này có 1.334 học sinh."),
        ("这箱橙子重1.250公斤。", "这箱橙子重1.5公斤。"),
        ("这箱橙子重1,250公斤。", "这箱橙子重1.25公斤。"),
        ("Thùng cam này nặng 1,250 kg.", "Thùng cam này nặng 1,5 kg."),
        ("Thùng cam này nặng 1.250 kg.", "Thùng cam này nặng 1350 kg."),
    ],
)
def test_neither_reading_excuses_a_third_number(text: str, claim: str) -> None:
    assert verdict(claim, text) == "contradicted"


def test_a_number_of_two_readings_stands_in_its_source() -> None:
    (checked,) = check_section(
        WrittenSection("In spring one crate weighed about 1.25 kg.", (segment("doc", 0, "A crate weighs 1.250 kg."),))
    )
    assert checked.verdict == "unverified"
    assert not any("nowhere" in reason for reason in checked.reasons)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The company had 1,200¹ employees in 2020.", "The company had 1,200 employees in 2020."),
        ("The company had 1,200¹² employees in 2020.", "The company had 1200 employees in 2020."),
        ("The company lost 5 million² euros last year.", "The company lost 5,000,000 euros last year."),
        ("The sample held 10⁶ cells.", "The sample held 1 million cells."),
        ("The sample held 2⁵ cells.", "The sample held 32 cells."),
        ("The pore is 10⁻³ m wide.", "The pore is 0.001 m wide."),
        ("The firm was founded by Anna Berg² in spring.", "The firm was founded by Anna Berg in spring."),
        ("The firm was founded by Ben Lee² in spring.", "The firm was founded by Ben Lee in spring."),
        ("The mill closed for good in 2020.¹", "The mill closed for good in 2020."),
        ("The mill closed for good on 2020-03-05¹ at night.", "The mill closed for good on 5 March 2020 at night."),
        ("The plot covers 5 km² of land.", "The plot covers 5 square kilometres of land."),
        ("公司在2020年共有1200¹名员工。", "公司在2020年共有1200名员工。"),
        ("公司在2020年共有3万¹名员工。", "公司在2020年共有30000名员工。"),
        ("样本中含有10⁶个细胞。", "样本中含有100万个细胞。"),
        ("Công ty có 1.200¹ nhân viên vào năm 2020.", "Công ty có 1.200 nhân viên vào năm 2020."),
        ("Công ty đã lỗ 5 tỷ¹ đồng năm ngoái.", "Công ty đã lỗ 5.000.000.000 đồng năm ngoái."),
        ("Mẫu này chứa 10⁶ tế bào.", "Mẫu này chứa 1 triệu tế bào."),
    ],
)
def test_a_raised_figure_is_no_digit_of_its_number(text: str, claim: str) -> None:
    assert verdict(claim, text) in ("supported", "unverified")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The company had 1,200¹ employees in 2020.", "The company had 1,300 employees in 2020."),
        ("The company had 1,200¹ employees in 2020.", "The company had 12,001 employees in 2020."),
        ("The company lost 5 million² euros last year.", "The company lost 6 million euros last year."),
        ("The sample held 10⁶ cells.", "The sample held 2 million cells."),
        ("The firm was founded by Anna Berg² in spring.", "The firm was founded by Anna Bohm in spring."),
        ("The plot covers 5 km² of land.", "The plot covers 6 km² of land."),
        ("The plot covers 5 km² of land.", "The plot covers 5 hectares of land."),
        ("公司在2020年共有1200¹名员工。", "公司在2020年共有1300名员工。"),
        ("Công ty có 1.200¹ nhân viên vào năm 2020.", "Công ty có 1.300 nhân viên vào năm 2020."),
    ],
)
def test_a_number_with_a_raised_figure_excuses_no_other(text: str, claim: str) -> None:
    assert verdict(claim, text) == "contradicted"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The sample held 10⁶ cells.", "The sample held 106 cells."),
        ("The sample held 10⁶ cells.", "The sample held 10 cells."),
        ("The sample held 10⁶ cells.", "The sample held 10⁷ cells."),
        ("The company had 1,200¹ employees.", "The company had 12001 employees."),
        ("样本中含有10⁶个细胞。", "样本中含有106个细胞。"),
        ("Mẫu này chứa 10⁶ tế bào.", "Mẫu này chứa 106 tế bào."),
    ],
)
def test_a_raised_figure_is_never_proven_as_another(text: str, claim: str) -> None:
    assert verdict(claim, text) != "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Version 1.234.567 fixes the pump.", "Version 1,234,567 fixes the pump."),
        ("Version 1.234.567 fixes the pump.", "Version 1234567 fixes the pump."),
        ("The pump needs v1.234.567 of the tool.", "The pump needs v1,234,567 of the tool."),
        ("The version number is 1.234.567 now.", "The version number is 1,234,567 now."),
        ("Run versions 1.234.567 and 2.345.678 here.", "Run versions 1.234.567 and 2,345,678 here."),
        ("Release 1.234.567 fixes the pump.", "Release 1,234,567 fixes the pump."),
        ("请安装版本1.234.567。", "请安装版本1,234,567。"),
        ("请安装版本号为1.234.567的软件。", "请安装版本号为1234567的软件。"),
        ("Hãy cài phiên bản 1.234.567 của máy bơm.", "Hãy cài phiên bản 1,234,567 của máy bơm."),
        ("Hãy cài Phiên bản số 1.234.567 của máy bơm.", "Hãy cài Phiên bản số 1234567 của máy bơm."),
    ],
)
def test_the_dots_of_a_version_group_no_thousands(text: str, claim: str) -> None:
    assert verdict(text, text) == "supported"
    assert verdict(claim, text) != "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Version 2 has 1.234.567 users.", "Version 2 has 1,234,567 users."),
        ("The town has 1,234,567 people.", "The town has 1.234.567 people."),
        ("The town has 1,234,567 people.", "The town has 1234567 people."),
        ("这座城市有1,234,567人。", "这座城市有1234567人。"),
        ("Thành phố có 1.234.567 người.", "Thành phố có 1,234,567 người."),
    ],
)
def test_groups_of_thousands_are_notation(text: str, claim: str) -> None:
    assert verdict(claim, text) == "supported"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("One in five adults in the town smokes.", "Two in ten adults in the town smokes."),
        ("In the town one in five adults smokes.", "In the town 20 out of 100 adults smokes."),
        ("In the town 4 out of every 10 adults smoke.", "In the town 2 in 5 adults smoke."),
        ("镇上每五人中有一人吸烟。", "镇上每十人中有两人吸烟。"),
        ("Ở thị trấn hai trong số mười người hút thuốc lá.", "Ở thị trấn một trong số năm người hút thuốc lá."),
        ("Ở thị trấn cứ mười người thì có bốn người hút thuốc.", "Ở thị trấn cứ 5 người thì có 2 người hút thuốc."),
    ],
)
def test_the_same_share_of_another_number_is_no_conflict(text: str, claim: str) -> None:
    assert verdict(claim, text) == "unverified"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("One in five adults in the town smokes.", "One in ten adults in the town smokes."),
        ("In the town 4 out of every 10 adults smoke.", "In the town 3 out of every 10 adults smoke."),
        ("In the town 4 out of every 10 adults smoke.", "In the town 2 out of every 10 adults smoke."),
        ("In the town two adults smoke in 10 rooms.", "In the town two adults smoke in 5 rooms."),
        ("镇上每五人中有一人吸烟。", "镇上每十人中有一人吸烟。"),
        ("Ở thị trấn cứ mười người thì có bốn người hút thuốc.", "Ở thị trấn cứ 10 người thì có 2 người hút thuốc."),
    ],
)
def test_another_share_is_contradicted(text: str, claim: str) -> None:
    assert verdict(claim, text) == "contradicted"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (
            "经测试，新轮胎在湿滑路面的刹车距离为 31 米，旧轮胎为 38 米。",
            "在湿滑路面上，新轮胎的刹车距离比旧轮胎短 7 米。",
        ),
        (
            "The braking distance on wet roads is 31 metres for the new tyre and 38 metres for the old one.",
            "The braking distance on wet roads is 7 metres shorter for the new tyre.",
        ),
        (
            "Quãng đường phanh của lốp mới là 31 mét, của lốp cũ là 38 mét.",
            "Quãng đường phanh của lốp mới ngắn hơn lốp cũ 7 mét.",
        ),
    ],
)
def test_a_difference_is_not_held_against_what_it_is_between(text: str, claim: str) -> None:
    assert verdict(claim, text) == "unverified"


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("新轮胎的刹车距离比旧轮胎短 7 米。", "新轮胎的刹车距离比旧轮胎短 9 米。"),
        (
            "The new tyre stops 7 metres shorter than the old one.",
            "The new tyre stops 9 metres shorter than the old one.",
        ),
        ("Lốp mới phanh ngắn hơn lốp cũ 7 mét.", "Lốp mới phanh ngắn hơn lốp cũ 9 mét."),
        ("销量比去年增长 7%。", "销量增长 9%。"),
    ],
)
def test_another_difference_is_contradicted(text: str, claim: str) -> None:
    assert verdict(claim, text) == "contradicted"


def test_about_a_third_is_one_third() -> None:
    text = "In mice, the compound slowed tumour growth by about a third."
    assert verdict("In mice, the compound slowed tumour growth by about one third.", text) == "unverified"
    assert verdict("In mice, the compound slowed tumour growth by about a quarter.", text) == "contradicted"
