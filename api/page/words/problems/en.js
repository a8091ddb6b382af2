/**
 * What went wrong, by the server's codes, in English: a sentence, and what can be done.
 *
 * Where the server's own English says more, such as what is wrong with a file, it is shown and stands not here.
 */

/** @type {Record<string, [said: string, todo: string]>} */
export const problems = {
  web_not_configured: ["No web search is set up here.", "Ask whoever runs this service to set one up."],
  mcp_not_configured: ["No other search is set up here.", "Ask whoever runs this service to set one up."],
  web_unavailable: ["The web search did not answer.", "Try again in a moment."],
  mcp_unavailable: ["A connected server did not answer.", "Try again in a moment."],
  model_unavailable: ["The model did not answer.", "Try again in a moment, or choose another model."],
  model_refused: ["The model’s server refused the request.", "Choose another model, or tell whoever runs this service."],
  model_reply_invalid: ["The model’s reply could not be read.", "Try again, or choose another model."],
  embedding_unavailable: ["The model that compares meanings did not answer.", "Try again in a moment."],
  index_unavailable: ["The search index did not answer.", "Try again in a moment."],
  reranker_unavailable: ["The model that ranks what was found did not answer.", "Try again in a moment."],
  reranker_refused: ["The model that ranks what was found refused the request.", "Tell whoever runs this service."],
  judge_failed: ["The model that judges failed.", ""],
  no_own_knowledge: ["There is no model that could answer from its own knowledge.", ""],
  database_unavailable: ["The library can’t be reached just now.", "Try again in a moment."],
  database_busy: ["The library is asked for too much just now.", "Try again in a moment."],
  workspace_moving: ["This workspace is being moved just now.", "Try again in a moment."],
  workspace_moved: ["This workspace is served elsewhere now.", "Load the page again. If that does not help, ask whoever runs this service for the new address."],
  internal: ["Something unexpected went wrong.", "Try again. If it happens again, tell whoever runs this service."],
};
