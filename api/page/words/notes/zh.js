/** Notes, in Chinese. */

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
  save: "保存笔记",
  read: "在文档中阅读",
};
