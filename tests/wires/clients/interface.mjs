// Simulates a user of an AI SDK interface: `interface.mjs PACKAGE ADDRESS`. The script sends a message, answers approvals, and prints every state of each
// tool part and the final message.
import assert from 'node:assert/strict';

const [name, api] = process.argv.slice(2);
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses: complete } = await import(name);

const states = [];
const note = message => {
  for (const part of message?.parts ?? []) {
    if (!part.toolCallId) continue;
    const { toolCallId, state, preliminary, output, errorText } = part;
    const seen = JSON.stringify([toolCallId, state, ...(preliminary ? ['preliminary'] : []), output ?? errorText ?? null]);
    if (states.findLast(other => other.startsWith(JSON.stringify([toolCallId]).slice(0, -1))) !== seen) states.push(seen);
  }
};

// A chat that keeps its messages in a list; `useChat` keeps them in React's state.
class Chat extends AbstractChat {
  constructor(options) {
    let messages = [];
    super({
      ...options,
      state: {
        status: 'ready',
        error: undefined,
        get messages() { return messages; },
        set messages(all) { messages = all; all.forEach(note); },
        pushMessage: message => { messages = [...messages, message]; note(message); },
        popMessage: () => { messages = messages.slice(0, -1); },
        replaceMessage: (at, message) => { messages = messages.with(at, structuredClone(message)); note(message); },
        snapshot: thing => structuredClone(thing),
      },
    });
  }
}

let failed, finished = 0;
const chat = new Chat({
  transport: new DefaultChatTransport({ api }),
  sendAutomaticallyWhen: complete,
  onError: error => { failed = error; },
  onFinish: () => { finished += 1; },
});
const until = async happened => {
  const end = Date.now() + 60_000;
  while (!happened()) {
    assert.ok(!failed, failed);
    assert.ok(Date.now() < end, `never: ${happened} ${JSON.stringify(chat.messages)}`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
};

const picture = { type: 'file', mediaType: 'image/png', filename: 'cat.png', url: 'data:image/png;base64,iVBORw0KGgo=' };
await chat.sendMessage({ text: 'Do what is to be done.', files: [picture] });
await until(() => chat.status === 'ready');
const asked = chat.messages.at(-1).parts.filter(part => part.state === 'approval-requested');
const before = finished;
for (const { approval, input } of asked) {
  await chat.addToolApprovalResponse({ id: approval.id, approved: input.to === 'bob', reason: 'so I say' });
}
await until(() => asked.length === 0 || finished > before && chat.status === 'ready');
// Wait long enough to detect a duplicate request.
await new Promise(resolve => setTimeout(resolve, 100));

const message = chat.messages.at(-1);
console.log(JSON.stringify({
  error: failed?.message ?? null,
  messages: chat.messages.length,
  asked: asked.map(({ input, title, approval }) => ({ input, title, reason: approval.requestReason ?? null })),
  states: states.map(state => JSON.parse(state)),
  parts: message.parts.map(({ type, toolCallId, state, input, output, errorText, text, data, approval }) => ({
    type, toolCallId, state, input, output, errorText, text, data, approved: approval?.approved, reason: approval?.reason,
  })),
}));
