// Simulates the users of an AI SDK interface on the chat endpoint: `chat.mjs PACKAGE ADDRESS SCENARIO…`. The script plays each scenario in a conversation of
// its own, and prints what the interface shows.
import assert from 'node:assert/strict';

const [name, address, ...scenarios] = process.argv.slice(2);
const {
  AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses: answered,
  lastAssistantMessageIsCompleteWithToolCalls: supplied, readUIMessageStream,
} = await import(name);

const transport = token => new DefaultChatTransport({
  headers: { authorization: `Bearer ${token}` },
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({ api: `${address}/chat/${id}`, body: { messages, trigger, messageId } }),
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `${address}/chat/${id}/stream` }),
});

// A chat that keeps its messages in a list; `useChat` keeps them in React's state.
class Chat extends AbstractChat {
  constructor(id, messages = [], token = 'ann-of-acme') {
    let failed;
    super({
      id,
      transport: transport(token),
      sendAutomaticallyWhen: options => answered(options) || supplied(options),
      onError: error => { failed = error; },
      state: {
        status: 'ready',
        error: undefined,
        get messages() { return messages; },
        set messages(all) { messages = all; },
        pushMessage: message => { messages = [...messages, message]; },
        popMessage: () => { messages = messages.slice(0, -1); },
        replaceMessage: (at, message) => { messages = messages.with(at, structuredClone(message)); },
        snapshot: thing => structuredClone(thing),
      },
    });
    this.failed = () => failed;
  }
}

const until = async (happened, what) => {
  const end = Date.now() + 60_000;
  while (!happened()) {
    assert.ok(Date.now() < end, `never: ${what ?? happened}`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
};
const shown = chat => chat.messages.map(({ id, role, parts }) => ({
  id, role,
  parts: parts.filter(part => part.type !== 'step-start').map(({ type, text, toolCallId, state, input, output, errorText, approval }) => ({
    type, text, toolCallId, state, input, output, errorText, approved: approval?.approved,
  })),
}));
const text = chat => chat.messages.at(-1).parts.filter(part => part.type === 'text').map(part => part.text).join('');
const release = thread => fetch(`${address}/release/${thread}`, { method: 'POST' });

const play = {
  // Two messages and their answers.
  async answer(id) {
    const chat = new Chat(id);
    await chat.sendMessage({ text: 'hello' });
    await chat.sendMessage({ text: 'again' });
    return { messages: shown(chat), failed: chat.failed()?.message };
  },
  // One call is approved, and one is denied; the run continues after both.
  async approve(id) {
    const chat = new Chat(id);
    await chat.sendMessage({ text: 'mail' });
    const asked = chat.messages.at(-1).parts.filter(part => part.state === 'approval-requested');
    for (const { approval, input } of asked) {
      await chat.addToolApprovalResponse({ id: approval.id, approved: input.to === 'bob' });
    }
    await until(() => chat.status === 'ready' && text(chat) !== '', 'the answer after the approvals');
    return { asked: asked.length, messages: shown(chat), failed: chat.failed()?.message };
  },
  // A person in a second window reads the answer after an approval from its beginning.
  async window(id) {
    const chat = new Chat(id);
    await chat.sendMessage({ text: 'mail slow' });
    const asked = chat.messages.at(-1).parts.filter(part => part.state === 'approval-requested');
    for (const { approval } of asked) {
      chat.addToolApprovalResponse({ id: approval.id, approved: false });
    }
    await until(() => text(chat).startsWith('one'), 'the beginning of the answer');
    const second = new Chat(id, structuredClone(chat.messages.slice(0, 1)));
    const resumed = second.resumeStream();
    await until(() => second.messages.length === 2 && text(second).startsWith('one'), 'the replay');
    await release(id);
    await resumed;
    await until(() => chat.status === 'ready', 'the end');
    return { same: JSON.stringify(shown(chat)[1].parts) === JSON.stringify(shown(second)[1].parts), messages: shown(second), failed: second.failed()?.message };
  },
  // The client runs a tool and sends its output.
  async client(id) {
    const chat = new Chat(id);
    await chat.sendMessage({ text: 'color' });
    const call = chat.messages.at(-1).parts.find(part => part.toolCallId);
    await chat.addToolOutput({ tool: 'ask_color', toolCallId: call.toolCallId, output: { color: 'red' } });
    await until(() => chat.status === 'ready' && text(chat) !== '', 'the answer after the output');
    return { messages: shown(chat), failed: chat.failed()?.message };
  },
  // The page is closed while the model writes, and opened again.
  async resume(id) {
    const chat = new Chat(id);
    const sent = chat.sendMessage({ text: 'slow' });
    await until(() => chat.messages.length === 2 && text(chat).startsWith('one'), 'the beginning');
    await chat.stop(); // closes the connection
    await sent;
    const opened = new Chat(id, chat.messages.slice(0, 1));
    const resumed = opened.resumeStream();
    await until(() => opened.messages.length === 2 && text(opened).startsWith('one'), 'the replay');
    await release(id);
    await resumed;
    const idle = await transport('ann-of-acme').reconnectToStream({ chatId: id });
    return { messages: shown(opened), idle, failed: opened.failed()?.message };
  },
  // The user stops the answer.
  async stop(id) {
    const chat = new Chat(id);
    const sent = chat.sendMessage({ text: 'slow' });
    await until(() => chat.messages.length === 2 && text(chat).startsWith('one'), 'the beginning');
    const stopped = await fetch(`${address}/chat/${id}/stop`, { method: 'POST', headers: { authorization: 'Bearer ann-of-acme' } });
    await sent;
    await chat.sendMessage({ text: 'hello' });
    return { status: stopped.status, messages: shown(chat), failed: chat.failed()?.message };
  },
  // The model fails; the user requests the answer again.
  async fail(id) {
    const chat = new Chat(id);
    await chat.sendMessage({ text: 'fail once' });
    const failed = chat.failed()?.message;
    await chat.regenerate();
    return { messages: shown(chat), failed };
  },
  // The chunks are read without a chat.
  async read(id) {
    const stream = await transport('ann-of-acme').sendMessages({
      trigger: 'submit-message', chatId: id, messages: [{ id: 'u-1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    });
    let last;
    for await (const message of readUIMessageStream({ stream })) last = message;
    return { last };
  },
};

const told = {};
for (const scenario of scenarios) told[scenario] = await play[scenario](`${scenario}-${process.pid}`);
console.log(JSON.stringify(told));
