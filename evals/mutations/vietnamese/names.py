"""Names in Vietnamese, whose syllables are each written with a capital."""

import re

from evals.mutations.capitals import capital_names
from evals.mutations.language import Name
from evals.mutations.swaps import words

_OPENERS = frozenset(
    words(
        "Các Những Một Trong Ngoài Khi Tuy Theo Tại Vào Sau Trước Năm Ngày Tháng Thứ Ông Bà Họ Nó Đây Đó Từ Với Và "
        "Nhưng Nếu Do Vì Mặc Hầu Tất Cả Cùng Ở Để Đến Trên Dưới Hai Ba Bốn Sáu Bảy Tám Chín Mười Người Việc Sự Có "
        "Không Là Bởi Điều Nhiều Như Mỗi Mọi Đã Được Bị Hiện Ngay Hơn Cho Rất Chỉ Cũng Tư"
    )
)
# One syllable with marks is mostly the head of a common noun ("Đại học", "Hội đồng"); these are names nevertheless.
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
    """Find runs of capitalised syllables; one that opens the sentence only where it stands elsewhere too."""
    return capital_names(sentence, paragraph, left_out=_OPENERS, sort=_sort)
