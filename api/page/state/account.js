/** How people come in and leave, where they log in. */

import { orNull, Problem } from "../api/problem.js";

/** Tell whether people log in here; where that can't be had, a key may still do. @param {App} app */
export async function offersLogin({ client }) {
  return (await orNull(client.json("api/login")))?.offered === true;
}

/** Go to the issuer, and come back to what is on show now. @param {App} app */
export function logIn({ client, key }) {
  key.set(""); // one that was kept would speak louder than the login
  const next = location.pathname + location.search + location.hash;
  location.assign(client.url(`login?${new URLSearchParams({ next })}`));
}

/**
 * Leave, here and at the issuer. Where the login had ended already, there is nothing left to leave.
 * @param {App} app
 */
export async function logOut({ client, offline }) {
  await offline.forget();
  let next = client.home.href;
  try {
    next = String((await client.json("logout", { method: "POST", chosen: false })).continue_at);
  } catch (error) {
    if (!(error instanceof Problem && error.status === 401)) throw error;
  }
  location.assign(next);
}
