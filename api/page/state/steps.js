/**
 * The browser's history as one stack of what is looked at: a session, a document at a quote, a drawer over them.
 *
 * Each step has an address. What an address can't say, such as the other quotes of an answer, stands in the step's state.
 */

import { addressOfReading, linkedBy } from "../text/deep_links.js";
import { ROOMY, addressOf, addressed } from "./app.js";

/**
 * What is kept of a step.
 * @typedef {object} Step
 * @property {Reading} [reading]
 * @property {number} [back] How many steps lead back to before the document.
 * @property {"sessions" | "documents"} [over] Which drawer is open.
 * @property {string} [note] Which note lies over the page; "" for the list of them.
 * @property {number} [dialog] Which kept dialog lies over the page.
 * @property {number} [from] Which kept dialog the document was opened from.
 */

/** Whether a step back is under way, and which drawer is to be open once it is taken. */
let isLeaving = false;
/** @type {Step["over"]} */
let waiting;

/** Follow the steps of the browser. @param {App} app */
export function followSteps(app) {
  if (step().over) history.replaceState({ ...step(), over: undefined }, ""); // the page was loaded again, without it
  app.reading.watch((reading) => {
    if (reading || !app.begun.value) return;
    const { back } = step();
    isLeaving = Boolean(back);
    if (back) history.go(-back);
    // An address that was opened names its document until that is closed.
    else if (linkedBy(location.hash)) history.replaceState(null, "", addressOf(addressed()));
  });
  app.conversation.session.watch((session) => {
    // Where another session is addressed already, that one is about to be opened.
    if (!session || addressed()) return;
    const reading = app.reading.value;
    history.pushState(reading && { reading }, "", addressOf(session.session_id) + (reading ? addressHere(reading) : ""));
  });
  const drawers = [drawer(app.sessionsOpen, "sessions"), drawer(app.libraryOpen, "documents")];
  addEventListener("popstate", () => {
    if (waiting) history.pushState({ ...step(), over: waiting }, "");
    [isLeaving, waiting] = [false, undefined];
    app.reading.set(readingHere());
    for (const show of drawers) show();
  });
}

/** Go on to a reading; one of the same place is no step. @param {Reading} reading @param {boolean} isOpen Whether one is on show. */
export function stepTo(reading, isOpen) {
  const session = addressed();
  const address = (session ? addressOf(session) : "#") + addressHere(reading);
  const { back, note, dialog, from } = step();
  const isOver = note !== undefined || dialog !== undefined; // that is a step of its own, which Back leads to
  if (isOpen && !isOver && address === location.hash) history.replaceState({ reading, back, from }, "");
  else history.pushState({ reading, back: isOpen ? back && back + 1 : 1, from: dialog ?? from }, "", address);
}

/** Give what is read at the step that the page is at, as it was left. @returns {Reading | null} */
export function readingHere() {
  const { reading } = step();
  if (reading) return { ...reading, isReturned: true };
  const linked = linkedBy(location.hash);
  return linked && { documentId: linked.documentId, title: "", citations: [], at: 0, linked };
}

/** Give the address of a reading behind that of its session. @param {Reading} reading */
function addressHere(reading) {
  const address = reading.linked ? location.hash : addressOfReading(reading);
  return address.slice(address.indexOf("/documents/"));
}

/**
 * Let a drawer that lies over the page be a step. Gives what opens and closes it as the step says.
 * @param {Cell<boolean>} opened
 * @param {"sessions" | "documents"} over
 */
function drawer(opened, over) {
  opened.watch((isOpen) => {
    const isHere = step().over === over;
    if (isOpen && isLeaving && !ROOMY.matches) waiting = over;
    else if (isOpen && !isHere && !ROOMY.matches) history.pushState({ ...step(), over }, "");
    else if (!isOpen && isHere) history.back();
  });
  return () => ROOMY.matches || opened.set(step().over === over);
}

/** @returns {Step} */
function step() {
  return history.state ?? {};
}
