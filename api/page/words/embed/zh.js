/** The window in other people's pages, in Chinese. */

/** @type {import("../../embed/main.js").Words} */
export const embed = {
  ask: "提问", title: "向这些页面提问", field: "您的问题", send: "发送问题", stop: "停止", close: "关闭", again: "重试", over: "重新开始",
  intro: "回答来自这些页面，并附上所引的原文。",
  searching: "正在搜索…", writing: "正在撰写…", lost: "连接已断开，正在重试…", finished: "回答完毕。", stopped: "已停止。",
  answers: "回答了您的问题", may_answer: "可能回答了您的问题", nearest: "与您的问题最接近的内容",
  quoted: (count) => `${count} 段原文`,
  named: (count, of) => `${of} 条陈述中有 ${count} 条标明来源`,
  none: "这些页面中没有答案", own: "出自模型自身的知识，而非这些页面", differ: "这些来源互相矛盾", sources: "来源",
  from: "引自", best: "最相关：", mark: (number, title) => `来源 ${number}，${title}：查看原文`,
  grades: {
    quoted: "来源的原话", supported: "有模型认为来源说了这一点", checked: "有模型认为来源说了这一点；该模型尚未通过测试",
    unverified: "还没有人核对来源是否说了这一点", contradicted: "来源的说法与此不同", unsupported: "来源不能证明这一点",
  },
  failed: "未能回答这个问题。", busy: "现在提问的人很多，请稍后再试。", away: "现在无法在这里回答问题。",
};
