"""Vietnamese swap tables, rewordings that keep a sentence true, and name finding."""

import re
from random import Random

from research.mutations.swaps import Language, Name, capital_names, gone, not_after, swap, table, words
from research.mutations.vietnamese_swaps import BOUNDED, COUNTED, FRESH, MUTATIONS

_ONES = words("không một hai ba bốn năm sáu bảy tám chín")


def _in_words(match: re.Match[str], random: Random) -> str | None:
    tens, ones = divmod(int(match[0]), 10)
    if not tens:
        return _ONES[ones] if ones > 1 else None
    last = {0: "", 1: " mốt" if tens > 1 else " một", 5: " lăm"}.get(ones, f" {_ONES[ones]}")
    return ("mười" if tens == 1 else f"{_ONES[tens]} mươi") + last


def _in_digits(match: re.Match[str], random: Random) -> str:
    return str([*_ONES, "mười"].index(match[0]))


def _ungrouped(match: re.Match[str], random: Random) -> str:
    return re.sub(r"\D", "", match[0])


PARAPHRASES = {
    "particle": (
        swap(
            r"(?<=\w )(?:cũng(?! như)|rất|vốn|thực sự|khá|đặc biệt|lần lượt) (?=\w)(?!là|nay|đại|tại|thời|trạng)",
            gone,
        ),
        swap(r"(?<=\w )(?:các|những) (?=\w)(?!năm)", gone),
        swap(r"(?<=\w )đã (?=\w)(?!không|chưa|từng)", gone),
        swap(r"^(?:Tuy nhiên|Ngoài ra|Do đó|Vì vậy|Hơn nữa|Ví dụ|Cuối cùng), ", gone),
    ),
    "number_notation": (
        swap(
            BOUNDED + not_after("năm tháng ngày kỷ giữa") + r"(?<![\w.,/:–+$£€½-])(?<=[a-zà-ỹ][a-zà-ỹ] )\d{1,2}"
            r"(?= (?!và |tháng|năm|phần|triệu|nghìn|tỷ|ngàn)[^\W\d_]{2,})",
            _in_words,
        ),
        swap(
            rf"(?<=[^\W\d_] )(?<!thứ )(?<!mươi )(?:hai|ba|bốn|sáu|bảy|tám|chín|mười)(?= (?:{COUNTED}))",
            _in_digits,
        ),
        swap(r"(?<![\w.,])\d{1,3}(?:\.\d{3})+(?![\w.,]\d)", _ungrouped),
        swap(r"(?<![\w.,])\d{1,3}(?:\.\d{3})+(?![\w.,]\d)", lambda match, random: match[0].replace(".", ",")),
        swap(r"(?<=\d)%", lambda match, random: " phần trăm"),
    ),
    "date_notation": (
        swap(r"ngày (\d{1,2}) tháng (\d{1,2}) năm (\d{4})", lambda match, random: match.expand(r"ngày \1/\2/\3")),
        swap(r"tháng (\d{1,2}) năm (\d{4})", lambda match, random: match.expand(r"tháng \1/\2")),
        swap(r"(?<=, )tháng (\d{1,2})/(\d{4})", lambda match, random: match.expand(r"tháng \1 năm \2")),
    ),
    "synonym": table(
        r"""
bắt đầu > khởi đầu
khoảng(?= \d) > xấp xỉ
sử dụng > dùng
xây dựng(?! sự) > dựng
cũng như > và
trở thành > thành
(?<!bày )quốc gia(?= (?:này|đó|châu|khác|có|nào)) > nước
hiện nay > ngày nay
bởi vì > vì
(?<!bởi )(?<!vậy )(?<!trị )vì(?= (?!vậy|thế)\w) > bởi vì
tuy nhiên, > nhưng
chẳng hạn như > như
ví dụ như > chẳng hạn như
nổi tiếng > có tiếng
nằm ở > tọa lạc ở
mặc dù > tuy
nhằm > để
nếu > nếu như
do(?= (?:những|sự|các)) > bởi
thường xuyên > hay
rộng rãi > rộng khắp
to lớn > lớn
gồm có > gồm
trên khắp > khắp
tổng cộng > cả thảy
"""
    ),
    "clause_order": (
        swap(
            r"^(?:Vào |Trong )?[Nn]ăm (\d{4}), ([^,;:()]{20,})\.$",
            lambda match, random: f"{match[2][0].upper()}{match[2][1:]} vào năm {match[1]}.",
        ),
        swap(
            r"^(Khi|Mặc dù|Vì|Nếu|Sau khi|Trước khi) ([^,;:()]{12,70}), ([^,;:()]{15,})\.$",
            lambda match, random: f"{match[3][0].upper()}{match[3][1:]} {match[1].lower()} {match[2]}.",
        ),
    ),
}

