/** What is wrong with an answer: a reason, the claim that is meant, and words; and the way to withdraw it. */

import { h } from "../dom.js";
import { words } from "../words/index.js";
import { openDialog } from "./dialog.js";
import { textButton } from "./icons.js";

const LONGEST = 2000;
const SHOWN = 160; // characters of a claim
const WHOLE = "";

/**
 * Open the sheet.
 * @param {Answer} answer
 * @param {Feedback | null} given What was said before.
 * @param {(feedback: Wire.NewFeedback | null) => Promise<boolean>} say Nothing withdraws it.
 */
export function feedbackSheet(answer, given, say) {
  const said = words.feedback;
  const claims = answer.sections.flatMap((section, index) =>
    (section.claims ?? []).map(({ start, end, text }) => ({ place: { section_index: index, start, end }, text })),
  );
  const reasons = Object.entries(said.reasons).map(([value, text]) => h("label", { class: "choice" },
    h("input", { type: "radio", name: "reason", value, checked: given?.reason_code === value }), text));
  const before = given?.claim;
  const meant = claims.findIndex(({ place }) => place.section_index === before?.section_index && place.start === before.start);
  const claim = h("select", { id: "meant-claim" },
    h("option", { value: WHOLE }, said.whole),
    claims.map(({ text }, at) =>
      h("option", { value: String(at), selected: at === meant, dir: "auto" }, text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text),
    ),
  );
  const text = h("textarea", { id: "meant-text", rows: 3, maxlength: LONGEST, dir: "auto", ".value": given?.text ?? "" });
  const withdraw = given && textButton("quiet", () => void done(null), said.withdraw);
  const form = h("form", { onsubmit: send },
    h("fieldset", { "aria-label": said.title }, reasons),
    claims.length > 0 && h("p", null, h("label", { for: "meant-claim" }, said.claim), claim),
    h("p", null, h("label", { for: "meant-text" }, said.text), text),
    h("p", { class: "choices" }, h("button", { type: "submit", class: "primary" }, said.send), withdraw),
  );
  const dialog = openDialog(said.title, {}, form);
  const done = async (/** @type {Wire.NewFeedback | null} */ feedback) => (await say(feedback)) && dialog.close();

  function send() {
    void done({
      rating: "down",
      reason_code: /** @type {Feedback["reason_code"]} */ (new FormData(form).get("reason")),
      text: text.value.trim() || null,
      claim: claims[claim.value === WHOLE ? -1 : Number(claim.value)]?.place ?? null,
    });
  }
}
