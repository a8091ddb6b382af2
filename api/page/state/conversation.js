/** The conversation on show: a session's turns, those that were stored and those of runs that go on. */

import { Problem } from "../api/client.js";
import { askQuestion, joinRun } from "../api/following.js";
import { Cell } from "./cell.js";
import { fold, newRun } from "./run.js";
import { isSending, joined, liveTurn, readAnew, SENDING, turnsOf, withRun } from "./turns.js";

/** @typedef {import("../api/types.js").Ask} Ask */
/** @typedef {import("../api/types.js").RunEvent} RunEvent */
/** @typedef {import("./turns.js").Turn} Turn */
/** @typedef {import("./run.js").RunView} RunView */
/** A run that goes on, with what is known of its turn; it takes the place of the stored turns from `from` on.
 * @typedef {{run: RunView, known: Partial<Turn>, from: string | null, unwanted?: boolean}} Live `unwanted`: to be stopped
 *   as soon as its id is known. */
/** @typedef {{problem: Problem, again: (() => void) | null, ask: Ask | null}} Failure `again` is null where no retry helps. */

let sent = 0;

/** Asks, follows and stops the runs of one session at a time. */
export class Conversation {
  /**
   * @param {import("../api/client.js").Client} client
   * @param {{asked: (sessionId: string) => void, ended: (sessionId: string) => void, titled: (sessionId: string, title: string) => void}} tell
   *   Called when a question was asked here, when a run ended, and when a session got its title.
   */
  constructor(client, tell) {
    this.client = client;
    this.tell = tell;
    /** @type {Cell<import("../api/types.js").Session | null>} */
    this.session = new Cell(/** @type {import("../api/types.js").Session | null} */ (null));
    /** @type {Cell<Turn[]>} */
    this.turns = new Cell(/** @type {Turn[]} */ ([]));
    /** The cursor of earlier messages. @type {Cell<string | null>} */
    this.earlier = new Cell(/** @type {string | null} */ (null));
    /** @type {Cell<import("../api/following.js").Connection>} */
    this.connection = new Cell(/** @type {import("../api/following.js").Connection} */ ("open"));
    /** @type {Cell<Failure | null>} */
    this.failure = new Cell(/** @type {Failure | null} */ (null));
    /** @type {Cell<boolean>} */
    this.loading = new Cell(false);
    /** Whether a branch is on show that a new question would not go on with. @type {Cell<boolean>} */
    this.aside = new Cell(false);
    /** @type {Turn[]} */
    this.stored = [];
    /** @type {Map<string, Live>} */
    this.lives = new Map();
    /** Runs whose events were followed to the end, by id. @type {Map<string, RunView>} */
    this.seen = new Map();
    /** Keys of views that were there before their runs told their ids, by these. @type {Map<string, string>} */
    this.begun = new Map();
    /** The last turn of the branch gone on with last. */
    this.newest = "";
    this.leaving = new AbortController();
    /** @type {string | undefined} */
    this.branch = undefined;
  }

  /** Show nothing: the next question begins a session. */
  leave() {
    this.leaving.abort();
    this.leaving = new AbortController();
    this.lives.clear();
    this.seen.clear();
    this.stored = [];
    this.branch = undefined;
    this.session.set(null);
    this.earlier.set(null);
    this.aside.set(false);
    this.failure.set(null);
    this.connection.set("open");
    this.show();
  }

  /**
   * Open a session and join the runs of it that go on.
   * @param {string} sessionId
   * @throws {Problem}
   */
  async open(sessionId) {
    this.leave();
    const { signal } = this.leaving;
    this.loading.set(true);
    try {
      await this.read(sessionId);
      if (!signal.aborted) await this.joinUnfinished();
    } finally {
      if (!signal.aborted) this.loading.set(false);
    }
  }

