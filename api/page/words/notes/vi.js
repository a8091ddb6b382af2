/** Notes, comparisons and cards, in Vietnamese. */

/** @type {typeof import("./en.js").notes} */
export const notes = {
  none: "Chưa có ghi chú nào. Nhấn Ghim dưới một câu trả lời, hoặc đánh dấu chữ trong một tài liệu.",
  empty: "Chưa ghim gì vào đây.",
  begin: "Ghi chú mới",
  pinTo: "Ghim vào ghi chú nào?",
  pinned: (title) => `Đã ghim vào “${title}”.`,
  all: "Mọi ghi chú",
  title: "Tên ghi chú",
  text: "Lời của bạn, bằng Markdown",
  entries: (count) => `Đã ghim ${count} mục`,
  shared: "Được chia sẻ",
  share: "Mọi người trong không gian làm việc này được đọc",
  more: (title) => `Thêm về “${title}”`,
  up: "Đưa lên",
  down: "Đưa xuống",
  remove: "Bỏ ra",
  delete: "Xóa ghi chú",
  sure: "Xóa hẳn chứ?",
  save: "Lưu thành tệp",
  read: "Đọc trong tài liệu",
};

/** @type {typeof import("./en.js").studies} */
export const studies = {
  compareTitle: "So sánh tài liệu",
  by: "So sánh theo điều gì?",
  byModel: "So sánh theo điều gì? Để trống thì mô hình sẽ tìm các điểm.",
  compare: "So sánh",
  point: "Câu hỏi",
  nothing: "Không nói gì về điều này",
  doubted: "Đã lược bỏ: kiểm tra không xác nhận",
  unasked: "Chưa hỏi: hết thời gian",
  quoted: "Mỗi tài liệu nói gì, bằng lời của chính nó. Không có mô hình nào so sánh.",
  checked: "Mỗi ô được hỏi riêng từ tài liệu của nó và đã được kiểm tra.",
  none: "Các tài liệu không có điểm chung.",
  working: "Đang hỏi từng tài liệu…",
  cards: "Thẻ ghi nhớ",
  show: "Xem câu trả lời",
  next: "Thẻ sau",
  before: "Thẻ trước",
  at: (at, of) => `Thẻ ${at} trên ${of}`,
  noneFound: "Mô hình không tìm thấy gì để hỏi ở đây.",
  noCards: "Các tài liệu này không định nghĩa thuật ngữ và không tự đặt câu hỏi. Có mô hình thì thẻ được tạo từ mọi văn bản.",
  dropped: (count) => `Đã lược bỏ ${count} thẻ: câu trả lời không được xác nhận.`,
};
