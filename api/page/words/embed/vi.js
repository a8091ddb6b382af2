/** The window in other people's pages, in Vietnamese. */

/** @type {import("../../embed/main.js").Words} */
export const embed = {
  ask: "Hỏi", title: "Hỏi các trang này", field: "Câu hỏi của bạn", send: "Gửi câu hỏi", stop: "Dừng", close: "Đóng", again: "Thử lại", over: "Bắt đầu lại",
  intro: "Câu trả lời lấy từ các trang này, kèm nguyên văn đoạn được trích.",
  searching: "Đang tìm…", writing: "Đang viết…", lost: "Mất kết nối. Đang thử lại…", finished: "Câu trả lời đã xong.", stopped: "Đã dừng.",
  answers: "Trả lời câu hỏi của bạn", may_answer: "Có thể trả lời câu hỏi của bạn", nearest: "Những gì gần nhất với câu hỏi của bạn",
  quoted: (count) => `${count} đoạn, trích nguyên văn`,
  named: (count, of) => `${count} trên ${of} nhận định có nêu nguồn`,
  none: "Các trang này không có câu trả lời", own: "Theo kiến thức riêng của mô hình, không phải từ các trang này", differ: "Các nguồn này mâu thuẫn nhau", sources: "Nguồn",
  from: "Trích từ", best: "Liên quan nhất: ", mark: (number, title) => `Nguồn ${number}, ${title}: xem đoạn trích`,
  grades: {
    quoted: "Nguyên văn của nguồn", supported: "Một mô hình thấy nguồn nói điều này", checked: "Một mô hình thấy nguồn nói điều này; mô hình chưa qua bài kiểm tra",
    unverified: "Chưa ai kiểm tra nguồn có nói điều này", contradicted: "Nguồn nói khác", unsupported: "Nguồn không chứng minh điều này",
  },
  failed: "Không trả lời được câu hỏi.", busy: "Hiện có nhiều câu hỏi. Hãy thử lại sau ít phút.", away: "Hiện không trả lời được câu hỏi ở đây.",
};
