/**
 * Builds what of the page is checked in though nobody wrote it: `node build.mjs`, or `--check` whether it is up to date.
 * `--embed FOLDER` builds the window in other people's pages alone, into a folder of its own.
 *
 * api/page/vendor is what other people's packages are to the page's modules. api/page_bundle is the whole page as it is
 * served: few files, so that it opens quickly far from its server.
 */

import { build, transform } from "esbuild";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const API = join(HERE, "../../../api");
const PAGE = join(API, "page");
const VENDOR = join(PAGE, "vendor");
const BUNDLE = join(API, "page_bundle");
const AS_THEY_ARE = ["icon.svg", "icon-192.png", "icon-512.png", "icon-maskable-512.png", "manifest.webmanifest", "service_worker.js"];
const WRITTEN = /\.d\.ts$/; // by hand, beside what is built
const LICENCES_OF_PDF = /^LICENSE(?!.*(?:QCMS|QUICKJS))/; // those of what is taken

// esbuild names files by a hash of paths as well, so these are taken from one place, wherever it is called.
const COMMON = {
  absWorkingDir: HERE,
  bundle: true,
  format: "esm",
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  write: false,
  metafile: true,
};

/** The build of it for browsers makes markup; ours reads no character references, so it needs none. */
const NO_REFERENCES = {
  name: "no-references",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^decode-named-character-reference$/ }, () => ({ path: "none", namespace: "no-references" }));
    onLoad({ filter: /.*/, namespace: "no-references" }, () => ({
      contents: "export const decodeNamedCharacterReference = () => false;",
    }));
  },
};

/** Temml can write its tree as markup, and styles as texts; ours is made of elements and single styles alone. */
const NO_MARKUP = {
  name: "no-markup",
  setup({ onLoad }) {
    onLoad({ filter: /temml[\\/]src[\\/](?:domTree|mathMLTree|tree|functions[\\/]pmb|functions[\\/]multiscript)\.js$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8"))
        .replace(/^ {2}toMarkup\(\) \{[^]*?^ {2}\}$/gm, "")
        .replace(/\.setAttribute\("style", "([\w-]+): ?(\w+);?"\)/g, '.style["$1"] = "$2"'),
    }));
  },
};

/** PDF.js is served as it is vendored: its worker and data are beside it, and nothing of it is in what the page begins with. */
const PDF_APART = {
  name: "pdf-apart",
  setup({ onResolve }) {
    onResolve({ filter: /\/vendor\/pdf\/pdf\.js$/ }, () => ({ path: "./vendor/pdf/pdf.js", external: true }));
  },
};

/** The theme is a file of its own, since it is there before anything is drawn. */
const THEME_APART = {
  name: "theme-apart",
  setup({ onResolve }) {
    onResolve({ filter: /\/theme\.js$/ }, ({ kind }) => (kind === "entry-point" ? null : { path: "./theme.js", external: true }));
  },
};

/** What stands in other people's pages has its style sheet as a text. */
const STYLE_AS_TEXT = {
  name: "style-as-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: (await transform(await readFile(path, "utf8"), { loader: "css", minify: true })).code.trim(),
      loader: "text",
    }));
  },
};

/**
 * What opens later imports all that the page begins with, which is there by then. Otherwise what one of them shares with
 * the beginning would be a file, what two of them share another, and the beginning a dozen.
 * @param {string[]} late
 */
function afterShell(late) {
  const before = ["views/shell.js", "state/app.js"].map((path) => `import "../${path}";`);
  return {
    name: "after-shell",
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) =>
        late.includes(path)
          ? { contents: [...before, await readFile(path, "utf8")].join("\n"), resolveDir: dirname(path) }
          : null);
    },
  };
}

async function vendored() {
  const built = await build({
    ...COMMON,
    entryPoints: [join(HERE, "markdown.js"), join(HERE, "maths.js")],
    outdir: VENDOR,
    plugins: [NO_REFERENCES, NO_MARKUP],
  });
  const licence = await licences(Object.keys(built.metafile.inputs));
  return { ...filesOf(built, VENDOR), "LICENSES.txt": licence, ...(await pdf()) };
}

/** Build PDF.js and its worker, with what it reads: tables of characters, fonts that files leave out, and decoders. */
async function pdf() {
  const home = join(HERE, "node_modules/pdfjs-dist");
  const built = await build({
    ...COMMON,
    entryPoints: { pdf: join(HERE, "pdf.js"), worker: join(home, "legacy/build/pdf.worker.mjs") },
    outdir: join(VENDOR, "pdf"),
  });
  const wanted = { cmaps: /\.bcmap$/, standard_fonts: /\.(?:pfb|ttf)$/, wasm: /_nowasm_fallback\.js$/ };
  const files = filesOf(built, VENDOR);
  const { version, license } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  const told = [`pdfjs-dist ${version} (${license})\n\n${(await readFile(join(home, "LICENSE"), "utf8")).trim()}\n`];
  for (const [folder, kept] of Object.entries(wanted)) {
    for (const name of (await readdir(join(home, folder))).sort()) {
      const file = join(home, folder, name);
      if (kept.test(name)) files[`pdf/${folder}/${name}`] = await readFile(file);
      else if (LICENCES_OF_PDF.test(name)) told.push(`${folder}/${name}\n\n${(await readFile(file, "utf8")).trim()}\n`);
    }
  }
  return { ...files, "pdf/LICENSES.txt": told.join(`\n${"-".repeat(80)}\n\n`) };
}

