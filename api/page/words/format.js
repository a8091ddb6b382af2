/** Numbers, times and durations as the reader's language writes them. */

import { locale } from "./index.js";

/** Making a formatter takes longer than anything that is done with it. @type {Map<string, Intl.NumberFormat>} */
const formatters = new Map();

/** @param {Intl.NumberFormatOptions} [options] */
function writing(options = {}) {
  const key = JSON.stringify([locale, options]);
  const formatter = formatters.get(key) ?? new Intl.NumberFormat(locale, options);
  formatters.set(key, formatter);
  return formatter;
}

/** Write a number. @param {number} value */
export function number(value) {
  return writing().format(value);
}

/** Write an amount of money, of which a run takes very little. @param {string} amount @param {string} currency */
export function money(amount, currency) {
  return writing({ style: "currency", currency, maximumFractionDigits: 6 }).format(Number(amount));
}

/** Write a share in [0, 1], such as a score, in per cent. @param {number} share */
export function percent(share) {
  return writing({ style: "percent" }).format(share);
}

/** Write milliseconds as a reader would say them. @param {number} ms */
export function duration(ms) {
  const seconds = ms >= 1000;
  const unit = seconds ? "second" : "millisecond";
  const maximumFractionDigits = (seconds && ms < 10_000) || ms < 1 ? 1 : 0;
  return writing({ style: "unit", unit, unitDisplay: "short", maximumFractionDigits }).format(seconds ? ms / 1000 : ms);
}

/** Write a date as far as it is known: a day, a month or a year. @param {string} date In ISO 8601. */
export function day(date) {
  const [year = 0, month, day] = date.split("-").map(Number);
  /** @type {Intl.DateTimeFormatOptions} */
  const style = day ? { dateStyle: "long" } : month ? { year: "numeric", month: "long" } : { year: "numeric" };
  const when = new Date(Date.UTC(year, (month ?? 1) - 1, day ?? 1));
  return Number.isNaN(when.getTime()) ? date : new Intl.DateTimeFormat(locale, { ...style, timeZone: "UTC" }).format(when);
}

/** Write a moment: the time if it is of today, else the day. @param {string} at In ISO 8601. */
export function moment(at) {
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return "";
  const today = when.toDateString() === new Date().toDateString();
  const style = today ? { timeStyle: "short" } : { dateStyle: "medium" };
  return new Intl.DateTimeFormat(locale, /** @type {Intl.DateTimeFormatOptions} */ (style)).format(when);
}