  /** Join the runs of the session that go on and are not followed yet. */
  async joinUnfinished() {
    const sessionId = this.session.value?.session_id;
    if (!sessionId) return;
    const { signal } = this.leaving;
    const runs = await this.client.unfinishedRuns(sessionId);
    if (signal.aborted) return;
    for (const { run_id, question } of runs.reverse()) {
      const asking = [...this.lives.keys()].some((key) => key.startsWith(SENDING));
      const known = this.lives.has(run_id) || asking || this.stored.some((turn) => turn.key === run_id);
      if (!known) void this.join(run_id, question);
    }
  }

  /**
   * Read the session's branch anew.
   * @param {string} sessionId
   * @param {string} [branch] A message that the branch goes through.
   */
  async read(sessionId, branch = this.branch) {
    const { signal } = this.leaving;
    const detail = await this.client.session(sessionId, { branch });
    if (signal.aborted) return;
    this.branch = branch;
    const { turns, known } = readAnew(turnsOf(detail.messages).map((turn) => this.remember(turn)), this.stored);
    this.stored = turns;
    for (const turn of turns) this.lives.delete(turn.key);
    const last = turns.at(-1)?.key ?? "";
    if (branch === undefined) this.newest = last;
    this.session.set(detail.session);
    if (!known) this.earlier.set(detail.next_cursor);
    this.aside.set(last !== this.newest);
    this.show();
  }

  /** Read the page of messages before those on show. */
  async readEarlier() {
    const [session, cursor, { signal }] = [this.session.value, this.earlier.value, this.leaving];
    if (!session || !cursor) return;
    const detail = await this.client.session(session.session_id, { cursor, branch: this.branch });
    if (signal.aborted) return;
    this.stored = joined(turnsOf(detail.messages).map((turn) => this.remember(turn)), this.stored);
    this.earlier.set(detail.next_cursor);
    this.show();
  }

  /**
   * Show the branch through another version of a message.
   * @param {string} messageId
   */
  async showVersion(messageId) {
    if (this.session.value) await this.read(this.session.value.session_id, messageId);
  }

  /** Show the branch that a new question goes on with. */
  async showNewest() {
    this.branch = undefined;
    if (this.session.value) await this.read(this.session.value.session_id);
  }

  /**
   * Ask a question in the session, made for it where there is none; tell a failure in `failure`.
   * @param {Ask} ask
   * @param {string[]} [pages] To begin a session with.
   */
  async ask(ask, pages = []) {
    this.failure.set(null);
    try {
      if (!this.session.value) this.session.set(await this.client.createSession(pages));
      if (this.aside.value && !ask.edit && !ask.regenerate) await this.showNewest();
    } catch (error) {
      return this.fail(error, ask, () => void this.ask(ask, pages));
    }
    const sessionId = /** @type {import("../api/types.js").Session} */ (this.session.value).session_id;
    const from = ask.edit ?? ask.regenerate ?? null;
    const replaced = this.stored.find((turn) => from && (turn.questionId === from || turn.answerId === from));
    const question = ask.question ?? replaced?.question ?? "";
    const known = { question, pageIds: ask.page_ids ?? replaced?.pageIds ?? [], selectedText: ask.selected_text ?? (ask.regenerate && replaced?.selectedText) ?? null };
    if (this.lives.size) ask = { while_running: "enqueue", ...ask };
    this.branch = undefined;
    const began = Date.now();
    const again = () => void this.retry(ask, began);
    const key = `${SENDING} ${(sent += 1)}`;
    await this.follow(key, { run: newRun(key, question), known, from: replaced ? replaced.key : null }, ask, again, sessionId);
  }

  /**
   * Ask again where the question has not arrived; where it has, join its run.
   * @param {Ask} ask
   * @param {number} began When it was asked, in milliseconds.
   */
  async retry(ask, began) {
    const session = this.session.value;
    if (!session) return this.ask(ask);
    try {
      const { runs } = await this.client.json(`api/sessions/${session.session_id}/runs?limit=5`);
      const arrived = runs.find((/** @type {import("../api/types.js").RunStatus} */ run) =>
        run.question === ask.question && Date.parse(run.created_at) >= began - 5000);
      if (!arrived) return await this.ask(ask);
      this.failure.set(null);
      if (!this.lives.has(arrived.run_id)) await this.join(arrived.run_id, arrived.question);
    } catch (error) {
      this.fail(error, ask, () => void this.retry(ask, began));
    }
  }

