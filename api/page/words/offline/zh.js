/** What is kept for when there is no network, in Chinese. */

/** @type {{label: string, not: string, keep: string, asOf: (at: string) => string}} */
export const offline = {
  label: "没有网络时",
  not: "不在此设备上保留任何内容",
  keep: "在此设备上保留我读过的内容",
  asOf: (at) => `您已离线。这里显示的是截至 ${at} 在此设备上读过的内容。`,
};
