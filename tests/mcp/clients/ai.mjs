// The AI SDK's MCP client over HTTP: lists and calls tools, cancels a call, and reads errors.
import assert from 'node:assert/strict';
import { createMCPClient } from '@ai-sdk/mcp';

const [where] = process.argv.slice(2);
const client = await createMCPClient({ transport: { type: 'http', url: where } });
const tools = await client.tools();
const call = (name, input, more = {}) => tools[name].execute(input, { toolCallId: '1', messages: [], ...more });

const sum = await call('add', { a: 41 });
assert.deepEqual(sum.structuredContent, { sum: 42 });
const wrong = await call('add', { a: 'many' });
assert.equal(wrong.isError, true);
assert.match(wrong.content[0].text, /\/a/);
const image = await call('test_image_content', {});
assert.equal(image.content[0].mimeType, 'image/png');
await assert.rejects(call('wait_for_ever', {}, { abortSignal: AbortSignal.timeout(300) }));
const after = await call('add', { a: 1, b: 2 });
assert.deepEqual(after.structuredContent, { sum: 3 });
await client.close();
console.log('done');
