/** Notes, in English. */

export const notes = {
  none: "No notes yet. Press Pin below an answer, or mark words in a document.",
  empty: "Nothing is pinned in it yet.",
  begin: "New note",
  pinTo: "Pin to which note?",
  pinned: (/** @type {string} */ title) => `Pinned to “${title}”.`,
  all: "All notes",
  title: "Title of the note",
  text: "Your words, in Markdown",
  entries: (/** @type {number} */ count) => (count === 1 ? "1 thing pinned" : `${count} things pinned`),
  shared: "Shared",
  share: "Everybody in this workspace may read it",
  more: (/** @type {string} */ title) => `More about “${title}”`,
  up: "Move up",
  down: "Move down",
  remove: "Take out",
  delete: "Delete note",
  sure: "Delete it for good?",
  save: "Save the note",
  read: "Read it in the document",
};
