// A chat of the AI SDK as a page holds it, without the page: what useChat does when its functions are called.
// node ai_chat.mjs PACKAGE URL '[["send", "text"], ["edit", 0, "text"], ["regenerate", 1?], ["resume"], ["open"]]' CHAT_ID
const [release, url, actions, id = "c1"] = process.argv.slice(2);
const { AbstractChat, DefaultChatTransport, validateUIMessages } = await import(release);

class State {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = (message) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index, message) =>
    void (this.messages = this.messages.map((each, i) => (i === index ? structuredClone(message) : each)));
  snapshot = (value) => structuredClone(value);
}
class Chat extends AbstractChat {}

const heard = [];
let stopping = false;
const chat = new Chat({
  id,
  state: new State(),
  transport: new DefaultChatTransport({ api: `${url}/api/chat` }),
  onData: (part) => {
    heard.push(part);
    if (stopping) fetch(`${url}/api/chat/${id}/stream`, { method: "DELETE" });
    stopping = false;
  },
});
const act = {
  send: (text) => chat.sendMessage({ text }),
  edit: (index, text) => chat.sendMessage({ text, messageId: chat.messages[index].id }),
  regenerate: (index) => chat.regenerate(index === undefined ? {} : { messageId: chat.messages[index].id }),
  open: async () => {
    const { messages } = await (await fetch(`${url}/api/chat/${id}`)).json();
    chat.messages = await validateUIMessages({ messages });
  },
  resume: () => chat.resumeStream(),
  stopAtNextData: () => void (stopping = true),
};
const states = [];
for (const [name, ...rest] of JSON.parse(actions)) {
  await act[name](...rest);
  states.push({ status: chat.status, error: chat.error?.message ?? null, messages: chat.messages });
}
console.log(JSON.stringify({ states, heard }));
