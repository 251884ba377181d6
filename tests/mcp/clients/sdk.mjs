// `@modelcontextprotocol/sdk` over stdio and HTTP: lists and calls tools, receives progress, cancels a call, and reads errors.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [way, where] = process.argv.slice(2);
const transport = way === 'stdio'
  ? new StdioClientTransport({ command: where, args: ['--stdio'] })
  : new StreamableHTTPClientTransport(new URL(where));
const client = new Client({ name: 'test', version: '1' });
await client.connect(transport);

const { tools } = await client.listTools();
const add = tools.find((tool) => tool.name === 'add');
assert.equal(add.title, 'Add');
assert.equal(add.annotations.readOnlyHint, true);
assert.deepEqual(Object.keys(add.inputSchema.properties), ['a', 'b']);
assert.equal(add.outputSchema.type, 'object');

const sum = await client.callTool({ name: 'add', arguments: { a: 41 } });
assert.deepEqual(sum.structuredContent, { sum: 42 });

const steps = [];
await client.callTool({ name: 'test_tool_with_progress', arguments: {} }, undefined, {
  onprogress: ({ progress, total }) => steps.push([progress, total]),
});
assert.deepEqual(steps, [[0, 100], [50, 100], [100, 100]]);

const wrong = await client.callTool({ name: 'add', arguments: { a: 'many', c: 1 } });
assert.equal(wrong.isError, true);
assert.match(wrong.content[0].text, /\/a.*\/c/);
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), { code: -32602 });

const abort = new AbortController();
setTimeout(() => abort.abort('enough'), 300);
await assert.rejects(client.callTool({ name: 'wait_for_ever', arguments: {} }, undefined, { signal: abort.signal }));
const after = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
assert.deepEqual(after.structuredContent, { sum: 3 });
await client.close();
console.log('done');
