/** The texts of notes, which come with them. */

import { language } from "../index.js";
import { notes as ar } from "./ar.js";
import { notes as en } from "./en.js";
import { notes as vi } from "./vi.js";
import { notes as zh } from "./zh.js";

/** @type {Record<string, typeof en>} */
const TABLES = { en, vi, zh, ar };

/** Give them in the reader's language. */
export const words = () => TABLES[language] ?? en;
