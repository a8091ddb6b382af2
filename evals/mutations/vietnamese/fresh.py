"""Vietnamese cues that were written after the checker of claims, and that its author has not seen the misses of."""

from evals.mutations.swaps import table

_QUANTIFIERS = """
hiếm khi > thường xuyên
đôi khi > luôn luôn
hoàn toàn(?= \\w) > chỉ phần nào
gần như > hoàn toàn không
duy nhất > phổ biến
ban đầu > về sau
sau đó > trước đó
trước đó > sau đó
tốt nhất > tệ nhất
mạnh nhất > yếu nhất
ngắn hơn > dài hơn
dài hơn > ngắn hơn
thấp nhất > cao nhất
(?<= )đầu(?= năm| thập| thế) > cuối
(?<= )cuối(?= năm| thập| thế) > đầu
những năm đầu > những năm cuối
những năm cuối > những năm đầu
rất(?= (?!lâu|nhiều)\\w) > không hề
"""
_POLARITY = """
khuyến khích > ngăn cản
bảo vệ > tấn công
tấn công > bảo vệ
gia nhập > rời khỏi
thành lập > giải thể
xây dựng > phá hủy
phá hủy > xây dựng
bãi bỏ > ban hành
an toàn > nguy hiểm
độc lập > phụ thuộc
(?<!hoặc )trực tiếp(?! hoặc) > gián tiếp
bên trái > bên phải
là nam > là nữ
là nữ > là nam
quan trọng > không đáng kể
nhanh chóng > chậm chạp
mới(?= (?:được|của|đã|trong)) > cũ
nông thôn > thành thị
bổ nhiệm > bãi nhiệm
đồng ý > từ chối
"""
FRESH = {"polarity_fresh": table(_POLARITY), "quantifier_fresh": table(_QUANTIFIERS)}
