/** What stands at the buttons that pin, compare and open notes; what they open has words of its own. */

import { language } from "../index.js";

const en = { notes: "Notes", pin: "Pin", pinAnswer: "Pin this answer to a note", pinWords: "Pin to a note", compare: "Compare", cards: "Cards" };

/** @type {Record<string, typeof en>} */
const TABLES = {
  en,
  vi: { notes: "Ghi chú", pin: "Ghim", pinAnswer: "Ghim câu trả lời này vào ghi chú", pinWords: "Ghim vào ghi chú", compare: "So sánh", cards: "Thẻ" },
  zh: { notes: "笔记", pin: "收藏", pinAnswer: "把这个回答收入笔记", pinWords: "收入笔记", compare: "比较", cards: "卡片" },
  ar: { notes: "الملاحظات", pin: "ثبّت", pinAnswer: "ثبّت هذه الإجابة في ملاحظة", pinWords: "ثبّت في ملاحظة", compare: "قارن", cards: "بطاقات" },
};

/** Give them in the reader's language. */
export const labels = () => TABLES[language] ?? en;
