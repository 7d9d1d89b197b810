"""Drives an MCP server with the protocol's own SDK: reads a list of requests as JSON, prints the answers as one.

Each request is [method, arguments]. The SDK checks structured content against the tool's output schema itself.
"""

import json
import os
import sys

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def answer(session, method, arguments):
    match method:
        case "tools":
            return await session.list_tools()
        case "call":
            return await session.call_tool(arguments[0], arguments[1])
        case "resources":
            return await session.list_resources()
        case "templates":
            return await session.list_resource_templates()
        case "read":
            return await session.read_resource(arguments)
        case "prompts":
            return await session.list_prompts()
        case "prompt":
            return await session.get_prompt(arguments)
        case "ping":
            return await session.send_ping()
    raise ValueError(method)


async def main():
    command, requests = json.load(sys.stdin)
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    answers = []
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            begun = await session.initialize()
            answers.append(begun.model_dump(mode="json", by_alias=True))
            for method, arguments in requests:
                try:
                    found = await answer(session, method, arguments)
                    answers.append(found.model_dump(mode="json", by_alias=True))
                except Exception as error:
                    answers.append({"raised": str(error), "kind": type(error).__name__})
    json.dump(answers, sys.stdout)


anyio.run(main)
