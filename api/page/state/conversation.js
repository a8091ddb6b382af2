/** The conversation on show: a session's turns, those that were stored and those of runs that go on. */

import { Problem } from "../api/problem.js";
import { askQuestion, joinRun } from "../api/following.js";
import { Branch } from "./branch.js";
import { Cell } from "./cell.js";
import { findArrived, Forks, sendingLive, turnsWith } from "./live_runs.js";
import { Outages } from "./outages.js";
import { fold, newRun } from "./run.js";
import { isLive, isSending, SENDING, withRun } from "./turns.js";

/** @typedef {import("./live_runs.js").LiveRun} LiveRun */

/** Asks, follows and stops the runs of one session at a time. */
export class Conversation {
  /** @param {Client} client @param {import("./live_runs.js").Tell} tell */
  constructor(client, tell) {
    this.client = client;
    this.tell = tell;
    this.session = new Cell(/** @type {Session | null} */ (null));
    this.turns = new Cell(/** @type {Turn[]} */ ([]));
    this.branch = new Branch(client, (turn) =>
      withRun({ ...turn, view: this.begun.get(turn.key) ?? turn.view }, this.seen.get(turn.key)),
    );
    this.earlier = this.branch.earlier;
    this.aside = this.branch.aside;
    this.outages = new Outages();
    this.forks = new Forks();
    this.failure = new Cell(/** @type {import("./live_runs.js").Failure | null} */ (null));
    this.loading = new Cell(false);
    /** @type {Map<string, LiveRun>} */
    this.liveRuns = new Map();
    /** Runs whose events were followed to the end, by id. @type {Map<string, RunView>} */
    this.seen = new Map();
    /** Keys of views that were there before their runs told their ids, by these. @type {Map<string, string>} */
    this.begun = new Map();
    /** The id of the session that is being opened or made. @type {Promise<string> | null} */
    this.making = null;
    /** The session that was to be opened, be it that it could not be. @type {string | null} */
    this.wanted = null;
    this.leaving = new AbortController();
  }

  /** Show nothing: the next question begins a session, if none is `wanted`. @param {string | null} [wanted] */
  leave(wanted = null) {
    this.wanted = wanted;
    this.leaving.abort();
    this.leaving = new AbortController();
    this.liveRuns.clear();
    this.seen.clear();
    this.begun.clear();
    this.branch.clear();
    this.making = null;
    this.loading.set(false);
    this.session.set(null);
    this.failure.set(null);
    this.show();
  }

  /** Open a session and join the runs of it that go on. @param {string} sessionId @throws {Problem} */
  async open(sessionId) {
    this.leave(sessionId);
    const { signal } = this.leaving;
    this.loading.set(true);
    const opening = (this.making = this.takeUp(sessionId).then(() => sessionId));
    try {
      await opening;
    } finally {
      if (!signal.aborted) {
        this.making = null;
        this.loading.set(false);
      }
    }
  }

  /** Take up what happened elsewhere: join the runs that go on, and read what has ended. */
  async refresh() {
    if (this.session.value) await this.takeUp(this.session.value.session_id);
  }

  /** @param {string} sessionId */
  async takeUp(sessionId) {
    const { signal } = this.leaving;
    // The runs first: one that ends before the messages are read is among these then.
    const runs = (await this.client.runs(sessionId)).filter(({ status }) => status !== "finished");
    if (!signal.aborted) await this.read(sessionId);
    if (signal.aborted) return;
    if ([...this.liveRuns.values()].some((live) => isSending(live.run))) return; // any of them may be that one
    for (const { run_id, question } of runs.reverse()) {
      if (!this.liveRuns.has(run_id) && !this.branch.has(run_id)) void this.join(run_id, question);
    }
  }

