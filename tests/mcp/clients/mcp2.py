"""The Python package `mcp` 2.x, over stdio and HTTP: lists and calls tools, receives progress, cancels a call, and reads errors."""

import asyncio
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters


async def drive(client):
    assert str(client.protocol_version) == "2026-07-28", client.protocol_version
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    add = tools["add"]
    assert add.title == "Add" and add.annotations.read_only_hint is True, add
    assert add.output_schema["properties"]["sum"]["type"] == "integer", add

    result = await client.call_tool("add", {"a": 41})
    assert result.structured_content == {"sum": 42}, result
    assert result.content[0].text == '{"sum":42}' and not result.is_error, result

    steps = []

    async def progress(done, total, message):
        steps.append((done, total))

    await client.call_tool("test_tool_with_progress", progress_callback=progress)
    assert steps == [(0, 100), (50, 100), (100, 100)], steps

    wrong = await client.call_tool("add", {"a": "many", "c": 1})
    assert wrong.is_error and "/a" in wrong.content[0].text and "/c" in wrong.content[0].text, wrong
    try:
        await client.call_tool("no_such_tool")
        raise AssertionError("the call of an unknown tool did not fail")
    except MCPError as error:
        assert error.code == -32602, error

    with anyio.move_on_after(0.5):
        await client.call_tool("wait_for_ever")
    result = await client.call_tool("add", {"a": 1, "b": 2})
    assert result.structured_content == {"sum": 3}, result


async def main(way, where):
    server = StdioServerParameters(command=where, args=["--stdio"]) if way == "stdio" else where
    async with Client(server) as client:
        await drive(client)
    print("done")


asyncio.run(main(*sys.argv[1:]))
