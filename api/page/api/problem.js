/** Replies of the API that are no success, as errors; and the bodies of those that are. */

export const PASSING = new Set([408, 425, 429]); // refusals of now, not for good

/** A reply that is no success (RFC 9457), or no reply at all; then its `code` is "unreachable". */
export class Problem extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{suggestion?: string, retryable?: boolean, status?: number, after?: number}} [more] `after` in seconds.
   */
  constructor(code, message, { suggestion = "", retryable = false, status = 0, after = 0 } = {}) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.suggestion = suggestion;
    this.retryable = retryable;
    this.status = status;
    this.after = after;
  }
}

/**
 * Wait for a reply that one can do without.
 * @template T
 * @param {Promise<T>} reply
 * @returns {Promise<T | null>} Null where it is a problem.
 */
export async function orNull(reply) {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/**
 * Read the body of a success, as what stands between may have sent another one.
 * @param {Response} response
 * @param {string} [list] Names one that it must have.
 * @returns {Promise<any>}
 * @throws {Problem}
 */
export async function bodyOf(response, list) {
  const body = await response.json().catch(() => null);
  if (body && typeof body === "object" && (!list || Array.isArray(body[list]))) return body;
  throw new Problem("unexpected", "", { retryable: true, status: response.status });
}

/**
 * Read a reply that is no success; one that is not ours, as a proxy's may be, is told by its status.
 * @param {Response} response
 */
export async function problemOf(response) {
  const body = await response.json().catch(() => null);
  const after = Number(response.headers.get("Retry-After")) || 0;
  const { status } = response;
  if (typeof body?.code !== "string") {
    return new Problem(
      "unexpected",
      `${status} ${response.statusText}`.trim(),
      { status, after, retryable: status >= 500 || PASSING.has(status) },
    );
  }
  const { code, detail = "", suggestion = "", retryable = false } = body;
  return new Problem(code, String(detail), { suggestion, retryable, status, after });
}
