"""Vietnamese: what makes a sentence false, what leaves it true, and where its names are."""

import re

from evals.mutations.language import Language
from evals.mutations.vietnamese.fresh import FRESH
from evals.mutations.vietnamese.names import vietnamese_names
from evals.mutations.vietnamese.reworded import PARAPHRASES
from evals.mutations.vietnamese.wrong import MUTATIONS

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
