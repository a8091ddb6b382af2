/** What the page's requests are answered by where no server is needed: as a test says. */

import assert from "node:assert/strict";

/** A server whose replies are said by method and path, a query being no part of it: the last one goes on. */
export class Server {
  constructor(replies) {
    this.replies = new Map(Object.entries(replies).map(([asked, each]) => [asked, [each].flat()]));
    this.asked = [];
    globalThis.fetch = (url, init) => this.reply(url, init);
  }

  async reply(url, { method, signal }) {
    const asked = `${method} ${url.pathname.slice(1)}`;
    signal?.throwIfAborted();
    this.asked.push(asked);
    const left = this.replies.get(asked) ?? [];
    const reply = left.length > 1 ? left.shift() : left[0];
    assert.ok(reply, `nobody said what ${asked} gives`);
    return reply({ url, signal });
  }
}

/** Make a reply in JSON. */
export const json = (body, status = 200) => () => Response.json(body, { status });
