/** Requests to the HTTP API. */

import { bodyOf, Problem, problemOf } from "./problem.js";

const WORKSPACE = "X-Citewell-Workspace";

/** Speaks to the API that this page was served by, with a key where the deployment asks for one. */
export class Client {
  /**
   * @param {URL} home Where the API's paths begin.
   * @param {() => string} key Gives the key to send, or nothing.
   * @param {() => void} [onRefused] Called where a request was refused for want of a good key.
   */
  constructor(home, key, onRefused) {
    this.home = home;
    this.key = key;
    this.onRefused = onRefused;
    /** The workspace that requests name; the server's own choice where it is empty. */
    this.workspace = "";
    /** What is asked where the server can't be. @type {Promise<import("../state/kept.js").Kept | null> | null} */
    this.kept = null;
  }

  /** Whether it speaks to what a signed link leads to, and to nothing else. */
  get isLink() {
    return /\/links\/[^/]+\/$/.test(this.home.pathname);
  }

  /** @param {string} path */
  url(path) {
    return new URL(path, this.home);
  }

  /** @returns {Record<string, string>} */
  credentials() {
    const key = this.key();
    return {
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(this.workspace && { [WORKSPACE]: encodeURIComponent(this.workspace) }),
    };
  }

  /**
   * Send a request and give its reply, once that is a success.
   * @param {string} path
   * @param {{method?: string, json?: unknown, headers?: Record<string, string>, signal?: AbortSignal, chosen?: boolean, keepalive?: boolean}}
   *   [request] `chosen`: whether it names the chosen workspace; `keepalive`: whether it outlives the page.
   * @throws {Problem}
   */
  async send(path, { method = "GET", json, headers = {}, signal, chosen = true, keepalive = method === "DELETE" } = {}) {
    const credentials = this.credentials();
    if (!chosen) delete credentials[WORKSPACE];
    let response;
    try {
      response = await fetch(this.url(path), {
        method,
        headers: { ...credentials, ...headers, ...(json !== undefined && { "Content-Type": "application/json" }) },
        body: json === undefined ? null : JSON.stringify(json),
        cache: "no-store",
        keepalive,
        signal: signal ?? null,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem("unreachable", "", { retryable: true });
    }
    if (response.status === 401) this.onRefused?.();
    if (!response.ok) throw await problemOf(response);
    if (method === "DELETE") void this.kept?.then((kept) => kept?.drop(path));
    return response;
  }

  /**
   * Send a request and read its reply as JSON.
   * @template {string} [List=""]
   * @param {string} path
   * @param {Parameters<Client["send"]>[1] & {list?: List}} [request] `list` names one that the reply must have.
   * @returns {Promise<Wire.ReplyWith<List>>}
   */
  async json(path, { list, ...request } = {}) {
    const kept = request.method ? null : await this.kept;
    try {
      const body = await bodyOf(await this.send(path, request), list);
      void kept?.keep(path, body);
      return body;
    } catch (error) {
      if (!kept) throw error;
      return kept.instead(path, error);
    }
  }

  /** List the workspaces of whoever asks, whichever is chosen; `current` is the one without a choice. */
  workspaces() {
    return this.json("api/workspaces", { list: "workspaces", chosen: false });
  }

  /** @param {{cursor?: string | null, query?: string}} [part] `query`: words that all of them have. */
  sessions(part = {}) {
    return this.json(`api/sessions?${query({ limit: 50, ...part })}`, { list: "sessions" });
  }

  /** @param {string} language @returns {Promise<Wire.Suggestions>} */
  suggestions(language) {
    return this.json(`api/suggestions?${query({ language })}`, { list: "questions" });
  }

  /** @param {string} id @returns {Promise<Wire.FollowUps>} */
  followUps(id) {
    return this.json(`api/sessions/${id}/follow-ups`, { list: "questions" });
  }

  /** @param {string} id Of a document. */
  guide(id) {
    return this.json(`api/documents/${id}/guide`, { list: "sentences" });
  }

  /** @param {string} id @param {{cursor?: string | undefined, branch?: string | undefined}} [part] */
  session(id, part = {}) {
    return this.json(`api/sessions/${id}?${query({ limit: 100, ...part })}`, { list: "messages" });
  }

  /** @param {string} id @param {Wire.SessionChange} change @returns {Promise<Session>} */
  changeSession(id, change) {
    return this.json(`api/sessions/${id}`, { method: "PATCH", json: change });
  }

  /** Delete something; what is gone already is no failure. @param {string} path @throws {Problem} */
  async delete(path) {
    try {
      await this.send(path, { method: "DELETE" });
    } catch (error) {
      if (!(error instanceof Problem && error.status === 404)) throw error;
    }
  }

  /** List the runs of a session, the newest first. @param {string} id */
  async runs(id) {
    return (await this.json(`api/sessions/${id}/runs?limit=50`, { list: "runs" })).runs;
  }

  /** Give the ids of the sessions that are answering. */
  async answeringSessions() {
    const { runs } = await this.json("api/runs?status=running&limit=100", { list: "runs" });
    return new Set(runs.map((run) => run.session_id));
  }

  /** @param {string} runId @returns {Promise<Wire.RunStatus>} */
  cancelRun(runId) {
    return this.json(`api/runs/${runId}/cancel`, { method: "POST" });
  }

  /** @param {Asked} [asked] What to list, in which order, and from where. */
  documents(asked = {}) {
    return this.json(`api/documents?${query({ limit: 50, ...asked })}`, { list: "documents" });
  }

  /** Count documents by type, folder and source. @param {Asked} asked */
  summary(asked) {
    return this.json(`api/library?${query(asked)}`, { list: "types" });
  }

  /** @param {string} id @returns {Promise<Wire.Document>} */
  document(id) {
    return this.json(`api/documents/${id}`);
  }

  /** @param {string} id @param {AbortSignal} signal */
  layout(id, signal) {
    return this.json(`api/documents/${id}/layout`, { list: "blocks", signal });
  }

  /** Find where in its original a quote stands, and the passage around it.
   * @param {string} id @param {number} segment @param {number} start @param {number} end @param {AbortSignal} [signal] */
  place(id, segment, start, end, signal) {
    return this.json(`api/documents/${id}/segments/${segment}/place?${query({ start, end })}`, { list: "boxes", signal });
  }

  /** Give those that were deleted. @param {string[]} document_ids */
  async deleteDocuments(document_ids) {
    const { deleted } = await this.json("api/deletions", { method: "POST", json: { document_ids }, list: "deleted" });
    void this.kept?.then((kept) => kept?.drop(...deleted.map((id) => `api/documents/${id}`)));
    return deleted;
  }
}

/** A list gives a parameter more than once. @typedef {Record<string, string | number | boolean | string[] | null | undefined>} Asked */

/** Write parameters, leaving out what is not given. @param {Asked} parameters */
export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  return new URLSearchParams(given.flatMap(([name, value]) => [value].flat().map((each) => [name, String(each)])));
}
