/** Collections, cards of documents and mentions, in Arabic. */

/** @type {typeof import("./en.js").collections} */
export const collections = {
  label: "المجموعات", make: "مجموعة جديدة…", put: "ضع في مجموعة", name: "اسم المجموعة", save: "احفظ", shared: "شاركها مع الجميع هنا",
  tick: (name) => `اسأل ${name} وحدها`, only: (name) => `أظهر ما في ${name} فقط`, menu: (name) => `إجراءات ${name}`,
  holds: (count) => `المستندات: ${count}`, by: (who) => `شاركها ${who}`, forAll: "مشتركة", ticked: (count) => `المجموعات: ${count}`,
  edit: "الاسم والمشاركة…", takeOut: "أخرج المستندات المحددة", delete: "احذف المجموعة", added: (name) => `وُضعت في ${name}.`,
  takenOut: (name) => `أُخرجت من ${name}.`, deleted: (name) => `حُذفت المجموعة ${name}، ومستنداتها باقية.`, back: (name) => `عادت المجموعة ${name}.`,
  card: {
    rename: "إعادة التسمية", title: "العنوان", read: "اقرأ", alone: "اسأل هذا المستند وحده",
    contents: "المحتويات", page: "الصفحة الأولى", added: "أُضيف", changed: "تغيّر", by: (when, who) => `${when}، ${who}`,
    you: "أنت", kind: "النوع", file: "الملف", pages: (count) => `الصفحات: ${count}`,
  },
  mention: {
    label: "المستندات والمجموعات", found: (count) => `عُثر على ${count}. اختر بمفاتيح الأسهم.`, none: "لا شيء بهذا الاسم.", collection: "مجموعة",
    chosen: (name) => `يُسأل ${name} وحده.`,
  },
};
