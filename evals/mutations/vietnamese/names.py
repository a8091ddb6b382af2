"""Names in Vietnamese, whose syllables are each written with a capital."""

import re

from evals.mutations.capitals import capital_names
from evals.mutations.language import Name
from evals.mutations.swaps import words

# Words that open sentences, and the first syllables of common nouns that are written with a capital.
_NO_NAMES = frozenset(
    words(
        "Các Những Một Trong Ngoài Khi Tuy Theo Tại Vào Sau Trước Năm Ngày Tháng Thứ Ông Bà Họ Nó Đây Đó Từ Với Và "
        "Nhưng Nếu Do Vì Mặc Hầu Tất Cả Cùng Ở Để Đến Trên Dưới Hai Ba Bốn Sáu Bảy Tám Chín Mười Người Việc Sự Có "
        "Không Là Bởi Điều Nhiều Như Mỗi Mọi Đã Được Bị Hiện Ngay Hơn Cho Rất Chỉ Cũng Tư Nước Cuộc Cơn Kịch Công Hội "
        "Phòng Vương Đại Chiến Trận Trung Tân Kinh Hồi Nho Liên Thung Bất Trường Biến Chủ Đông Tây Nam Bắc Đạo Rừng "
        "Chợ Quốc Hình Văn Quận Sông Hồ Đường Đảo Đế Cộng Nhà Bãi Cầu Giải Luật Nghị Thời Pháo Phật Tin Lễ Thánh Thế "
        "Tổng Bộ Ủy Phó Bác Viện Mặt Học Cơ Kế Hệ Thủ Thượng Báo Nghệ Thành Xa Tiểu Mạng Sân Nguyên Đội Bức Tháp"
    )
)
_PLACE = re.compile(r"\b(?:ở|tại|khắp|đến|tới|thành phố|nước|tỉnh|bang) $")
_PEOPLE = re.compile(r"\b(?:người|tiếng|dân|quân) $", re.IGNORECASE)


def _sort(text: str, before: str, paragraph: str) -> str:
    if text.isupper():
        return "acronym"
    if _PEOPLE.search(before):
        return "demonym"
    return "place" if _PLACE.search(before) else "name"


def vietnamese_names(sentence: str, paragraph: str) -> list[Name]:
    """Find runs of capitalised syllables; one that opens the sentence only where it stands elsewhere too."""
    return capital_names(sentence, paragraph, left_out=_NO_NAMES, sort=_sort)
