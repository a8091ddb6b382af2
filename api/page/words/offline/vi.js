/** What is kept for when there is no network, in Vietnamese. */

/** @type {{label: string, not: string, keep: string, asOf: (at: string) => string}} */
export const offline = {
  label: "Khi không có mạng",
  not: "Không lưu gì trên thiết bị này",
  keep: "Lưu những gì tôi đọc trên thiết bị này",
  asOf: (at) => `Bạn đang ngoại tuyến. Đây là nội dung đã đọc trên thiết bị này, tính đến ${at}.`,
};
