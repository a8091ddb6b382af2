/** The interface in Vietnamese. */

/** @type {import("./index.js").Words} */
export const vi = {
  page: {
    name: "Citewell",
    claim: "Trả lời từ tài liệu của bạn, mọi trích dẫn đều được chứng minh.",
    language: "Ngôn ngữ",
    theme: "Giao diện",
    themes: { system: "Theo hệ thống", light: "Sáng", dark: "Tối" },
    close: "Đóng",
    cancel: "Hủy",
    retry: "Thử lại",
    skip: "Chuyển đến ô câu hỏi",
  },
  composer: {
    label: "Câu hỏi của bạn",
    placeholder: "Hỏi thư viện của bạn",
    ask: "Hỏi",
    stop: "Dừng",
  },
  conversation: {
    label: "Cuộc trò chuyện",
    empty: "Đặt một câu hỏi",
    earlier: "Xem tin nhắn trước đó",
  },
  answer: {
    label: "Câu trả lời",
  },
  proof: {
    verdicts: { supported: "Có căn cứ", unverified: "Chưa xác minh", contradicted: "Mâu thuẫn", unsupported: "Không có căn cứ" },
  },
  reader: {
    label: "Tài liệu",
  },
  run: {
    label: "Câu trả lời này được tạo ra thế nào",
    steps: (count) => `${count} bước`,
  },
  library: {
    label: "Thư viện",
    open: "Thư viện",
  },
  sessions: {
    label: "Phiên",
    begin: "Phiên mới",
  },
  notices: {
    lost: "Mất kết nối. Đang kết nối lại…",
    unreachable: "Không kết nối được với máy chủ.",
  },
};
