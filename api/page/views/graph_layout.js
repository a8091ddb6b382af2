/** Where the graph's nodes and edges are drawn: laid out by hand, in a box that a phone has room for. */

import { END, START } from "../state/way.js";

export const WIDTH = 344;
export const HEIGHT = 344;
export const NODE_HEIGHT = 26;

/** Each node's middle, and its width. @type {Record<import("../state/way.js").NodeName, [number, number, number]>} */
export const PLACES = {
  decide_retrieval: [180, 36, 104],
  answer_directly: [62, 36, 98],
  load_selected_pages: [68, 98, 92],
  search_segments: [180, 98, 108],
  search_web: [291, 98, 94],
  grade_segments: [180, 156, 104],
  rewrite_query: [291, 186, 94],
  generate_answer: [180, 208, 104],
  check_claims: [180, 256, 104],
  abstain: [76, 256, 80],
  assess_quality: [180, 304, 104],
};

/** Where a run begins and ends. @type {Record<string, [number, number]>} */
export const DOTS = { [START]: [180, 9], [END]: [180, 336] };

/** Each edge as a cubic curve: from, two points that draw it, to. @type {Record<string, number[]>} */
export const CURVES = {
  [`${START} decide_retrieval`]: [180, 13, 180, 16, 180, 18, 180, 23],
  "decide_retrieval answer_directly": [128, 36, 122, 36, 117, 36, 111, 36],
  "decide_retrieval load_selected_pages": [152, 49, 152, 70, 68, 62, 68, 85],
  "decide_retrieval search_segments": [180, 49, 180, 60, 180, 70, 180, 85],
  "decide_retrieval search_web": [208, 49, 208, 70, 291, 62, 291, 85],
  "load_selected_pages grade_segments": [80, 111, 80, 136, 144, 122, 148, 143],
  "search_segments grade_segments": [174, 111, 174, 122, 174, 132, 174, 143],
  "search_web grade_segments": [278, 111, 278, 136, 216, 122, 212, 143],
  "grade_segments load_selected_pages": [128, 154, 92, 154, 58, 138, 58, 111],
  "grade_segments search_segments": [188, 143, 188, 132, 188, 122, 188, 111],
  "grade_segments search_web": [232, 152, 264, 150, 294, 138, 294, 111],
  "grade_segments generate_answer": [180, 169, 180, 178, 180, 186, 180, 195],
  "grade_segments rewrite_query": [232, 160, 258, 160, 276, 162, 280, 173],
  "grade_segments abstain": [128, 162, 72, 170, 56, 194, 56, 243],
  "rewrite_query search_segments": [260, 173, 250, 146, 226, 134, 220, 111],
  "rewrite_query search_web": [318, 173, 318, 150, 318, 134, 318, 111],
  "rewrite_query generate_answer": [244, 192, 238, 194, 238, 200, 232, 204],
  "rewrite_query abstain": [312, 199, 312, 304, 150, 286, 104, 269],
  "generate_answer check_claims": [180, 221, 180, 228, 180, 234, 180, 243],
  "generate_answer abstain": [128, 210, 94, 212, 78, 220, 76, 243],
  "check_claims rewrite_query": [232, 256, 264, 256, 288, 236, 288, 199],
  "check_claims assess_quality": [180, 269, 180, 276, 180, 282, 180, 291],
  "check_claims abstain": [128, 256, 124, 256, 121, 256, 116, 256],
  "answer_directly abstain": [26, 49, 4, 104, 4, 196, 42, 243],
  [`answer_directly ${END}`]: [17, 49, -12, 156, -12, 338, 174, 339],
  [`assess_quality ${END}`]: [180, 317, 180, 322, 180, 326, 180, 330],
  [`abstain ${END}`]: [92, 269, 98, 306, 126, 334, 174, 335],
};
