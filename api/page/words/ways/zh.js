/** The words of a beginning and of ways on, in Chinese. */

/** @type {typeof import("./en.js").ways} */
export const ways = {
  suggestions: "您的文档能回答的问题",
  followUps: "接着问",
  add: "添加文档",
  first: "添加一份文档，或把它拖放到这里，然后提问。",
  firstOfOthers: "这里还没有文档。请让管理者添加。",
  quotes: "我逐字引用您的文档：事实、数字、日期、规定。",
  addModel: "要总结或比较，请添加模型：在运行 Citewell 的机器上执行 `citewell model add`。",
  askForModel: "要总结或比较，需要模型：请让管理者添加。",
  fromTitle: (title) => `来自《${title}》`,
  guide: {
    label: "文档导读",
    says: "开头",
    outline: "目录",
    questions: "本文档能回答的问题",
    reading: "正在阅读文档…",
    none: "这份文档暂时没有可介绍的内容。",
  },
  pinned: "已置顶",
  pin: "置顶",
  unpin: "取消置顶",
  skips: { label: "跳到", answer: "跳到回答", sources: "跳到来源" },
  shortcuts: {
    open: "键盘快捷键",
    single: "在输入框之外使用单键",
    keys: {
      help: "显示这些快捷键",
      question: "写问题",
      begin: "开始新会话",
      search: "搜索会话",
      library: "显示文档",
      answer: "跳到最新的回答",
      sources: "跳到它的来源",
      next: "下一处引用",
      previous: "上一处引用",
      stop: "停止回答，或关闭打开的内容",
      rows: "在列表中移动",
    },
  },
};
