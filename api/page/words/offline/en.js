/** What is kept for when there is no network, in English. */

/** @type {{label: string, not: string, keep: string, asOf: (at: string) => string}} */
export const offline = {
  label: "Without network",
  not: "Keep nothing on this device",
  keep: "Keep what I read on this device",
  asOf: (at) => `You are offline. This is what was read on this device, as of ${at}.`,
};
