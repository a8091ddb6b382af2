/** The words of a beginning and of ways on: suggestions, guides, shortcuts, skip links. In English. */

export const ways = {
  suggestions: "Questions that your documents answer",
  followUps: "Go on with",
  drop: "You can also drop files anywhere on this page.",
  fromTitle: (/** @type {string} */ title) => `from ${title}`,
  guide: {
    label: "Guide to this document",
    says: "How it begins",
    outline: "Contents",
    questions: "Questions that it answers",
    reading: "Reading the document…",
    none: "There is nothing to say of this document yet.",
  },
  pinned: "Pinned",
  pin: "Pin",
  unpin: "Unpin",
  skips: { label: "Skip to", answer: "Skip to the answer", sources: "Skip to the sources" },
  shortcuts: {
    open: "Keyboard shortcuts",
    single: "Use single keys outside of text fields",
    keys: {
      help: "Show these shortcuts",
      question: "Write a question",
      begin: "Begin a new session",
      search: "Search the sessions",
      library: "Show the documents",
      answer: "Go to the latest answer",
      sources: "Go to its sources",
      next: "Next citation",
      previous: "Previous citation",
      stop: "Stop the answer, or close what is open",
      rows: "Move in a list",
    },
  },
};
