/** What proves a claim, in Vietnamese. */

/** @type {import("../index.js").Words["proof"]} */
export const proof = {
  verdicts: { supported: "Có căn cứ", quoted: "Trích nguyên văn", checked: "Đã đối chiếu", unverified: "Chưa xác minh", contradicted: "Mâu thuẫn", unsupported: "Không có căn cứ" },
  means: {
    supported: "Nguồn nói đúng điều mà câu này nói.",
    unverified: "Chưa ai đủ khả năng xác định nguồn có nói điều này hay không. Hãy đọc trích dẫn và tự đánh giá.",
    contradicted: "Nguồn nói khác với câu này.",
    unsupported: "Các nguồn không chứng minh câu này.",
  },
  fresh: { moved: "Đã đổi vị trí", changed: "Đã thay đổi", deleted: "Đã xóa", withheld: "Không hiển thị" },
  since: {
    moved: "Trích dẫn nay nằm ở vị trí khác trong tài liệu so với lúc trả lời.",
    changed: "Tài liệu đã thay đổi: trích dẫn không còn trong đó nữa.",
    deleted: "Tài liệu không còn: đã bị xóa, hết hạn, hoặc bạn không còn quyền đọc. Trích dẫn là nội dung lúc trả lời.",
    withheld: "Bạn không còn quyền đọc tài liệu này, nên phần trích dẫn nó không được hiển thị.",
  },
  quotedFrom: "Trích từ", alsoIn: "Cũng có trong", changedIn: "Có thay đổi trong", best: "Liên quan nhất: ",
  kinds: { page: "Tài liệu đã chọn", search: "Thư viện", web: "Web" },
  origins: { matched: "Tìm được nhờ đối chiếu, câu trả lời không tự trích dẫn" },
  compared: "Được quyết định bằng cách so sánh văn bản.",
  judged: (model, right, of) => `Do ${model} xác nhận hoặc nghi ngờ; mô hình này đúng ${right} trên ${of} câu thử bằng ngôn ngữ này.`,
  unexamined: (model) => `Được đối chiếu bởi ${model}, chưa qua kiểm tra thử.`,
  marker: (number, title, verdict) => `Nguồn ${number}, ${title}: ${verdict}`,
  passages: "Các đoạn được trích",
  label: (number) => `Bằng chứng từ nguồn ${number}`,
  badge: (verdict) => `${verdict}. Vì sao?`,
  fault: (verdict, count) => (count === 1 ? `${verdict}:` : `${verdict}, ${count} chỗ:`),
  read: "Đọc trong tài liệu",
  original: "Mở bản gốc",
  checking: "Đang đối chiếu với nguồn…",
  revised: "Đã sửa sau khi kiểm chứng",
  withdrawn: (count) => `${count} phần đã bị bỏ sau khi kiểm chứng: không nội dung nào khớp với nguồn.`,
  moved: "Được nêu bên dưới, cùng với nguồn mâu thuẫn với nó.",
  removed: {
    image: "Đã bỏ một hình ảnh vì không nguồn nào có:",
    link: "Đã bỏ một liên kết vì không nguồn nào có:",
  },
};
