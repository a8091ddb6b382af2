/** The words of a beginning and of ways on, in Vietnamese. */

/** @type {typeof import("./en.js").ways} */
export const ways = {
  suggestions: "Những câu hỏi mà tài liệu của bạn trả lời được",
  followUps: "Hỏi tiếp",
  drop: "Bạn cũng có thể thả tệp vào bất cứ đâu trên trang này.",
  fromTitle: (title) => `từ ${title}`,
  guide: {
    label: "Giới thiệu tài liệu này",
    says: "Phần mở đầu",
    outline: "Mục lục",
    questions: "Những câu hỏi mà tài liệu trả lời được",
    reading: "Đang đọc tài liệu…",
    none: "Chưa có gì để nói về tài liệu này.",
  },
  pinned: "Đã ghim",
  pin: "Ghim",
  unpin: "Bỏ ghim",
  skips: { label: "Chuyển đến", answer: "Chuyển đến câu trả lời", sources: "Chuyển đến các nguồn" },
  shortcuts: {
    open: "Phím tắt",
    single: "Dùng phím đơn khi không ở trong ô nhập",
    keys: {
      help: "Xem các phím tắt này",
      question: "Viết câu hỏi",
      begin: "Bắt đầu phiên mới",
      search: "Tìm trong các phiên",
      library: "Hiện các tài liệu",
      answer: "Đến câu trả lời mới nhất",
      sources: "Đến các nguồn của câu trả lời",
      next: "Trích dẫn tiếp theo",
      previous: "Trích dẫn trước",
      stop: "Dừng câu trả lời, hoặc đóng phần đang mở",
      rows: "Di chuyển trong danh sách",
    },
  },
};
