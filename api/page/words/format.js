/** Numbers, times and durations as the reader's language writes them. */

import { language } from "./index.js";

/** @param {number} value */
export function number(value) {
  return new Intl.NumberFormat(language).format(value);
}

/** Write a share in [0, 1], such as a score, in per cent. @param {number} share */
export function percent(share) {
  return new Intl.NumberFormat(language, { style: "percent" }).format(share);
}

/** Write milliseconds as a reader would say them. @param {number} ms */
export function duration(ms) {
  const seconds = ms >= 1000;
  const digits = seconds && ms < 10_000 ? 1 : 0;
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit: seconds ? "second" : "millisecond",
    unitDisplay: "short",
    maximumFractionDigits: !seconds && ms < 1 ? 1 : digits,
  }).format(seconds ? ms / 1000 : ms);
}

/** Write a moment: the time if it is of today, else the day. @param {string} at In ISO 8601. */
export function moment(at) {
  const when = new Date(at);
  const today = when.toDateString() === new Date().toDateString();
  const style = today ? { timeStyle: "short" } : { dateStyle: "medium" };
  return new Intl.DateTimeFormat(language, /** @type {Intl.DateTimeFormatOptions} */ (style)).format(when);
}
