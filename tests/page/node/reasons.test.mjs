/** The server's reasons by what they mean. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { reasonOf } from "../../../api/page/text/reasons.js";

const CASES = {
  "it is a part of a longer source sentence": ["part"],
  "no sentence of the cited sources says this": ["unsaid"],
  "its source has changed since it was checked": ["outdated"],
  "the closest source sentence has 87% of its words": ["near", "87%"],
  "30 stands nowhere in the sources": ["nowhere", "30"],
  "the name Anna stands nowhere in the sources": ["unnamed", "Anna"],
  "the source says 25 days, the answer says 30 days": ["differs", "25 days", "30 days"],
  "the source says 1,000, the answer says 2,000": ["differs", "1,000", "2,000"],
  'the source says "does not lapse", the answer leaves that out': ["leaves", "does not lapse"],
  'the answer says "never lapses", the source does not': ["adds", "never lapses"],
  "another source says 2, this one 4": ["rival", "2", "4"],
  "the answer says sold where the source says bought": ["swaps", "sold", "bought"],
  '"It does." alone says nothing that the sources could say': ["alone", "It does."],
  'the answer says "No", and goes on to say the opposite, as the source does': ["opposite", "No"],
  'whether "Yes" answers the question is open': ["lead", "Yes"],
  'it is nearly a sentence of its source: it has "may" for "will"': ["nearly", "“will” → “may”"],
  'it is nearly a sentence of its source: it adds "so far"; it leaves out "not"': ["nearly", "+“so far”, −“not”"],
  "it is nearly a sentence of its source: something else": ["nearly", "something else"],
  "The judge's reply leaves it out.": ["skipped"],
  "a model judged that the cited sentences state it": ["same"],
};
for (const [reason, [name, ...parts]] of Object.entries(CASES)) {
  test(reason, () => assert.deepEqual(reasonOf(reason), { name, parts }));
}

for (const unknown of ["", "a new reason", "stands nowhere in the sources", "the source says 25 days"]) {
  test(`not known: ${unknown}`, () => assert.equal(reasonOf(unknown), null));
}