  /** @param {string} runId @param {string} question */
  async join(runId, question) {
    await this.follow(runId, { run: newRun(runId, question), known: {}, from: null }, null, null, "");
  }

  /**
   * @param {string} key
   * @param {Live} live
   * @param {Ask | null} ask
   * @param {(() => void) | null} again
   * @param {string} sessionId
   */
  async follow(key, live, ask, again, sessionId) {
    const { signal } = this.leaving;
    const options = { signal, onConnection: (/** @type {"open" | "lost"} */ state) => this.connection.set(state) };
    this.lives.set(key, live);
    this.show();
    try {
      const events = ask ? askQuestion(this.client, sessionId, ask, options) : joinRun(this.client, key, options);
      for await (const event of events) {
        if (signal.aborted) return;
        const first = key.startsWith(SENDING);
        if (first) this.begin(key, event);
        key = event.run_id;
        this.take(key, live, event);
        if (first && live.unwanted) void this.stop(key);
      }
    } catch (error) {
      this.lives.delete(key);
      this.show();
      return this.fail(error, ask, again);
    }
    if (!signal.aborted) await this.settle(key, live, ask);
  }

  /** Know a run by its id from now on. @param {string} sending @param {RunEvent} event */
  begin(sending, event) {
    this.tell.asked(event.session_id);
    this.begun.set(event.run_id, sending);
    this.lives = new Map([...this.lives].map(([key, live]) => [key === sending ? event.run_id : key, live]));
  }

  /** @param {string} key @param {Live} live @param {RunEvent} event */
  take(key, live, event) {
    live.run = fold(live.run, event);
    this.lives.set(key, live);
    if (event.type === "title_changed") {
      this.session.update((session) => session && { ...session, title: event.title });
      this.tell.titled(event.session_id, event.title);
    }
    this.show();
  }

  /** Put what was stored in the place of a run that has ended. @param {string} key @param {Live} live @param {Ask | null} ask */
  async settle(key, live, ask) {
    this.seen.set(key, live.run);
    const sessionId = this.session.value?.session_id;
    if (!sessionId) return;
    this.tell.ended(sessionId);
    try {
      await this.read(sessionId);
    } catch {
      return; // What was streamed stays on show; the next read brings the ids.
    }
    const { failure } = live.run;
    // A new answer that failed leaves nothing behind, and the old one is on show again.
    if (!failure || this.stored.some((turn) => turn.key === key)) return;
    this.fail(new Problem(failure.code, failure.message, failure), ask, ask && (() => void this.ask(ask)));
  }

  /** Stop a run; if none is named, the one that is being answered. @param {string} [runId] */
  async stop(runId = [...this.lives.keys()][0]) {
    const live = this.lives.get(runId ?? "");
    if (!live) return;
    if (isSending(live.run)) {
      live.unwanted = true;
      return;
    }
    try {
      await this.client.cancelRun(live.run.runId);
    } catch (error) {
      this.fail(error, null, () => void this.stop(runId));
    }
  }

  /** Keep with a stored turn what only its events told. @param {Turn} turn @returns {Turn} */
  remember(turn) {
    return withRun({ ...turn, view: this.begun.get(turn.key) ?? turn.view }, this.seen.get(turn.key));
  }

  /** @param {unknown} error @param {Ask | null} ask @param {(() => void) | null} again */
  fail(error, ask, again) {
    if (!(error instanceof Problem)) throw error;
    this.failure.set({ problem: error, again: error.retryable ? again : null, ask });
  }

  show() {
    const lives = [...this.lives.values()];
    const cut = lives.map((live) => this.stored.findIndex((turn) => turn.key === live.from)).find((at) => at >= 0);
    const standing = cut === undefined ? this.stored : this.stored.slice(0, cut);
    this.turns.set([...standing, ...lives.map(({ run, known }) => liveTurn(run, { ...known, view: this.begun.get(run.runId) ?? run.runId }))]);
  }
}
