"""The Python package `mcp` 1.x, over stdio and HTTP: lists and calls tools, receives progress, cancels a call, and reads errors."""

import asyncio
import sys

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def drive(session):
    begun = await session.initialize()
    assert begun.protocolVersion == "2025-11-25", begun
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    add = tools["add"]
    assert add.title == "Add" and add.annotations.readOnlyHint is True, add
    assert add.inputSchema["properties"]["a"]["type"] == "integer", add
    assert add.outputSchema["properties"]["sum"]["type"] == "integer", add

    result = await session.call_tool("add", {"a": 41})
    assert result.structuredContent == {"sum": 42}, result
    assert result.content[0].text == '{"sum":42}' and not result.isError, result

    steps = []

    async def progress(done, total, message):
        steps.append((done, total))

    result = await session.call_tool("test_tool_with_progress", progress_callback=progress)
    assert steps == [(0, 100), (50, 100), (100, 100)], steps

    wrong = await session.call_tool("add", {"a": "many", "c": 1})
    assert wrong.isError and "/a" in wrong.content[0].text and "/c" in wrong.content[0].text, wrong
    failed = await session.call_tool("test_error_handling")
    assert failed.isError and "intentionally" in failed.content[0].text, failed
    try:
        await session.call_tool("no_such_tool")
        raise AssertionError("the call of an unknown tool did not fail")
    except McpError as error:
        assert error.error.code == -32602, error

    async with anyio.create_task_group() as group:

        async def wait():
            await session.call_tool("wait_for_ever")

        group.start_soon(wait)
        await anyio.sleep(0.3)
        request = session._request_id - 1
        cancelled = types.CancelledNotification(
            method="notifications/cancelled",
            params=types.CancelledNotificationParams(requestId=request, reason="enough"),
        )
        await session.send_notification(types.ClientNotification(cancelled))
        await anyio.sleep(0.2)
        group.cancel_scope.cancel()
    result = await session.call_tool("add", {"a": 1, "b": 2})
    assert result.structuredContent == {"sum": 3}, result


async def main(way, where):
    if way == "stdio":
        server = StdioServerParameters(command=where, args=["--stdio"])
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await drive(session)
    else:
        async with streamablehttp_client(where) as (read, write, _), ClientSession(read, write) as session:
            await drive(session)
    print("done")


asyncio.run(main(*sys.argv[1:]))
