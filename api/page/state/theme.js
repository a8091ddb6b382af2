/** Light or dark, as the reader has chosen. Loading this module applies it, so that the first paint is right. */

/** @typedef {"system" | "light" | "dark"} Theme */

const CHOSEN = "citewell.theme";

/** @type {Theme[]} */
export const THEMES = ["system", "light", "dark"];

/** Tell which theme was chosen. */
export function theme() {
  const chosen = localStorage.getItem(CHOSEN);
  return THEMES.find((each) => each === chosen) ?? "system";
}

/** Choose a theme, for all tabs. @param {Theme} chosen */
export function chooseTheme(chosen) {
  localStorage.setItem(CHOSEN, chosen);
  apply();
}

function apply() {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

apply();
addEventListener("storage", (event) => event.key === CHOSEN && apply());
