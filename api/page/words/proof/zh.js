/** What proves a claim, in Chinese. */

/** @type {import("../index.js").Words["proof"]} */
export const proof = {
  verdicts: { supported: "有依据", quoted: "引用原文", checked: "已核对", unverified: "未证实", contradicted: "矛盾", unsupported: "无依据" },
  means: {
    supported: "来源说的正是这句话的意思。",
    unverified: "还没有能够判断的一方说明来源是否说了这一点。请阅读引文，自行判断。",
    contradicted: "来源的说法与这句话不同。",
    unsupported: "来源不能证明这句话。",
  },
  fresh: { moved: "已移动", changed: "已改动", deleted: "已删除", withheld: "已隐去" },
  since: {
    moved: "与回答时相比，引文现在位于文档的其他位置。",
    changed: "文档此后已改动：其中已找不到这段引文。",
    deleted: "文档已不在：已被删除、已过期，或您无权再读取。引文是回答时的内容。",
    withheld: "您已无权读取此文档，因此引用它的内容不再显示。",
  },
  quotedFrom: "引自", alsoIn: "亦见于", changedIn: "有改动，见于", best: "最相关：",
  kinds: { page: "所选文档", search: "资料库", web: "网络" },
  origins: { matched: "通过匹配找到，回答本身并未引用" },
  compared: "由文本比对判定。",
  judged: (model, right, of) => `由 ${model} 确认或存疑；在该语言的 ${of} 条测试陈述中，它判对了 ${right} 条。`,
  unexamined: (model) => `由 ${model} 核对，尚未经过测试。`,
  marker: (number, title, verdict) => `来源 ${number}，${title}：${verdict}`,
  passages: "引用的段落",
  label: (number) => `来源 ${number} 的依据`,
  badge: (verdict) => `${verdict}。为什么？`,
  fault: (verdict, count) => (count === 1 ? `${verdict}：` : `${verdict}（${count} 处）：`),
  read: "在文档中阅读",
  original: "打开原件",
  checking: "正在与来源核对…",
  revised: "核查后已修正",
  withdrawn: (count) => `核查后删去了 ${count} 处：其中没有一处与来源相符。`,
  moved: "见下文，与和它相矛盾的来源一并说明。",
  removed: {
    image: "已去掉一张图片，因为没有来源包含它：",
    link: "已去掉一个链接，因为没有来源包含它：",
  },
};
