"""The Python package `mcp` 2.x, over stdio: calls each tool once, approves calls that ask for it, and prints the results.

`each.py PROGRAM CALLS`: CALLS is a JSON array of {"tool", "arguments"}, where `{clone}` is the repository that `git_clone` has created. The output is an array of {"tool", "error", "text"}, then the names of all tools.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp import types


async def say_yes(context, params):
    return types.ElicitResult(action="accept", content={"approve": True})


async def main(program, calls):
    server = StdioServerParameters(command=program, args=["serve", "--approve-by-client"], env=dict(os.environ))
    results = []
    async with Client(server, elicitation_callback=say_yes, read_timeout_seconds=60) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        clone = ""
        for call in json.loads(calls):
            arguments = json.loads(json.dumps(call["arguments"]).replace("{clone}", clone))
            result = await client.call_tool(call["tool"], arguments)
            text = "\n".join(part.text for part in result.content if part.type == "text")
            if call["tool"] == "git_clone" and not result.is_error:
                clone = ".repos/" + json.loads(text)["path"].split("/.repos/")[1]
            results.append({"tool": call["tool"], "error": bool(result.is_error), "text": text})
    print(json.dumps({"names": names, "results": results}))


asyncio.run(main(*sys.argv[1:]))
