"""Swaps that make a Vietnamese sentence false.

Those of ``FRESH`` were written after the claim checker, whose author has not seen which of them it misses.
"""

from research.mutations.swaps import among, not_after, other_digits, other_year, swap, table, within

BOUNDED = not_after("hơn trên dưới khoảng gần nhất đa thiểu xấp chừng tới đến từ quá vượt xỉ thập kỷ")
COUNTED = (
    "người lần con cái chiếc loại nước đội trận thành tỉnh quốc nhóm phần trường tòa bài cuốn cuộc hãng công nhà "
    "tháng ngày tuần giờ điểm lựa bàn mùa đảo thế vùng khu ngôn hệ yếu bang hạt bên"
).replace(" ", "|")
_CENTURIES = "XV XVI XVII XVIII XIX XX"

_IS = (
    not_after("phải đó gọi tức nghĩa biết biệt nhất hay vì")
    + "là(?= (?:một|người|những|thành phố|nơi|tác|quốc|loại|kết|trung|đội|cơ|do|phần))"
)
_GETS = (
    not_after("không chưa đã") + "được(?= (?:xây|thành|sử|tìm|phát|bổ|bầu|thông|chấp|công|đưa|thiết|cho|trao|tổ|sản"
    "|chia|bán|mở))"
)

