/** The texts of notes, comparisons and cards, which come with them. */

import { language } from "../index.js";
import { notes as arNotes, studies as arStudies } from "./ar.js";
import { notes as enNotes, studies as enStudies } from "./en.js";
import { notes as viNotes, studies as viStudies } from "./vi.js";
import { notes as zhNotes, studies as zhStudies } from "./zh.js";

/** @type {Record<string, typeof enNotes>} */
const NOTES = { en: enNotes, vi: viNotes, zh: zhNotes, ar: arNotes };
/** @type {Record<string, typeof enStudies>} */
const STUDIES = { en: enStudies, vi: viStudies, zh: zhStudies, ar: arStudies };

/** Give those of notes in the reader's language. */
export const words = () => NOTES[language] ?? enNotes;

/** Give those of comparisons and cards. */
export const studies = () => STUDIES[language] ?? enStudies;
