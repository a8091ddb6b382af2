"""Watching a page for what an attack would do to it: what runs, what is asked for, what stands in the document."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, Request

# What an attack calls. The fixture fails a test for whatever the console is told, and for errors and dialogs.
PWNED = "globalThis.pwned = () => console.error('an attack ran: ' + new Error().stack);"
ELEMENTS = (
    "a abbr article aside b bdi blockquote body br button canvas caption cite code col colgroup dd del details dialog "
    "div dl dt em fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i input ins kbd "
    "label legend li link main mark menu meta meter nav noscript ol optgroup option output p pre progress q s samp "
    "script search section select small span strong sub summary sup table tbody td textarea tfoot th thead time title "
    "tr u ul math mrow mi mn mo mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover "
    "munderover mtable mtr mtd semantics annotation svg circle defs desc ellipse g line marker path polygon "
    "polyline rect text tspan"
)
# Names that an attack gives to what it makes.
CLOBBERING = (
    "app",
    "words",
    "innerHTML",
    "attributes",
    "body",
    "cookie",
    "fetch",
    "getElementById",
    "password",
    "p",
)
INSPECT = """
([allowed, clobbering]) => {
  const found = [];
  const tell = (what, element) => found.push(`${what}: ${element.cloneNode().outerHTML.slice(0, 200)}`);
  const addressed = new Set(["src", "srcset", "srcdoc", "action", "formaction", "ping", "background", "poster", "data",
    "xlink:href", "is", "download", "autofocus", "contenteditable", "http-equiv", "slot", "nonce", "accesskey"]);
  for (const element of document.querySelectorAll("*")) {
    const own = document.head.contains(element);
    if (!allowed.includes(element.localName)) tell("an element that the page has not", element);
    if (element.shadowRoot) tell("a shadow", element);
    if (["script", "link", "meta"].includes(element.localName) && !own) tell("out of its place", element);
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on")) tell("a handler", element);
      if (addressed.has(name) && !(own && element.localName === "script")) tell(`the attribute ${name}`, element);
      if (name === "style" && /url|import|expression/i.test(value)) tell("a style", element);
      if ((name === "id" || name === "name") && clobbering.includes(value) && !own) tell("a name", element);
    }
    if (element.localName === "a" && element.hasAttribute("href")) {
      const { protocol, origin, pathname, rel, username } = element;
      const ours = origin === location.origin && element.getAttribute("href").startsWith("#");
      const said = element.closest(".section, .before");
      if (!["http:", "https:"].includes(protocol)) tell("a link", element);
      else if (said && username) tell("a link with a name before its host", element);
      else if (said && origin === location.origin) tell("a link into this server", element);
      else if (!ours && !/\\bnoopener\\b/.test(rel)) tell("a link that keeps its opener", element);
      else if (!ours && element.target !== "_blank") tell("a link that leaves the page", element);
    }
    if (own && element.href && !element.href.startsWith(`${location.origin}/page/`)) tell("an address", element);
    if (own && element.src && !element.src.startsWith(`${location.origin}/page/`)) tell("an address", element);
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids)) if (ids.filter((each) => each === id).length > 1) found.push(`twice the id ${id}`);
  const strange = Reflect.ownKeys(Object.prototype).map(String).filter((key) => ![
    "constructor", "__defineGetter__", "__defineSetter__", "hasOwnProperty", "__lookupGetter__", "__lookupSetter__",
    "isPrototypeOf", "propertyIsEnumerable", "toString", "valueOf", "__proto__", "toLocaleString"].includes(key));
  if (strange.length) found.push(`every object has ${strange}`);
  return found;
}
"""
# Same-origin paths that the page may ask for.
ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PATHS = re.compile(
    rf"""/ | /page/([0-9a-f]{{16}}|current)/[\w/.-]+ | /v1/models | /api/graph | /api/search | /api/suggestions
    | /api/me | /api/login | /api/workspaces | /api/library | /api/deletions(/undo)?
    | /api/collections(/{ID})?
    | /api/jobs(/{ID}(/events|/cancel|/pause|/resume|/retry)?)? | /api/sources(/{ID}(/sync)?)?
    | /api/sessions(/{ID}(/runs|/auto-title|/follow-ups|/export|/shares(/{ID})?|/messages/{ID}/feedback)?)?
    | /api/documents(/{ID}(/raw-text|/guide|/versions|/original|/layout|/pictures/\d+|/segments/\d+/place)?)?
    | /api/runs(/{ID}(/stream|/cancel)?)? | /documents/{ID} | /links/[\w.-]+(/api/.+)?""",
    re.VERBOSE,
)


class Watch:
    """A page under attack."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self._path = urlsplit(url).path or "/"
        self.faults: list[str] = []
        page.context.on("request", self._requested)
        page.context.on("page", lambda opened: self.faults.append(f"a window was opened: {opened.url}"))
        page.on("download", lambda download: self.faults.append(f"a download: {download.url[:200]}"))
        page.on("framenavigated", lambda frame: self._arrived(frame.url))

    async def text(self) -> str:
        """Give all text that the page holds, shown or folded away."""
        said = await self.page.evaluate("document.body.textContent")
        return str(said)

    async def unfold(self) -> None:
        """Open all that is folded away, so that it is made."""
        await self.page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        await self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    async def untouched(self) -> None:
        """Check that no attack has left a trace."""
        found: list[Any] = await self.page.evaluate(INSPECT, [ELEMENTS.split(), CLOBBERING])
        if self.faults or found:
            pytest.fail("\n".join(map(str, [*self.faults, *found])), pytrace=False)

    def _requested(self, request: Request) -> None:
        path = urlsplit(request.url).path
        if not PATHS.fullmatch(path):
            self.faults.append(f"a request for {request.method} {request.url[:200]}")

    def _arrived(self, url: str) -> None:
        if urlsplit(url).path not in (self._path, "blank"):
            self.faults.append(f"another page: {url[:200]}")


async def watched(page: Page, url: str) -> Watch:
    """Open a page under watch; ``page`` is one that has gone nowhere yet."""
    await page.add_init_script(PWNED)
    watch = Watch(page, url)
    await page.goto(url)
    return watch
