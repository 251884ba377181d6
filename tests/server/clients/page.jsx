// A page with a conversation of `useChat`, as an application writes it. The query has the conversation: `?id=main`. The texts of messages and the calls are in
// the document, where a test reads them; `window.chat` sends messages and answers.
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useChat } from 'chat-react';
import * as sdk from 'chat-core';

const id = new URLSearchParams(location.search).get('id');
const headers = { authorization: 'Bearer ann-of-acme' };
const transport = new sdk.DefaultChatTransport({
  headers,
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) =>
    ({ api: `/chat/${id}`, body: { messages: messages.slice(-1), trigger, messageId } }),
  prepareReconnectToStreamRequest: ({ id }) => ({ api: `/chat/${id}/stream`, headers }),
});
// An application loads the stored messages from its server. The last answer may be incomplete, and the stream begins it again.
const stored = JSON.parse(localStorage.getItem(id) ?? '[]');
const users = stored.map(message => message.role).lastIndexOf('user');
const initial = stored.slice(0, users + 1);

function Chat() {
  const [failed, setFailed] = useState('');
  const chat = useChat({
    id,
    transport,
    messages: initial,
    resume: initial.length > 0,
    // Version 5 does not support approvals.
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: error => setFailed(error.message),
  });
  if (chat.messages.length > initial.length) localStorage.setItem(id, JSON.stringify(chat.messages));
  window.chat = chat;
  const call = part => (
    <li key={part.toolCallId} className="call" data-state={part.state} data-id={part.toolCallId}>
      {part.state === 'approval-requested' && ['approve', 'deny'].map(word => (
        <button key={word} className={word} onClick={() => chat.addToolApprovalResponse({ id: part.approval.id, approved: word === 'approve' })}>
          {word} {JSON.stringify(part.input)}
        </button>
      ))}
      {JSON.stringify(part.output)}
    </li>
  );
  return (
    <main data-status={chat.status} data-failed={failed}>
      {chat.messages.map(message => (
        <article key={message.id} className={message.role} data-id={message.id}>
          <p>{message.parts.filter(part => part.type === 'text').map(part => part.text).join('')}</p>
          <ul>{message.parts.filter(part => part.toolCallId).map(call)}</ul>
        </article>
      ))}
    </main>
  );
}

createRoot(document.getElementById('root')).render(<Chat />);
