// What real renderers make of Markdown. node render.mjs FILE, which holds a JSON list of texts; prints their HTML by renderer.
import { readFileSync } from "node:fs";
import MarkdownIt from "markdown-it";
import { marked } from "marked";
import rehypeStringify from "rehype-stringify";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";

const texts = JSON.parse(readFileSync(process.argv[2], "utf8"));
const markdownIt = new MarkdownIt({ linkify: true });
const remark = unified().use(remarkParse).use(remarkGfm).use(remarkRehype).use(rehypeStringify);
const renderers = {
  marked: (text) => marked.parse(text, { async: false }),
  "markdown-it": (text) => markdownIt.render(text),
  "remark-gfm": (text) => String(remark.processSync(text)),
};
const html = Object.fromEntries(Object.entries(renderers).map(([name, render]) => [name, texts.map(render)]));
console.log(JSON.stringify(html));