  /**
   * Read the session's branch anew.
   * @param {string} sessionId
   * @param {string} [through] A message that the branch goes through.
   */
  async read(sessionId, through = this.branch.through) {
    // What has ended by now will be among the messages, unless it failed and left nothing.
    const ended = [...this.liveRuns].filter(([, live]) => !isLive(live.run)).map(([key]) => key);
    const session = await this.branch.read(sessionId, through);
    if (!session) return;
    for (const key of [...ended, ...this.branch.turns.map((turn) => turn.key)]) this.liveRuns.delete(key);
    this.session.set(session);
    this.show();
  }

  /** Read the page of messages before those on show. */
  async readEarlier() {
    if (this.session.value) await this.branch.readEarlier(this.session.value.session_id);
    this.show();
  }

  /** Show the branch through another version of a message. @param {string} messageId */
  async showVersion(messageId) {
    if (this.session.value) await this.read(this.session.value.session_id, messageId);
  }

  /** Show the branch that a new question goes on with. */
  async showNewest() {
    this.branch.through = undefined;
    if (this.session.value) await this.read(this.session.value.session_id);
  }

  /**
   * Ask a question in the session, made for it where there is none; tell a failure in `failure`.
   * @param {NewRun} ask
   * @param {Wire.NewSession} [fields] To begin a session with.
   * @returns {Promise<void>}
   */
  async ask(ask, fields = {}) {
    this.failure.set(null);
    const { leaving: { signal }, wanted } = this;
    const create = async () => {
      const session = await this.client.json("api/sessions", { method: "POST", json: fields });
      if (!signal.aborted) this.session.set(session);
      return session.session_id;
    };
    let sessionId;
    try {
      sessionId = this.session.value?.session_id ?? (await (this.making ??= wanted ? this.takeUp(wanted).then(() => wanted) : create()));
      if (!signal.aborted && this.aside.value && !ask.edit && !ask.regenerate) await this.showNewest();
    } catch (error) {
      if (signal.aborted) return this.tell.refused(error);
      this.making = null;
      return this.fail(error, ask, () => void this.ask(ask, fields));
    }
    // Another tab may be asking, too.
    ask = { while_running: "enqueue", ...ask };
    if (signal.aborted) {
      if (sessionId === this.wanted) return await this.ask(ask); // it is being opened again
      // Whoever left meanwhile has asked nevertheless, and finds the answer in the session.
      const sent = askQuestion(this.client, sessionId, ask, { signal, onOutage() {} }).next();
      return void sent.catch((error) => this.tell.refused(error));
    }
    const live = sendingLive(ask, this.branch.turns);
    this.branch.through = undefined;
    const runs = new Set([...this.branch.turns.map((turn) => turn.key), ...this.liveRuns.keys(), ...this.seen.keys()]);
    const again = () => void this.retry(sessionId, ask, live.run.question, runs);
    await this.follow(live.run.runId, live, ask, again, sessionId);
  }

  /**
   * Ask again where the question has not arrived; where it has, join its run.
   * @param {string} sessionId
   * @param {NewRun} ask
   * @param {string} question
   * @param {ReadonlySet<string>} runs Those that were known before it was asked.
   */
  async retry(sessionId, ask, question, runs) {
    const { signal } = this.leaving;
    try {
      const arrived = await findArrived(this.client, sessionId, question, runs);
      if (signal.aborted) return;
      if (!arrived) return await this.ask(ask);
      this.failure.set(null);
      if (!this.liveRuns.has(arrived.run_id)) await this.join(arrived.run_id, question);
    } catch (error) {
      if (!signal.aborted) this.fail(error, ask, () => void this.retry(sessionId, ask, question, runs));
    }
  }

  /** @param {string} runId @param {string} question */
  async join(runId, question) {
    const live = { run: newRun(runId, question), known: {}, from: this.forks.of(runId) };
    await this.follow(runId, live, null, () => void this.join(runId, question), this.session.value?.session_id ?? "");
  }

