/** What proves a claim, in Arabic. */

import { n } from "../arabic_numbers.js";

/** @type {import("../index.js").Words["proof"]} */
export const proof = {
  verdicts: { supported: "ثابت", quoted: "مقتبس", checked: "فُحص", unverified: "غير متحقق منه", contradicted: "مناقَض", unsupported: "بلا سند" },
  means: {
    supported: "يقول المصدر ما تقوله هذه الجملة.",
    unverified: "لم يقل أحد ممن يستطيع الحكم إن كان المصدر يقول هذا. اقرأ الاقتباس واحكم بنفسك.",
    contradicted: "يقول المصدر غير ما تقوله هذه الجملة.",
    unsupported: "لا تثبت مصادرها هذه الجملة.",
  },
  fresh: { moved: "انتقل", changed: "تغيّر", deleted: "حُذف", withheld: "محجوب" },
  since: {
    moved: "الاقتباس الآن في موضع آخر من المستند غير موضعه عند الإجابة.",
    changed: "تغيّر المستند منذ ذلك: لم يعد الاقتباس فيه.",
    deleted: "المستند لم يعد موجودًا: حُذف أو انتهت مدته أو لم يعد لك حق قراءته. الاقتباس هو ما كان فيه.",
    withheld: "لم يعد لك حق قراءة هذا المستند، لذلك حُجب ما يستشهد به.",
  },
  quotedFrom: "مقتبس من", alsoIn: "وأيضًا في", changedIn: "ومع تغييرات في", best: "الأوثق صلة: ",
  kinds: { page: "مستند مختار", search: "المكتبة", web: "الويب" },
  origins: { matched: "وُجد بالمطابقة، ولم تستشهد به الإجابة نفسها" },
  compared: "حُكم بمقارنة النصين.",
  judged: (model, right, of) => `أكّده أو شكّ فيه ${model}، وقد أصاب في ${right} من ${of} عبارات اختبار بهذه اللغة.`,
  unexamined: (model) => `فحصه ${model}، ولم يُختبر بعد.`,
  marker: (number, title, verdict) => `المصدر ${number}، ${title}: ${verdict}`,
  passages: "المقاطع المستشهد بها",
  label: (number) => `الإثبات من المصدر ${number}`,
  badge: (verdict) => `${verdict}. لماذا؟`,
  fault: (verdict, count) => (count === 1 ? `${verdict}:` : `${verdict}، ${count} مرات:`),
  read: "اقرأ في المستند",
  original: "افتح الأصل",
  checking: "يجري التحقق من هذا في المصادر…",
  revised: "عُدّل بعد التحقق",
  withdrawn: (count) => `بعد التحقق حُذف من الإجابة ${n(count, "جزء واحد", "جزءان", "أجزاء", "جزءًا")}: لم يثبت منها شيء في المصادر.`,
  moved: "مذكور أدناه، مع المصدر الذي يناقضه.",
  removed: {
    image: "حُذفت صورة لأنها ليست في أي مصدر:",
    link: "حُذف رابط لأنه ليس في أي مصدر:",
  },
};
