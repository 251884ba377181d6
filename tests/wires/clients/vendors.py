"""Sends a request through the vendor's own client, whole and streamed, and prints the calls that the client parsed.

Usage: `vendors.py API ADDRESS`, with the request as JSON on standard input.
"""

import base64
import json
import sys
from collections.abc import Iterator

api, address = sys.argv[1:]
request = json.load(sys.stdin)


def typed(kind, value):
    """Checks that the request fits the vendor's types, because the client would drop an unknown key."""
    from pydantic import TypeAdapter

    def plain(value):
        if isinstance(value, dict):
            return {key: plain(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple, Iterator)) or type(value).__name__ == "ValidatorIterator":
            return [plain(inner) for inner in value]
        return value

    adapter = TypeAdapter(kind)  # kept in a variable, because pydantic validates lists lazily
    known = plain(adapter.validate_python(value))
    assert known == value, f"the vendor's types drop or change a value:\n{json.dumps(known)}\n{json.dumps(value)}"


def answer(text, calls, reasoning=""):
    calls = [{"id": id, "name": name, "arguments": arguments} for id, name, arguments in calls]
    return {"text": text, "calls": calls, "reasoning": reasoning}


def chat():
    import openai
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    typed(CompletionCreateParamsNonStreaming, request)
    client = openai.OpenAI(base_url=address + "/v1", api_key="none", max_retries=0)

    def read(completion):
        message = completion.choices[0].message
        return answer(
            message.content,
            [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls],
        )

    yield read(client.chat.completions.create(**request))
    with client.chat.completions.stream(**request) as stream:
        yield read(stream.get_final_completion())


def responses():
    import openai
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

    typed(ResponseCreateParamsNonStreaming, request)
    client = openai.OpenAI(base_url=address + "/v1", api_key="none", max_retries=0)

    def read(response):
        calls = [item for item in response.output if item.type == "function_call"]
        thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
        return answer(
            response.output_text,
            [(call.call_id, call.name, json.loads(call.arguments)) for call in calls],
            "\n\n".join(thoughts),
        )

    yield read(client.responses.create(**request))
    with client.responses.stream(**request) as stream:
        yield read(stream.get_final_response())


def anthropic():
    import anthropic
    from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming as WithBetas
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    typed(WithBetas if "betas" in request else MessageCreateParamsNonStreaming, request)
    client = anthropic.Anthropic(base_url=address, api_key="none", max_retries=0)
    messages = client.beta.messages if "betas" in request else client.messages

    def read(message):
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [block for block in message.content if block.type == "tool_use"]
        thoughts = [block.thinking for block in message.content if block.type == "thinking"]
        return answer(text, [(call.id, call.name, call.input) for call in calls], "\n\n".join(thoughts))

    yield read(messages.create(**request))
    with messages.stream(**request) as stream:
        yield read(stream.get_final_message())


def gemini():
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=address))
    # Pass only the keys that belong to the config, because its type refuses unknown keys.
    known = ("tools", "toolConfig", "systemInstruction")
    config = types.GenerateContentConfig.model_validate({key: request[key] for key in known if key in request})
    contents = [types.Content.model_validate(content) for content in request["contents"]]

    def read(pieces):
        text, calls, thoughts = "", [], ""
        for piece in pieces:
            for part in piece.candidates[0].content.parts or []:
                if part.function_call:
                    call = part.function_call
                    calls.append((call.id, call.name, call.args))
                elif part.thought:
                    thoughts += part.text
                elif part.text:
                    text += part.text
        return answer(text, calls, thoughts)

    sent = dict(model="gemini-3-pro", contents=contents, config=config)
    yield read([client.models.generate_content(**sent)])
    yield read(client.models.generate_content_stream(**sent))


def bedrock():
    import boto3

    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=address,
        region_name="eu-central-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )

    def opened(value):
        """Decodes base64, because the client encodes bytes itself."""
        if isinstance(value, dict):
            if set(value) == {"bytes"}:
                return {"bytes": base64.b64decode(value["bytes"])}
            return {key: opened(inner) for key, inner in value.items()}
        return [opened(inner) for inner in value] if isinstance(value, list) else value

    sent = dict(opened(request), modelId="claude")
    content = client.converse(**sent)["output"]["message"]["content"]
    uses = [block["toolUse"] for block in content if "toolUse" in block]
    text = "".join(block.get("text", "") for block in content)
    thoughts = [block["reasoningContent"]["reasoningText"]["text"] for block in content if "reasoningContent" in block]
    calls = [(use["toolUseId"], use["name"], use["input"]) for use in uses]
    yield answer(text, calls, "\n\n".join(thoughts))

    text, uses, thoughts = "", {}, ""
    for event in client.converse_stream(**sent)["stream"]:
        start, delta = event.get("contentBlockStart"), event.get("contentBlockDelta")
        if start:
            use = start["start"]["toolUse"]
            uses[start["contentBlockIndex"]] = [use["toolUseId"], use["name"], ""]
        elif delta and "text" in delta["delta"]:
            text += delta["delta"]["text"]
        elif delta and "reasoningContent" in delta["delta"]:
            thoughts += delta["delta"]["reasoningContent"].get("text", "")
        elif delta and "toolUse" in delta["delta"]:
            uses[delta["contentBlockIndex"]][2] += delta["delta"]["toolUse"]["input"]
    calls = [(id, name, json.loads(arguments)) for id, name, arguments in uses.values()]
    yield answer(text, calls, thoughts)


whole, streamed = locals()[api]()
print(json.dumps({"whole": whole, "streamed": streamed}))
