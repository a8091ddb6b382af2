/** What the viewer of documents says, in Arabic. */

/** @type {typeof import("./en.js").viewer} */
export const viewer = {
  as: "طريقة عرض المستند",
  document: "المستند",
  text: "كنص",
  download: "نزّل الأصل",
  mark: (quote) => `محدد في الصفحة: ${quote}`,
  page: (number, of) => `صفحة ${number} من ${of}`,
  pictureRead: "هذه الصفحة صورة، وقد تُعرّف على نصها: انظر «كنص».",
  pictureUnread: "هذه الصفحة صورة: تعذرت قراءة ما فيها، فلا تقتبس منه أي إجابة.",
  unplaced: "الاقتباس في هذه الصفحة، لكن تعذر تحديد موضعه. ونصه:",
  failed: "تعذر عرض المستند كما هو. هذا نصه.",
  picture: "صورة",
  pictureFailed: (alt) => `تعذر عرض هذه الصورة${alt ? `: ${alt}` : "."}`,
  sheets: "الأوراق",
  row: "صف",
  shut: "لا يُفتح هذا الرابط",
  shutWhy: "ربما انتهت مدته أو أُلغي، أو لم يعد المستند موجودًا، أو لم يعد لمن طلبه حق قراءته.",
  larger: "أكبر",
  smaller: "أصغر",
  links: (/** @type {number} */ count) => `أسطر من الروابط: ${count}`,
};