_OPENERS = frozenset(
    words(
        "Các Những Một Trong Ngoài Khi Tuy Theo Tại Vào Sau Trước Năm Ngày Tháng Thứ Ông Bà Họ Nó Đây Đó Từ Với Và "
        "Nhưng Nếu Do Vì Mặc Hầu Tất Cả Cùng Ở Để Đến Trên Dưới Hai Ba Bốn Sáu Bảy Tám Chín Mười Người Việc Sự Có "
        "Không Là Bởi Điều Nhiều Như Mỗi Mọi Đã Được Bị Hiện Ngay Hơn Cho Rất Chỉ Cũng Tư"
    )
)
# One syllable with marks is mostly the head of a common noun ("Đại học", "Hội đồng"); these are names all the same.
_SHORT_NAMES = frozenset(words("Mỹ Đức Ý Áo Bỉ Úc Ấn Lào Séc Huế"))
_NO_NAMES = frozenset(words("Nam Trung Kinh Nho Thung Khoang Tin Xa Ban Vua Bang Sao Pha Quan Gia Trang Tia Lục"))
_PLACE = re.compile(r"\b(?:ở|tại|khắp|đến|tới|thành phố|nước|tỉnh|bang) $")
_PEOPLE = re.compile(r"\b(?:người|tiếng|dân|quân) $", re.IGNORECASE)


def _sort(text: str, before: str, paragraph: str) -> str | None:
    if " " not in text and (text in _NO_NAMES or not (text.isascii() or text in _SHORT_NAMES)):
        return None
    if text.isupper():
        return "acronym"
    if _PEOPLE.search(before):
        return "demonym"
    return "place" if _PLACE.search(before) else "name"


def vietnamese_names(sentence: str, paragraph: str) -> list[Name]:
    """Return runs of capitalised syllables; one that opens the sentence counts only if it recurs in the paragraph."""
    return capital_names(sentence, paragraph, left_out=_OPENERS, sort=_sort)


_OPENER = re.compile(
    r"(?:Các|Những|Một|Trong|Khi|Tuy|Theo|Tại|Vào|Sau|Trước|Năm|Ông|Bà|Họ|Nó|Từ|Với|Nếu|Do|Vì|Mặc|Hầu|Tất|Ngoài|Đến"
    r"|Trên)\b(?! [A-ZĐ])"
)

VIETNAMESE = Language(
    code="vi",
    mutations={**MUTATIONS, **FRESH},
    paraphrases=PARAPHRASES,
    frames=(
        "Theo tài liệu, ",
        "Nguồn này cho biết ",
        "Văn bản nêu rằng ",
        "Theo đoạn văn, ",
        "Tài liệu ghi nhận rằng ",
    ),
    names=vietnamese_names,
    joined=re.compile(r"(?:,| và| hoặc| hay| &|/|–|-| \(|\)| cũng như| với| cùng)*\s*"),
    directed=re.compile(r" (?:bởi|từ|hơn|của|bị|được|là|ở|tại|đến|cho|đánh|sang|thuộc|vào|do|thành) "),
    equal=re.compile(r"\b(?:giữa|khác|giống|cùng|tương tự|kết hôn|giáp|liên quan|bằng nhau|gần|cả hai)\b"),
    shortest=9,
    tidy=lambda text: text.replace("\ufeff", ""),
    lowers_after_frame=lambda text: _OPENER.match(text) is not None,
)
