"""A server written as in the documentation of its package, `mcp` of PyPI."""

import asyncio
from typing import Annotated

from pydantic import BaseModel, Field

try:
    from mcp.server.fastmcp import Context, FastMCP, Image
    from mcp.server.fastmcp.exceptions import ToolError
except ImportError:  # version 2 of the package
    from mcp.server.mcpserver import Context, Image
    from mcp.server.mcpserver import MCPServer as FastMCP
    from mcp.server.mcpserver.exceptions import ToolError

server = FastMCP("notes")


class Hit(BaseModel):
    """A note that was found."""

    title: str
    score: float


@server.tool()
def search(
    query: Annotated[str, Field(description="The text to look for.")],
    limit: Annotated[int, Field(description="The maximum number of notes.", ge=1, le=10)] = 3,
) -> list[Hit]:
    """Finds notes by their text."""
    return [Hit(title=f"{query} {n}", score=1 / (n + 1)) for n in range(limit)]


@server.tool()
def add(
    a: Annotated[int, Field(description="The first number.")],
    b: Annotated[int, Field(description="The second number.")],
) -> int:
    """Adds two numbers of any length."""
    return a + b


@server.tool()
async def count(to: Annotated[int, Field(description="How far.")], ctx: Context) -> str:
    """Counts, step by step."""
    for n in range(1, to + 1):
        await ctx.report_progress(n, to, f"at {n}")
        await asyncio.sleep(0)
    return f"counted to {to}"


@server.tool()
def fail() -> str:
    """Fails as tools of this package do."""
    raise ToolError("the note is locked by another writer")


@server.tool()
def picture() -> Image:
    """Draws a dot."""
    return Image(data=b"\x89PNG\r\n", format="png")


@server.tool()
def anything(tags: Annotated[dict[str, str], Field(description="Tags by name.")]) -> str:
    """Takes a map, which strict modes refuse."""
    return ",".join(sorted(tags))


server.run("stdio")
