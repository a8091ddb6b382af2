/** What stands at buttons that take an answer along or say what it is worth; their dialogs have words of their own. */

import { language } from "../index.js";

const en = {
  good: "Good answer",
  poor: "Poor answer",
  said: { up: "You called this a good answer.", down: "You called this a poor answer.", withdrawn: "You have taken it back." },
  answer: "Save or share this answer",
  session: "Save or share the session",
  md: "Save as Markdown",
  docx: "Save as a Word file",
  html: "Save as a report with all proof",
  share: "Share by a link…",
  print: "Print",
};

/** @type {Record<string, typeof en>} */
const TABLES = {
  en,
  vi: {
    good: "Câu trả lời tốt",
    poor: "Câu trả lời chưa tốt",
    said: { up: "Bạn đã cho đây là câu trả lời tốt.", down: "Bạn đã cho đây là câu trả lời chưa tốt.", withdrawn: "Đã rút lại phản hồi của bạn." },
    answer: "Lưu hoặc chia sẻ câu trả lời này",
    session: "Lưu hoặc chia sẻ phiên",
    md: "Lưu dưới dạng Markdown",
    docx: "Lưu dưới dạng tệp Word",
    html: "Lưu dưới dạng báo cáo đủ chứng cứ",
    share: "Chia sẻ bằng liên kết…",
    print: "In",
  },
  zh: {
    good: "回答得好",
    poor: "回答得不好",
    said: { up: "您认为这个回答好。", down: "您认为这个回答不好。", withdrawn: "您的反馈已撤回。" },
    answer: "保存或分享这个回答",
    session: "保存或分享会话",
    md: "保存为 Markdown",
    docx: "保存为 Word 文件",
    html: "保存为附全部依据的报告",
    share: "通过链接分享…",
    print: "打印",
  },
  ar: {
    good: "إجابة جيدة",
    poor: "إجابة ضعيفة",
    said: { up: "قلتَ إن هذه إجابة جيدة.", down: "قلتَ إن هذه إجابة ضعيفة.", withdrawn: "سُحب تقييمك." },
    answer: "احفظ هذه الإجابة أو شاركها",
    session: "احفظ الجلسة أو شاركها",
    md: "احفظ بصيغة Markdown",
    docx: "احفظ كملف Word",
    html: "احفظ كتقرير بكل الأدلة",
    share: "شارك برابط…",
    print: "اطبع",
  },
};

/** Give the labels in the reader's language. */
export const labels = () => TABLES[language] ?? en;
