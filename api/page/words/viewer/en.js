/** What the viewer of documents says, in English. */

export const viewer = {
  as: "Show the document",
  document: "Document",
  text: "As text",
  download: "Download original",
  mark: (/** @type {string} */ quote) => `Marked on the page: ${quote}`,
  page: (/** @type {string} */ number, /** @type {string} */ of) => `Page ${number} of ${of}`,
  pictureRead: "This page is a picture. Its text was recognised in it: see “As text”.",
  pictureUnread: "This page is a picture: what it says could not be read, so no answer can quote it.",
  unplaced: "The quote is on this page, but where could not be found. It says:",
  failed: "The document can't be shown as it is. This is its text.",
  picture: "Picture",
  pictureFailed: (/** @type {string} */ alt) => `This picture can't be shown${alt ? `: ${alt}` : "."}`,
  sheets: "Sheets",
  row: "Row",
  shut: "This link does not open",
  shutWhy: "It may have expired or been revoked, the document may be gone, or whoever asked may no longer read it.",
  larger: "Larger",
  smaller: "Smaller",
  links: (/** @type {number} */ count) => `${count} lines of links`,
};
