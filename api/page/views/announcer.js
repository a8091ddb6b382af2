/** Speaks to those who can't see the page: one voice for all runs, so that none talks over another. */

import { h } from "../dom.js";

/** @type {HTMLElement | null} */
let voice = null;

/** Make ready to speak; a voice that begins with its first word is often not heard. */
export function tuneIn() {
  if (voice?.isConnected) return;
  voice = h("p", { class: "seen-by-readers-only announcer", role: "status" });
  document.body.append(voice);
}

/** Say something, once; politely, after whatever is being said. @param {string} text */
export function announce(text) {
  tuneIn();
  if (voice && voice.textContent !== text) voice.textContent = text;
}
