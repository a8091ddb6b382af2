/** The words of a beginning and of ways on, in Vietnamese. */

/** @type {typeof import("./en.js").ways} */
export const ways = {
  suggestions: "Những câu hỏi mà tài liệu của bạn trả lời được",
  followUps: "Hỏi tiếp",
  add: "Thêm tài liệu",
  first: "Hãy thêm một tài liệu, hoặc thả nó vào đây, rồi hỏi xem nó nói gì.",
  firstOfOthers: "Chưa có tài liệu nào. Hãy nhờ người quản trị nơi này thêm vào.",
  quotes: "Tôi trích nguyên văn điều tài liệu của bạn nói: một sự việc, một con số, một ngày, một quy định.",
  addModel: "Để tóm tắt hay so sánh, hãy thêm một mô hình: chạy `citewell model add` trên máy chạy Citewell.",
  askForModel: "Để tóm tắt hay so sánh thì cần một mô hình: người quản trị nơi này có thể thêm.",
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