/** Gather the licences of the packages that inputs are of. */
async function licences(inputs) {
  const names = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
  const told = [...names].sort().map(async (name) => {
    const folder = join(HERE, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? (await readFile(join(folder, file), "utf8")).trim() : "";
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return (await Promise.all(told)).join(`\n${"-".repeat(80)}\n\n`);
}

async function bundled() {
  const index = await readFile(join(PAGE, "index.html"), "utf8");
  const sheets = [...index.matchAll(/<link rel="stylesheet" href="page\/\{version\}\/(.+)">\n/g)];
  const style = await build({
    ...COMMON,
    stdin: { contents: sheets.map(([, path]) => `@import "./${path}";`).join("\n"), loader: "css", resolveDir: PAGE },
    outfile: join(BUNDLE, "style.css"),
  });
  const options = {
    ...COMMON,
    entryPoints: { main: join(PAGE, "main.js"), theme: join(PAGE, "state/theme.js") },
    outdir: BUNDLE,
    splitting: true,
    chunkNames: "[name]-[hash]",
  };
  const apart = await build({ ...options, plugins: [THEME_APART, PDF_APART] });
  const late = Object.values(apart.metafile.outputs).flatMap(({ entryPoint }) => (entryPoint ? [resolve(HERE, entryPoint)] : []));
  const begun = options.entryPoints;
  const code = await build({
    ...options,
    plugins: [THEME_APART, PDF_APART, afterShell(late.filter((path) => path !== begun.main && path !== begun.theme))],
  });
  const main = Object.entries(code.metafile.outputs).find(([path]) => basename(path) === "main.js")[1];
  const preloads = main.imports
    .filter(({ kind, external }) => kind === "import-statement" && !external)
    .map(({ path }) => `<link rel="modulepreload" href="page/{version}/${basename(path)}">\n`);
  const [first, ...others] = sheets;
  const page = others
    .reduce((text, [link]) => text.replace(link, ""), index)
    .replace(first[1], "style.css")
    .replace("state/theme.js", "theme.js")
    .replace("<!-- preloads -->\n", preloads.join(""));
  const asTheyAre = await Promise.all(AS_THEY_ARE.map(async (name) => [name, await readFile(join(PAGE, name))]));
  const alone = await build({ ...COMMON, entryPoints: [join(PAGE, "to_viewer.js")], outdir: BUNDLE });
  const built = { ...filesOf(style, BUNDLE), ...filesOf(code, BUNDLE), ...filesOf(alone, BUNDLE), ...(await embedded(BUNDLE)) };
  return { ...built, "index.html": page, ...Object.fromEntries(asTheyAre) };
}

/** @param {string} folder */
async function embedded(folder) {
  const entryPoints = { embed: join(PAGE, "embed/main.js") };
  const script = await build({ ...COMMON, format: "iife", entryPoints, outdir: folder, plugins: [STYLE_AS_TEXT] });
  const later = await build({ ...COMMON, entryPoints: { embed_markup: join(PAGE, "text/markup.js") }, outdir: folder });
  return { ...filesOf(script, folder), ...filesOf(later, folder) };
}

function filesOf({ outputFiles }, folder) {
  return Object.fromEntries(outputFiles.map(({ path, text }) => [relative(folder, path), text]));
}

/** @param {string | Buffer | undefined} one @param {string | Buffer | undefined} other */
function same(one, other) {
  return one !== undefined && other !== undefined && Buffer.from(one).equals(Buffer.from(other));
}

/** What a folder holds that was built. */
async function standing(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = entries.filter((each) => each.isFile() && !WRITTEN.test(each.name)).map((each) => join(each.parentPath, each.name));
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)])));
}

/** Write files into a folder and remove the others that were built, or say which differ. */
async function put(folder, files, checking) {
  const before = await standing(folder);
  const names = [...new Set([...Object.keys(before), ...Object.keys(files)])];
  const changed = names.filter((name) => !same(before[name], files[name]));
  if (checking) return changed.map((name) => relative(API, join(folder, name)));
  await mkdir(folder, { recursive: true });
  for (const name of changed) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    if (name in files) await writeFile(join(folder, name), files[name]);
    else await rm(join(folder, name));
  }
  return [];
}

const [asked, folder = ""] = process.argv.slice(2);
if (asked === "--embed") {
  await put(folder, await embedded(folder), false);
  process.exit();
}
const checking = process.argv.includes("--check");
// The bundle holds what is vendored, so that comes first.
const stale = [...(await put(VENDOR, await vendored(), checking)), ...(await put(BUNDLE, await bundled(), checking))];
if (stale.length) {
  console.error(`Out of date: ${stale.join(", ")} below api. \`make page\` builds them anew.`);
  process.exit(1);
}
