/** What the viewer of documents says, in Chinese. */

/** @type {typeof import("./en.js").viewer} */
export const viewer = {
  as: "文档显示方式",
  document: "文档",
  text: "纯文本",
  download: "下载原文件",
  mark: (quote) => `页面上标出的引文：${quote}`,
  page: (number, of) => `第 ${number} 页，共 ${of} 页`,
  pictureRead: "本页是图片，其中的文字由识别得出：请看“纯文本”。",
  pictureUnread: "本页是图片：其中的内容无法读取，因此任何回答都不能引用它。",
  unplaced: "引文在本页，但无法确定具体位置。内容如下：",
  failed: "无法按原样显示此文档。以下是它的文本。",
  picture: "图片",
  pictureFailed: (alt) => `无法显示此图片${alt ? `：${alt}` : "。"}`,
  sheets: "工作表",
  row: "行",
  shut: "此链接无法打开",
  shutWhy: "它可能已过期或被撤销，文档可能已不存在，或提问者已无权阅读。",
  larger: "放大",
  smaller: "缩小",
  links: (/** @type {number} */ count) => `${count} 行链接`,
};