  /**
   * @param {string} key
   * @param {LiveRun} live
   * @param {NewRun | null} ask
   * @param {(() => void) | null} again
   * @param {string} sessionId
   */
  async follow(key, live, ask, again, sessionId) {
    const { signal } = this.leaving;
    /** @type {import("../api/following.js").Options} */
    const options = { signal, onOutage: (outage, back) => this.outages.note(live, outage, back) };
    this.liveRuns.set(key, live);
    this.show();
    try {
      const events = ask ? askQuestion(this.client, sessionId, ask, options) : joinRun(this.client, key, options);
      for await (const event of events) {
        if (signal.aborted) return;
        const first = key.startsWith(SENDING);
        if (first) this.begin(key, live, event);
        key = event.run_id;
        this.take(key, live, event);
        if (first && live.unwanted) void this.stop(key);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.liveRuns.delete(key);
      this.show();
      if (error instanceof Problem && error.status === 404 && !key.startsWith(SENDING)) return this.tell.gone(sessionId);
      return this.fail(error, ask, again);
    }
    if (!signal.aborted) await this.settle(key, live, ask);
  }

  /** Know a run by its id from now on. @param {string} sending @param {LiveRun} live @param {RunEvent} event */
  begin(sending, live, event) {
    this.forks.note(event.run_id, live.from);
    this.tell.asked(event.session_id, event.run_id, live.from);
    this.begun.set(event.run_id, sending);
    this.liveRuns = new Map([...this.liveRuns].map(([key, each]) => [key === sending ? event.run_id : key, each]));
  }

  /** @param {string} key @param {LiveRun} live @param {RunEvent} event */
  take(key, live, event) {
    live.run = fold(live.run, event);
    this.liveRuns.set(key, live);
    if (event.type === "title_changed") {
      this.retitle(event.session_id, event.title);
      this.tell.titled(event.session_id, event.title);
    }
    this.show();
  }

  /** Call the session by another name, if it is this one. @param {string} sessionId @param {string} title */
  retitle(sessionId, title) {
    this.session.update((session) => (session?.session_id === sessionId ? { ...session, title } : session));
  }

  /** Put what was stored in the place of a run that has ended. @param {string} key @param {LiveRun} live @param {NewRun | null} ask */
  async settle(key, live, ask) {
    const { signal } = this.leaving;
    this.seen.set(key, live.run);
    this.forks.drop(key);
    const sessionId = this.session.value?.session_id;
    if (!sessionId) return;
    // Where it can't be read, what was streamed stays on show; the next read brings the ids.
    if (!(await this.tell.ended(sessionId))) return;
    const { failure } = live.run;
    // A new answer that failed leaves nothing behind, and the old one is on show again.
    if (signal.aborted || !failure || this.branch.has(key)) return;
    this.fail(new Problem(failure.code, failure.message, failure), ask, ask && (() => void this.ask(ask)));
  }

  /** Add to a stored turn what its run's log has told since. @param {RunView} run */
  recall(run) {
    this.seen.set(run.runId, run);
    this.branch.retell(run.runId);
    this.show();
  }

  /** Stop a run; if none is named, the one that is being answered. @param {string} [runId] */
  async stop(runId = [...this.liveRuns.keys()][0]) {
    const live = this.liveRuns.get(runId ?? "");
    if (!live) return;
    if (isSending(live.run)) return void (live.unwanted = true);
    const { signal } = this.leaving;
    const failed = (/** @type {unknown} */ error) => signal.aborted || this.fail(error, null, () => void this.stop(runId));
    await this.client.cancelRun(live.run.runId).catch(failed);
  }

  /** @param {unknown} error @param {NewRun | null} ask @param {(() => void) | null} again */
  fail(error, ask, again) {
    if (!(error instanceof Problem)) throw error;
    // A key may be entered meanwhile.
    this.failure.set({ problem: error, again: error.retryable || error.status === 401 ? again : null, ask });
  }

  show() {
    this.turns.set(turnsWith(this.branch.turns, this.liveRuns, this.begun));
  }
}
