/** The interface in English. The other languages have the same keys: the type check holds them to it. */

/** @param {number} count @param {string} one @param {string} many */
const n = (count, one, many) => `${count} ${count === 1 ? one : many}`;

export const en = {
  page: {
    name: "Citewell",
    claim: "Answers over your own documents, every citation proven.",
    language: "Language",
    theme: "Appearance",
    themes: { system: "As the system", light: "Light", dark: "Dark" },
    close: "Close",
    cancel: "Cancel",
    retry: "Try again",
    skip: "Skip to the question",
  },
  composer: {
    label: "Your question",
    placeholder: "Ask your library",
    ask: "Ask",
    stop: "Stop",
  },
  conversation: {
    label: "Conversation",
    empty: "Ask a question",
    earlier: "Show earlier messages",
  },
  answer: {
    label: "Answer",
  },
  proof: {
    verdicts: { supported: "Supported", unverified: "Unverified", contradicted: "Contradicted", unsupported: "Unsupported" },
  },
  reader: {
    label: "Document",
  },
  run: {
    label: "How this answer came about",
    steps: (/** @type {number} */ count) => n(count, "step", "steps"),
  },
  library: {
    label: "Library",
    open: "Library",
  },
  sessions: {
    label: "Sessions",
    begin: "New session",
  },
  notices: {
    lost: "Connection lost. Reconnecting…",
    unreachable: "The server can't be reached.",
  },
};
