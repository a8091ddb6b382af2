/** The words of a beginning and of ways on, in Arabic. */

/** @type {typeof import("./en.js").ways} */
export const ways = {
  suggestions: "أسئلة تجيب عنها مستنداتك",
  followUps: "تابع بسؤال",
  drop: "يمكنك أيضًا إفلات الملفات في أي موضع من هذه الصفحة.",
  fromTitle: (title) => `من ${title}`,
  guide: {
    label: "دليل هذا المستند",
    says: "كيف يبدأ",
    outline: "المحتويات",
    questions: "أسئلة يجيب عنها",
    reading: "يُقرأ المستند…",
    none: "لا شيء يُقال عن هذا المستند بعد.",
  },
  pinned: "المثبتة",
  pin: "ثبّت",
  unpin: "ألغِ التثبيت",
  skips: { label: "انتقل إلى", answer: "انتقل إلى الإجابة", sources: "انتقل إلى المصادر" },
  shortcuts: {
    open: "اختصارات لوحة المفاتيح",
    single: "استخدم المفاتيح المفردة خارج حقول النص",
    keys: {
      help: "أظهر هذه الاختصارات",
      question: "اكتب سؤالًا",
      begin: "ابدأ جلسة جديدة",
      search: "ابحث في الجلسات",
      library: "أظهر المستندات",
      answer: "انتقل إلى أحدث إجابة",
      sources: "انتقل إلى مصادرها",
      next: "الاقتباس التالي",
      previous: "الاقتباس السابق",
      stop: "أوقف الإجابة، أو أغلق ما هو مفتوح",
      rows: "تنقّل في قائمة",
    },
  },
};
