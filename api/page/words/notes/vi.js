/** Notes, in Vietnamese. */

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
  save: "Lưu ghi chú",
  read: "Đọc trong tài liệu",
};
