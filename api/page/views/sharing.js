/** Sharing a session or an answer by a link that ends: for whom, for how long, and the links that there are. */

import { fill, h } from "../dom.js";
import { language, words } from "../words/index.js";
import { copyButton } from "./copying.js";
import { openDialog } from "./dialog.js";
import { icon, iconButton } from "./icons.js";

const USUAL_SECONDS = 604_800;

/**
 * Open the dialog.
 * @param {App} app
 * @param {string} sessionId
 * @param {string | null} answerId Shared alone; without it the session is, as it is now.
 */
export function share(app, sessionId, answerId) {
  const said = words.share;
  const path = `api/sessions/${sessionId}/shares`;
  const title = answerId ? said.answer : said.session;
  const audience = h("select", { id: "share-audience" });
  const lasts = h("select", { id: "share-lasts" });
  const make = h("button", { type: "submit", class: "primary" }, said.make);
  const form = h("form", { onsubmit: made, hidden: true },
    h("p", { class: "pair" }, h("label", { for: "share-audience" }, said.audience), audience),
    h("p", { class: "pair" }, h("label", { for: "share-lasts" }, said.lasts), lasts),
    make,
  );
  const result = h("div", { class: "made", role: "status" });
  const list = h("div", { class: "links" });
  const dialog = openDialog(title, {}, h("p", { class: "muted" }, said.about), form, result, list);
  void app.attempt(read);

  async function read() {
    const { shares, audiences, longest_seconds: longest } = await app.client.json(path, { list: "shares" });
    offer(audiences, longest);
    show(shares);
  }

  /** @param {Wire.ShareList["audiences"]} audiences @param {number} longest */
  function offer(audiences, longest) {
    if (!audiences.length) return fill(result, h("p", null, said.off));
    if (!form.hidden) return;
    fill(audience, audiences.map((each) => h("option", { value: each }, said.audiences[each] ?? each)));
    const spans = Object.entries(said.spans).filter(([seconds]) => Number(seconds) <= longest);
    fill(lasts, spans.map(([seconds, text]) => h("option", { value: seconds }, text)));
    const usual = spans.findLast(([seconds]) => Number(seconds) <= USUAL_SECONDS);
    if (usual) lasts.value = usual[0];
    form.hidden = false;
    audience.focus();
  }

  /** @param {Wire.Share[]} shares */
  function show(shares) {
    const found = shares.length ? h("ul", null, shares.map(row)) : h("p", { class: "muted" }, said.none);
    fill(list, h("h3", null, said.existing), found);
  }

  /** @param {Wire.Share} each */
  function row({ share_id, message_id, audience: who, expires_at }) {
    const date = new Date(expires_at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
    const what = message_id ? said.ofAnswer : said.ofSession;
    return h("li", null,
      h("span", null, words.run.colon({ said: what, more: said.until({ audience: said.audiences[who] ?? who, date }) })),
      iconButton("trash", said.revoke, () => void revoke(share_id)),
    );
  }

  /** @param {string} id */
  async function revoke(id) {
    await app.attempt(async () => {
      await app.client.send(`${path}/${id}`, { method: "DELETE" });
      fill(result);
      await read();
      dialog.querySelector("button")?.focus();
    });
  }

  async function made() {
    make.disabled = true;
    await app.attempt(async () => {
      const json = { audience: audience.value, expires_in: Number(lasts.value), ...(answerId && { message_id: answerId }) };
      const { url } = await app.client.json(path, { method: "POST", json });
      const field = h("input", { type: "text", readonly: true, ".value": url, "aria-label": said.link, onfocus: () => field.select() });
      const { button, said: copied } = copyButton("", said.copy, () => url);
      fill(result, h("p", null, icon("check"), said.made), h("p", { class: "pair" }, field, button, copied));
      button.focus();
      await read();
    });
    make.disabled = false;
  }
}
