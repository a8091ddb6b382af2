/** The texts of collections, cards and mentions, which come with the first of them. */

import { language } from "../index.js";
import { collections as ar } from "./ar.js";
import { collections as en } from "./en.js";
import { collections as vi } from "./vi.js";
import { collections as zh } from "./zh.js";

/** @type {Record<string, typeof en>} */
const TABLES = { en, vi, zh, ar };

/** Give them in the reader's language. */
export const words = () => TABLES[language] ?? en;
