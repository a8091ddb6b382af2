/** Notes, in Arabic. */

/** @type {typeof import("./en.js").notes} */
export const notes = {
  none: "لا ملاحظات بعد. اضغط «ثبّت» تحت إجابة، أو حدّد كلمات في مستند.",
  empty: "لم يُثبَّت فيها شيء بعد.",
  begin: "ملاحظة جديدة",
  pinTo: "في أي ملاحظة؟",
  pinned: (title) => `ثُبِّت في «${title}».`,
  all: "كل الملاحظات",
  title: "عنوان الملاحظة",
  text: "كلامك، بصيغة Markdown",
  entries: (count) => `المثبَّت: ${count}`,
  shared: "مشارَكة",
  share: "لكل من في مساحة العمل هذه أن يقرأها",
  more: (title) => `المزيد عن «${title}»`,
  up: "حرّك إلى الأعلى",
  down: "حرّك إلى الأسفل",
  remove: "أخرجه منها",
  delete: "احذف الملاحظة",
  sure: "تحذفها نهائيًا؟",
  save: "احفظ الملاحظة",
  read: "اقرأه في المستند",
};
