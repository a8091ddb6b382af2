/** The texts of the viewer, which come with it. */

import { language } from "../index.js";
import { viewer as ar } from "./ar.js";
import { viewer as en } from "./en.js";
import { viewer as vi } from "./vi.js";
import { viewer as zh } from "./zh.js";

/** @type {Record<string, typeof en>} */
const TABLES = { en, vi, zh, ar };

/** Give them in the reader's language. */
export function words() {
  return TABLES[language] ?? en;
}
