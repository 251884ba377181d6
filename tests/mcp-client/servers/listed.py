"""An MCP server with the tools and answers of a file: `listed.py FILE` with {"tools": […], "answers": {name: result}}. It writes plain
lines of JSON-RPC and uses no package. A tool without an answer returns its arguments, as the text of the request and as a structure.
"""

import json
import sys

with open(sys.argv[1]) as file:
    served = json.load(file)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "initialize":
        info = served.get("info", {"name": "listed", "version": "1"})
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": id, "result": result})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": served["tools"]}})
    elif method == "tools/call":
        arguments = params.get("arguments", {})
        own = {"content": [{"type": "text", "text": line}], "structuredContent": arguments}
        send({"id": id, "result": served.get("answers", {}).get(params["name"], own)})
    elif id is not None and method is not None:
        send({"id": id, "error": {"code": -32601, "message": "no such method"}})
