/** What the viewer of documents says, in Vietnamese. */

/** @type {typeof import("./en.js").viewer} */
export const viewer = {
  as: "Hiển thị tài liệu",
  document: "Tài liệu",
  text: "Dạng văn bản",
  download: "Tải bản gốc",
  mark: (quote) => `Được đánh dấu trên trang: ${quote}`,
  page: (number, of) => `Trang ${number} / ${of}`,
  pictureRead: "Trang này là hình ảnh. Chữ trong hình đã được nhận dạng: xem “Dạng văn bản”.",
  pictureUnread: "Trang này là hình ảnh: không đọc được chữ trong đó, nên không câu trả lời nào trích dẫn được.",
  unplaced: "Trích dẫn nằm ở trang này nhưng không tìm được vị trí chính xác. Nội dung:",
  failed: "Không thể hiển thị nguyên bản tài liệu. Đây là phần văn bản.",
  picture: "Hình ảnh",
  pictureFailed: (alt) => `Không thể hiển thị hình ảnh này${alt ? `: ${alt}` : "."}`,
  sheets: "Trang tính",
  row: "Hàng",
  shut: "Không mở được liên kết này",
  shutWhy: "Liên kết có thể đã hết hạn hoặc bị thu hồi, tài liệu có thể không còn, hoặc người hỏi không còn quyền đọc.",
  larger: "Phóng to",
  smaller: "Thu nhỏ",
  links: (/** @type {number} */ count) => `${count} dòng liên kết`,
};
