/** The texts of notes, comparisons and cards, which come with them. */

import { language } from "../index.js";
import * as ar from "./ar.js";
import * as en from "./en.js";
import * as vi from "./vi.js";
import * as zh from "./zh.js";

/** @type {Record<string, typeof en>} */
const TABLES = { en, vi, zh, ar };

/** Give those of notes in the reader's language. */
export const words = () => (TABLES[language] ?? en).notes;

/** Give those of comparisons and cards. */
export const studies = () => (TABLES[language] ?? en).studies;
