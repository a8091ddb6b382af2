/** The window in other people's pages, in English. */

export const embed = {
  ask: "Ask", title: "Ask these pages", field: "Your question", send: "Send the question", stop: "Stop", close: "Close", again: "Try again", over: "Start over",
  intro: "Answers come from these pages, with the very words they are quoted from.",
  searching: "Searching…", writing: "Writing…", lost: "Connection lost. Trying again…", finished: "The answer is complete.", stopped: "Stopped.",
  answers: "Answers your question", may_answer: "May answer your question", nearest: "What comes nearest to your question",
  quoted: (/** @type {number} */ count) => (count === 1 ? "1 passage, quoted exactly" : `${count} passages, quoted exactly`),
  named: (/** @type {string} */ count, /** @type {string} */ of) => `${count} of ${of} statements name their source`,
  none: "These pages hold no answer", own: "From the model's own knowledge, not from these pages", differ: "These sources disagree", sources: "Sources",
  from: "Quoted from", best: "Most relevant: ", mark: (/** @type {string} */ number, /** @type {string} */ title) => `Source ${number}, ${title}: show the passage`,
  grades: {
    quoted: "The source's own words", supported: "A model found that the source says this", checked: "A model found that the source says this; the model has not been tested yet",
    unverified: "Nobody has checked that the source says this", contradicted: "The source says otherwise", unsupported: "The source does not bear this out",
  },
  failed: "The question could not be answered.", busy: "Many questions are being asked just now. Please try again soon.", away: "Questions can't be answered here just now.",
};
