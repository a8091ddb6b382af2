/** The interface in Chinese. */

/** @type {import("./index.js").Words} */
export const zh = {
  page: {
    name: "Citewell",
    claim: "基于您自己的文档作答，每条引用都有据可查。",
    language: "语言",
    theme: "外观",
    themes: { system: "跟随系统", light: "浅色", dark: "深色" },
    close: "关闭",
    cancel: "取消",
    retry: "重试",
    skip: "跳到提问框",
  },
  composer: {
    label: "您的问题",
    placeholder: "向您的资料库提问",
    ask: "提问",
    stop: "停止",
  },
  conversation: {
    label: "对话",
    empty: "提一个问题",
    earlier: "显示更早的消息",
  },
  answer: {
    label: "回答",
  },
  proof: {
    verdicts: { supported: "有依据", unverified: "未证实", contradicted: "矛盾", unsupported: "无依据" },
  },
  reader: {
    label: "文档",
  },
  run: {
    label: "这个回答是怎么得来的",
    steps: (count) => `${count} 步`,
  },
  library: {
    label: "资料库",
    open: "资料库",
  },
  sessions: {
    label: "会话",
    begin: "新会话",
  },
  notices: {
    lost: "连接已断开，正在重新连接…",
    unreachable: "无法连接到服务器。",
  },
};