MUTATIONS = {
    "number": (
        swap(
            BOUNDED + r"(?<![\w.,/:–+$£€\[-])(?<!năm )(?<!tháng )(?<!ngày )(?<!Năm )(?<!Ngày )"
            r"(?:\d{1,3}(?:[.,]\d{3})+|\d{1,3}|\d{5,})(?:[.,]\d{1,2})?(?![\w/½°:–-]|[.,]\d| tháng \d)",
            other_digits,
        ),
        among(
            "hai ba bốn sáu bảy tám chín mười",
            before=BOUNDED + "(?<!thứ )(?<!mươi )(?<!mười )(?<!một )(?<!phần )",
            after=rf"(?= (?:{COUNTED}))(?! phần)",
        ),
        among("hai ba bốn sáu bảy tám", after="(?= mươi)"),
        among("thứ hai / thứ ba / thứ tư / thứ năm / thứ sáu / thứ bảy"),
        among("một phần ba / một phần tư / hai phần ba / ba phần tư / một nửa"),
        among("gấp đôi / gấp ba"),
    ),
    "scale": (
        among(
            "trăm nghìn triệu tỷ",
            before=r"(?<=[\diamnusyo\dốảơá] )(?<!phần )",
            after=r"(?! (?:nghìn|ngàn|triệu|tỷ|tỉ|lệ))",
        ),
        among("ngàn triệu", before=r"(?<=\d )"),
        among("hàng trăm / hàng ngàn / hàng triệu", after=r"(?! (?:nghìn|ngàn|triệu|tỷ|tỉ))"),
    ),
    "unit": (
        among("km dặm mét", before=r"(?<=\d )"),
        among("km mi ft", before=r"(?<=\d)"),
        among("kilômét / dặm / hải lý"),
        among("kg tấn pound", before=r"(?<=\d )"),
        among("giây phút giờ", before=r"(?<=\d )"),
        among("ngày tuần tháng", before=r"(?<=\d )", after=r"(?! \d)"),
        among("năm tháng", before=r"(?<=[^/]\d )", after=r"(?! \d)"),
        among("thế kỷ / thập kỷ", before=r"(?<=(?:hai|một) )"),
        among("thế kỷ / thập kỷ", before=r"(?<=nhiều )"),
        among("đô la / bảng Anh / euro", before=r"(?<=[\duỷ] )"),
        among("$ £ €", spaced=False),
        among("mẫu / héc-ta", before=r"(?<=\d )"),
        among("°C °F", spaced=False),
        among("km2 / dặm vuông", before=r"(?<=\d )"),
    ),
    "date": (
        swap(r"(?<=[Nn]ăm )(?:1\d{3}|20[01]\d)(?!\w|[.,]\d)", other_year),
        swap(r"(?<=\()(?:1\d{3}|20[01]\d)(?=\))", other_year),
        swap(r"(?<=[Tt]háng )\d{1,2}(?= năm|[ ,.]|/)(?!\d)", within(1, 12)),
        swap(r"(?<=[Nn]gày )\d{1,2}(?= tháng|/)", within(2, 28)),
        among("Một Hai Ba Tư Năm Sáu Bảy Tám Chín Mười", before=r"(?<=[Tt]háng )"),
        swap(r"(?<=thế kỷ )\d{1,2}(?!\d)", within(4, 20)),
        among(_CENTURIES, before=r"(?<=thế kỷ )"),
        swap(r"(?<=những năm 1)[5-9](?=\d0)", within(5, 9)),
        among("Hai Ba Tư Năm Sáu Bảy", before=r"(?<=[Tt]hứ )"),
    ),
    "negation": table(
        rf"""
{_IS} > không phải là
(?<!không )có thể > không thể
(?<!không )(?<!chỉ )(?<!mới )đã(?= (?!không|chưa|từng)\w) > đã không | chưa
(?<!không )(?<!sẽ )sẽ(?= (?!không)\w) > sẽ không
{_GETS} > không được
(?<!không )(?<!đã )bị(?= \w) > không bị
(?<=[,\w] )(?<!không )(?<!chỉ )(?<!có )có(?= (?:một|hai|ba|nhiều|khả năng|quyền|ảnh hưởng|\d)) > không có
không phải là > là
không thể > có thể
không có > có
không còn > vẫn còn
không bao giờ > luôn luôn
(?<!hàng )(?<!chỉ )không(?= (?:được|bị|khác|cần|muốn|đồng|chấp|nên|phụ|làm|biết|bao gồm|đủ)) > vẫn
chưa(?= \w) > đã
""",
    ),
    "polarity": table(
        r"""
tăng lên > giảm xuống
gia tăng > suy giảm
(?<!gia )tăng(?! cường) > giảm
(?<!suy )(?<!sụt )giảm > tăng
ủng hộ > phản đối
phản đối > ủng hộ
cho phép > ngăn cấm
cấm > cho phép
(?<!bất )chấp nhận(?! thức) > bác bỏ
từ chối > đồng ý
thành công > thất bại
thất bại > thành công
chiến thắng > thua trận
đánh bại > để thua
giành được > đánh mất
(?<!bất )(?<!tính )(?<!chuẩn )hợp pháp > phi pháp
bất hợp pháp > hợp pháp
bắt đầu > kết thúc
mở rộng > thu hẹp
tích cực > tiêu cực
giàu(?: có)? > nghèo
nghèo > giàu
(?<!nhấn )(?<!sức )(?<!lớn )mạnh > yếu
dễ dàng > khó khăn
phổ biến > hiếm thấy
công lập > tư thục
tư nhân > nhà nước
phía bắc > phía nam
phía nam > phía bắc
phía đông > phía tây
phía tây > phía đông
bên trong > bên ngoài
bên ngoài > bên trong
nhập khẩu > xuất khẩu
xuất khẩu > nhập khẩu
cổ đại > hiện đại
bao gồm > không gồm
""",
    ),
    "quantifier": table(
        r"""
tất cả(?: các| những)? > rất ít
tất cả mọi > rất ít
toàn bộ > một phần nhỏ
mọi(?= \w) > chẳng
hầu hết(?: các)? > rất ít
phần lớn > phần nhỏ
đa số > thiểu số
đại đa số > thiểu số
thiểu số > đa số
(?<!rất )(?<!bao )nhiều(?! (?:hơn|nhất|khi)) > ít
một số > tất cả
một vài > tất cả
một phần > toàn bộ
cả hai > không ai trong hai
(?<!lớn )(?<!nhỏ )(?<!cao )(?<!thấp )(?<!ít )(?<!nhiều )(?<!dài )(?<!sớm )hơn(?= \d) > chưa đến
trên(?= \d+[.,]?\d* (?:người|triệu|nghìn|km|%)) > dưới
(?<!không )dưới(?= \d) > trên
ít nhất > nhiều nhất
tối đa > tối thiểu
tối thiểu > tối đa
nhiều hơn > ít hơn
ít hơn > nhiều hơn
lớn hơn > nhỏ hơn
nhỏ hơn > lớn hơn
cao hơn > thấp hơn
thấp hơn > cao hơn
mạnh hơn > yếu hơn
sớm hơn > muộn hơn
lớn nhất > nhỏ nhất
nhỏ nhất > lớn nhất
cao nhất > thấp nhất
dài nhất > ngắn nhất
lâu đời nhất > trẻ nhất
sớm nhất > muộn nhất
trước khi > sau khi
sau khi > trước khi
(?<!trong )trước(?= (?:năm|thế|chiến|cuộc|ngày|tháng)) > sau
sau(?= (?:năm|thế|chiến|cuộc|ngày|tháng|Thế)) > trước
đầu tiên(?!,) > cuối cùng
cuối cùng(?! ?,) > đầu tiên
luôn(?: luôn)? > không bao giờ
thường(?: xuyên)?(?= (?!dân|trực|vụ)\w) > hiếm khi
chủ yếu > chỉ một phần nhỏ
""",
    ),
}

_FRESH_QUANTIFIERS = """
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
_FRESH_POLARITY = """
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
FRESH = {"polarity_fresh": table(_FRESH_POLARITY), "quantifier_fresh": table(_FRESH_QUANTIFIERS)}
