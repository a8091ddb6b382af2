// Docmost's AI page without its pixels: the atoms, the stream reader and the session switching of its own document.
// node seeds/docmost.mjs URL: walks through a user's afternoon and prints what the page would have shown.
const base = process.argv[2];
const atoms = { selectedPages: [], sources: [], activeSession: null, answer: "", thinking: "", error: null };

async function call(method, path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  const reply = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${reply.message}`);
  return reply;
}

const createSession = async (pageId) => (await call("POST", "/api/ai/sessions", { pageId })).session;
const searchPages = (wanted) => call("POST", "/api/ai/pages/search", wanted);
const loadSessionMessages = (id) => call("GET", `/api/ai/sessions/${id}`);

async function* readEvents(response) {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const bytes of response.body) {
    buffer += decoder.decode(bytes, { stream: true });
    const lines = buffer.split("\n");
    buffer = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue;
      if (line === "data: [DONE]") return;
      yield JSON.parse(line.slice("data: ".length));
    }
  }
  throw new Error("the stream broke off before [DONE]");
}

async function sendMessage(content) {
  Object.assign(atoms, { sources: [], answer: "", thinking: "", error: null });
  const arrived = [];
  const body = {
    messages: [{ role: "user", content }],
    sessionId: atoms.activeSession?.id,
    model: "",
    thinking: false,
    selectedPageIds: atoms.selectedPages.map((page) => page.pageId),
    isWebSearchEnabled: false,
  };
  const response = await fetch(`${base}/api/ai/chat/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status} ${(await response.json()).message}`);
  for await (const event of readEvents(response)) {
    arrived.push(event.type);
    if (event.type === "sources") atoms.sources = event.data;
    if (event.type === "thinking") atoms.thinking += event.data;
    if (event.type === "chunk") atoms.answer += event.data;
    if (event.type === "error") atoms.error = event.data;
  }
  return arrived;
}

// Step 1 to 4 of the document's "Frontend Rendering": parse, map, render, show.
function renderCitations(answer, sources) {
  const text = answer.replace(/\[\^(\d+)\]/g, (_, n) => {
    const source = sources[Number(n) - 1];
    return `<${source.spaceSlug}/p/${source.slugId}>`;
  });
  return text;
}

async function restoreSelectedPages(pageIds) {
  try {
    atoms.selectedPages = await searchPages({ pageIds });
  } catch {
    atoms.selectedPages = [];
  }
}

// The order of the document's bug fix: pages come from the session object, before any message is loaded.
async function switchSession(session) {
  atoms.activeSession = session;
  if (session.selectedPageIds?.length > 0) await restoreSelectedPages(session.selectedPageIds);
  else atoms.selectedPages = [];
  const badges = atoms.selectedPages.map((page) => page.title);
  const { messages } = await loadSessionMessages(session.id);
  return { badges, messages };
}

async function newChat() {
  atoms.activeSession = await createSession();
  atoms.selectedPages = [];
  return atoms.activeSession;
}

const shown = {};

const first = await newChat();
shown.newChat = { title: first.title, selectedPageIds: first.selectedPageIds, badges: atoms.selectedPages.length };

const [page] = await searchPages({ query: "handbook" });
atoms.selectedPages = [...atoms.selectedPages, page];
shown.badge = page.title;

shown.events = await sendMessage("How many days of annual leave does an employee get?");
shown.answer = renderCitations(atoms.answer, atoms.sources);
shown.popover = atoms.sources[Number(atoms.answer.match(/\[\^(\d+)\]/)[1]) - 1].excerpt;
shown.autoTitle = (await call("POST", `/api/ai/sessions/${first.id}/auto-title`)).title;

const second = await newChat();
shown.cleared = atoms.selectedPages.length;
await sendMessage("Hello!");
shown.greeted = atoms.answer.length > 0 && atoms.sources.length === 0;

// The page is reloaded: nothing is left but what the server keeps.
Object.assign(atoms, { selectedPages: [], sources: [], activeSession: null, answer: "" });
const { sessions } = await call("GET", "/api/ai/sessions");
const find = (id) => sessions.find((session) => session.id === id);
shown.order = sessions.slice(0, 2).map((session) => [first.id, second.id].indexOf(session.id));
const back = await switchSession(find(first.id));
shown.restored = back.badges;
shown.title = find(first.id).title;
shown.history = back.messages.map(({ role, content, sources }) => [role, renderCitations(content, sources)]);
shown.other = (await switchSession(find(second.id))).badges;

atoms.activeSession = { id: "00000000-0000-4000-8000-00000000dead" };
shown.unknown = await sendMessage("Hello!").catch((error) => error.message);

console.log(JSON.stringify(shown));
