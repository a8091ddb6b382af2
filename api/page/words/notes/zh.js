/** Notes, comparisons and cards, in Chinese. */

/** @type {typeof import("./en.js").notes} */
export const notes = {
  none: "还没有笔记。点击回答下方的“收藏”，或在文档中选取文字。",
  empty: "这里还没有收藏内容。",
  begin: "新建笔记",
  pinTo: "收入哪个笔记？",
  pinned: (title) => `已收入“${title}”。`,
  all: "所有笔记",
  title: "笔记标题",
  text: "您的话（Markdown）",
  entries: (count) => `已收藏 ${count} 条`,
  shared: "已共享",
  share: "此工作区的所有人都可以阅读",
  more: (title) => `关于“${title}”的更多操作`,
  up: "上移",
  down: "下移",
  remove: "移出",
  delete: "删除笔记",
  sure: "确定永久删除？",
  save: "另存为文件",
  read: "在文档中阅读",
};

/** @type {typeof import("./en.js").studies} */
export const studies = {
  compareTitle: "比较文档",
  by: "比较什么？",
  byModel: "比较什么？留空则由模型寻找要点。",
  compare: "比较",
  point: "问题",
  nothing: "没有提到",
  doubted: "已略去：未通过核对",
  unasked: "未询问：时间已用完",
  quoted: "各文档的原文说法，没有模型参与比较。",
  checked: "每一格都只向其文档提问，并经过核对。",
  none: "这些文档没有共同的要点。",
  working: "正在向每个文档提问…",
  cards: "抽认卡",
  show: "显示答案",
  next: "下一张",
  before: "上一张",
  at: (at, of) => `第 ${at} 张，共 ${of} 张`,
  noneFound: "模型在这里没有找到可问的内容。",
  noCards: "这些文档没有定义术语，也没有自问自答。有模型时，任何文本都能制作卡片。",
  dropped: (count) => `另有 ${count} 张已略去：答案未经证实。`,
};
