/** Languages of source code, whose names are the same in every language of people. */

/** @type {Record<string, string>} */
const BY_TYPE = {
  "text/x-python": "Python", "text/javascript": "JavaScript", "text/x-typescript": "TypeScript", "text/x-java": "Java",
  "text/x-c": "C", "text/x-go": "Go", "text/x-rust": "Rust", "text/x-ruby": "Ruby", "text/x-php": "PHP",
  "text/x-shellscript": "Shell", "application/sql": "SQL", "application/toml": "TOML", "application/xml": "XML",
  "text/xml": "XML", "text/css": "CSS",
};
/** Of types that several languages share. @type {Record<string, string>} */
const BY_SUFFIX = {
  kt: "Kotlin", cs: "C#", scala: "Scala", swift: "Swift", cc: "C++", cpp: "C++", cxx: "C++", hpp: "C++", hh: "C++",
  ini: "INI", cfg: "INI", conf: "INI", properties: "INI", scss: "SCSS",
};

/**
 * Name the language that a file is written in; nothing where it is no source code.
 * @param {string} mediaType
 * @param {string | null} [name] The file's own.
 */
export function languageOf(mediaType, name) {
  const language = BY_TYPE[mediaType];
  return language && (BY_SUFFIX[/\.(\w+)$/.exec(name ?? "")?.[1]?.toLowerCase() ?? ""] ?? language);
}
