/** The dialogs of sharing and of feedback, in each language; fetched when the first of them opens. */

import { language } from "../index.js";

/** @typedef {string} S */

const en = {
  share: {
    session: "Share the session",
    answer: "Share this answer",
    about: "Who opens the link sees only what they themselves may read: quotes from other documents are left out. What you ask later is not part of it.",
    audience: "For",
    audiences: { workspace: "people of this workspace", link: "anybody who has the link" },
    lasts: "Ends after",
    spans: { 3600: "an hour", 86400: "a day", 604800: "a week", 2592000: "30 days" },
    make: "Make a link",
    made: "The link is shown only now. Copy it.",
    link: "The link",
    copy: "Copy the link",
    off: "Sharing is switched off here.",
    existing: "Links of this session that still open",
    none: "There are none.",
    ofAnswer: "One answer",
    ofSession: "The session",
    until: (/** @type {S} */ audience, /** @type {S} */ date) => `for ${audience}, until ${date}`,
    revoke: "End this link",
  },
  feedback: {
    title: "What is wrong with this answer?",
    reasons: {
      wrong: "It says something wrong",
      invented: "The documents do not say this",
      incomplete: "Something is missing",
      off_topic: "It does not answer the question",
      outdated: "It is out of date",
      unanswered: "The documents do hold the answer",
      unclear: "It is hard to understand",
      other: "Something else",
    },
    claim: "Which statement do you mean?",
    whole: "The answer as a whole",
    text: "In your words (optional)",
    send: "Send",
    withdraw: "Withdraw",
  },
};

/** @type {Record<string, typeof en>} */
const TABLES = {
  en,
  vi: {
    share: {
      session: "Chia sẻ phiên",
      answer: "Chia sẻ câu trả lời này",
      about: "Người mở liên kết chỉ thấy những gì chính họ được đọc: trích dẫn từ các tài liệu khác được lược bỏ. Những gì bạn hỏi sau này không nằm trong đó.",
      audience: "Dành cho",
      audiences: { workspace: "người trong không gian làm việc này", link: "bất cứ ai có liên kết" },
      lasts: "Hết hạn sau",
      spans: { 3600: "một giờ", 86400: "một ngày", 604800: "một tuần", 2592000: "30 ngày" },
      make: "Tạo liên kết",
      made: "Liên kết chỉ hiện lúc này. Hãy sao chép.",
      link: "Liên kết",
      copy: "Sao chép liên kết",
      off: "Chia sẻ đang tắt ở đây.",
      existing: "Các liên kết của phiên này còn mở được",
      none: "Chưa có liên kết nào.",
      ofAnswer: "Một câu trả lời",
      ofSession: "Cả phiên",
      until: (audience, date) => `cho ${audience}, đến ${date}`,
      revoke: "Chấm dứt liên kết này",
    },
    feedback: {
      title: "Câu trả lời này sai ở đâu?",
      reasons: {
        wrong: "Nói điều không đúng",
        invented: "Tài liệu không nói điều này",
        incomplete: "Còn thiếu",
        off_topic: "Không trả lời câu hỏi",
        outdated: "Đã lỗi thời",
        unanswered: "Tài liệu có câu trả lời",
        unclear: "Khó hiểu",
        other: "Điều khác",
      },
      claim: "Bạn muốn nói đến câu nào?",
      whole: "Toàn bộ câu trả lời",
      text: "Bằng lời của bạn (không bắt buộc)",
      send: "Gửi",
      withdraw: "Rút lại",
    },
  },
  zh: {
    share: {
      session: "分享会话",
      answer: "分享这个回答",
      about: "打开链接的人只会看到自己有权阅读的内容：来自其他文档的引文会略去。您之后的提问不在其中。",
      audience: "面向",
      audiences: { workspace: "此工作区的成员", link: "任何拥有链接的人" },
      lasts: "有效期",
      spans: { 3600: "一小时", 86400: "一天", 604800: "一周", 2592000: "30 天" },
      make: "生成链接",
      made: "链接仅在此时显示，请复制。",
      link: "链接",
      copy: "复制链接",
      off: "此处已关闭分享。",
      existing: "此会话仍可打开的链接",
      none: "没有。",
      ofAnswer: "一个回答",
      ofSession: "整个会话",
      until: (audience, date) => `面向${audience}，至 ${date}`,
      revoke: "结束此链接",
    },
    feedback: {
      title: "这个回答哪里不好？",
      reasons: {
        wrong: "说法有误",
        invented: "文档中没有这样说",
        incomplete: "内容不全",
        off_topic: "没有回答问题",
        outdated: "已经过时",
        unanswered: "文档中其实有答案",
        unclear: "难以理解",
        other: "其他",
      },
      claim: "您指的是哪一句？",
      whole: "整个回答",
      text: "用您自己的话说（可不填）",
      send: "发送",
      withdraw: "撤回",
    },
  },
};

/** Give the words in the reader's language. */
export const along = () => TABLES[language] ?? en;
