/** Collections, cards of documents and mentions, in Vietnamese. */

/** @type {typeof import("./en.js").collections} */
export const collections = {
  label: "Bộ sưu tập", make: "Bộ sưu tập mới…", put: "Cho vào bộ sưu tập", name: "Tên bộ sưu tập", save: "Lưu", shared: "Chia sẻ với mọi người ở đây",
  tick: (name) => `Chỉ hỏi ${name}`, only: (name) => `Chỉ hiện những gì có trong ${name}`, menu: (name) => `Việc có thể làm với ${name}`,
  holds: (count) => `${count} tài liệu`, by: (who) => `${who} chia sẻ`, forAll: "đã chia sẻ", ticked: (count) => `${count} bộ sưu tập`,
  edit: "Đặt tên và chia sẻ…", takeOut: "Lấy tài liệu đã đánh dấu ra", delete: "Xóa bộ sưu tập", added: (name) => `Đã cho vào ${name}.`,
  takenOut: (name) => `Đã lấy ra khỏi ${name}.`, deleted: (name) => `Đã xóa bộ sưu tập ${name}. Tài liệu của nó vẫn còn.`,
  back: (name) => `Bộ sưu tập ${name} đã trở lại.`,
  card: {
    rename: "Đổi tên", title: "Tiêu đề", read: "Đọc", alone: "Chỉ hỏi tài liệu này", contents: "Mục lục", page: "Trang đầu",
    added: "Thêm vào", changed: "Thay đổi", by: (when, who) => `${when}, bởi ${who}`,
    you: "bạn", kind: "Loại", file: "Tệp", pages: (count) => `${count} trang`,
  },
  mention: {
    label: "Tài liệu và bộ sưu tập", found: (count) => `Tìm thấy ${count}. Dùng phím mũi tên để chọn.`,
    none: "Không có gì tên như vậy.", collection: "Bộ sưu tập", chosen: (name) => `Chỉ hỏi ${name}.`,
  },
};
