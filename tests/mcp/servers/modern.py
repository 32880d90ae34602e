"""A server of the stateless era, written with the package `mcp`: `modern.py stdio`, or `modern.py http PORT`."""

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = MCPServer("modern", version="7", instructions="Be kind.")


@server.tool()
def echo(text: str) -> str:
    """Gives back what it got."""
    return text


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts, and says how far it has come."""
    for number in range(to):
        await ctx.report_progress(number + 1, to, f"at {number + 1}")
    return str(to)


@server.tool()
async def order(ctx: Context) -> str | InputRequiredResult:
    """Asks which one it shall be."""
    if ctx.input_responses is None:
        schema = {"type": "object", "properties": {"which": {"type": "string"}}, "required": ["which"]}
        question = ElicitRequest(params=ElicitRequestFormParams(message="Which one?", requested_schema=schema))
        return InputRequiredResult(input_requests={"which": question}, request_state="the state")
    answer = ctx.input_responses["which"]
    return f"{answer.action}: {answer.content} ({ctx.request_state})"


@server.tool()
async def learn(name: str, ctx: Context) -> str:
    """Offers one more tool from now on."""
    server.add_tool(echo, name=name)
    await ctx.notify_tools_changed()
    return "learnt"


@server.resource("memo://today")
def today() -> str:
    return "Buy bread."


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
