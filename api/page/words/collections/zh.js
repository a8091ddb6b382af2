/** Collections, cards of documents and mentions, in Chinese. */

/** @type {typeof import("./en.js").collections} */
export const collections = {
  label: "文集", make: "新建文集…", put: "放入文集", name: "文集名称", save: "保存", shared: "与这里的所有人共享", tick: (name) => `只询问“${name}”`,
  only: (name) => `只显示“${name}”中的文档`, menu: (name) => `对“${name}”的操作`, holds: (count) => `${count} 份文档`, by: (who) => `由 ${who} 共享`, forAll: "已共享",
  ticked: (count) => `${count} 个文集`, edit: "名称和共享…", takeOut: "移出勾选的文档", delete: "删除文集", added: (name) => `已放入“${name}”。`,
  takenOut: (name) => `已从“${name}”移出。`, deleted: (name) => `文集“${name}”已删除，其中的文档仍在。`, back: (name) => `文集“${name}”已恢复。`,
  card: {
    rename: "重命名", title: "标题", read: "阅读", alone: "只询问这份文档", contents: "目录", page: "第一页",
    added: "添加于", changed: "更改于", by: (when, who) => `${when}，${who}`, you: "您", kind: "类型", file: "文件", pages: (count) => `${count} 页`,
  },
  mention: {
    label: "文档和文集", found: (count) => `找到 ${count} 项，用方向键选择。`, none: "没有这样命名的内容。", collection: "文集", chosen: (name) => `只询问“${name}”。`,
  },
};
