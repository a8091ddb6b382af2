/** What is kept for when there is no network, in Arabic. */

/** @type {{label: string, not: string, keep: string, asOf: (at: string) => string}} */
export const offline = {
  label: "من دون شبكة",
  not: "عدم حفظ أي شيء على هذا الجهاز",
  keep: "حفظ ما أقرؤه على هذا الجهاز",
  asOf: (at) => `أنت غير متصل. هذا ما قُرئ على هذا الجهاز حتى ${at}.`,
};
