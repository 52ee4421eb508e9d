"""The built-in agent's process: asks a model, carries out its tool calls, and prints our event lines.

The task and the provider's key come by standard input, so that the key is in no environment: not in that of a shell
command, and not in that of the process above it. The address space is closed to other processes where the system
lets us. Libraries are imported after the first line is out.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_assay.agents.api_model import failure_of, is_free, open_model
from skill_assay.agents.api_skills import Installed, catalogue, find_skills
from skill_assay.agents.api_tools import TOOLS, Toolbox, sendable
from skill_assay.agents.event_lines import VERSION
from skill_assay.errors import Failure, FailureKind

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
    from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
    from pydantic_ai.tools import ToolDefinition

__all__ = ["main"]

_TURNS = 250
"""Without a limit of the caller's: time and money bound it too."""
_SETTINGS: Any = {"max_retries": 0, "cache": True, "timeout": 600.0}
"""Whether a failed request is repeated is for the harness to decide."""
_INSTRUCTIONS = """\
You are an agent that carries out a task by itself. Nobody is there to answer questions: decide, act, and end with a \
short answer that says what you did or found.

Your working directory is {work}. Paths are relative to it, and nothing outside it is yours. Use the tools to look, \
to change files and to run commands; look at what you made before you end.

Skills are instructions for certain kinds of task. Each is listed with what it is for. When one fits the task, open it \
with the tool `skill` first and follow it; read its further files when it says so.

{skills}"""


def main() -> None:
    """Read the task from standard input and carry it out."""
    _close_memory()
    task = json.loads(sys.stdin.buffer.read())
    work = Path.cwd()
    skills = find_skills(work) if task["tools"] else []
    tools = [name for name, _, _ in TOOLS] if task["tools"] else []
    _print("started", assay=VERSION, model=task["model"], version=task["version"], tools=tools, skills=_names(skills))
    toolbox = Toolbox(work, skills, _shell_environment())
    failure = asyncio.run(_Agent(task, skills, toolbox).carry_out())
    if failure is not None:
        told = {"kind": str(failure.kind), "message": failure.message, "status": failure.status}
        _print("error", **told, retry_after=failure.retry_after)
        sys.exit(1)


class _Agent:
    """One task from the prompt to the answer."""

    def __init__(self, task: Mapping[str, Any], skills: Sequence[Installed], toolbox: Toolbox) -> None:
        self._task, self._toolbox = task, toolbox
        told = sendable(_INSTRUCTIONS.format(work=Path.cwd(), skills=catalogue(skills)))
        self._instructions = told if task["tools"] else None

    async def carry_out(self) -> Failure | None:
        """Ask and act until there is an answer."""
        try:
            model = self._open()
            return await self._loop(model)
        except Exception as error:
            return failure_of(error)

    def _open(self) -> Model:
        keys = self._task["keys"]
        os.environ.update(keys)
        try:
            return open_model(self._task["model"], keys, self._task["address"])
        finally:
            for name in keys:
                os.environ.pop(name, None)

    async def _loop(self, model: Model) -> Failure | None:
        from pydantic_ai.messages import ModelRequest, UserPromptPart
        from pydantic_ai.models import ModelRequestParameters

        tools = TOOLS if self._task["tools"] else ()
        parameters = ModelRequestParameters(function_tools=[_definition(*tool) for tool in tools])
        prompts = [UserPromptPart(sendable(text)) for text in (*self._task["turns"], self._task["prompt"])]
        messages: list[ModelMessage] = [ModelRequest(prompts, instructions=self._instructions)]
        for _ in range(self._task["max_turns"] or _TURNS):
            reply = await self._ask(model, messages, parameters)
            if _broke_off(reply):
                return Failure(FailureKind.CONNECTION, "the model's answer broke off before its end")
            if reply.finish_reason == "length":
                return Failure(FailureKind.AGENT_LIMIT, "the model's answer reached its limit of length")
            if reply.finish_reason == "content_filter":
                return Failure(FailureKind.AGENT_LIMIT, "the model refused")
            if not reply.tool_calls:
                _print("finished", answer=reply.text or "", models=[reply.model_name] if reply.model_name else [])
                return None
            results = [self._act(call) for call in reply.tool_calls]
            messages += [reply, ModelRequest(results, instructions=self._instructions)]
        return Failure(FailureKind.AGENT_LIMIT, "it reached its limit of turns")

    async def _ask(
        self, model: Model, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        """One answer; what is whole of it is told at once."""
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.messages import PartEndEvent, TextPart, ToolCallPart

        asked = model_request_stream(
            model, messages, model_settings=_SETTINGS, model_request_parameters=parameters, instrument=False
        )
        async with _billed(asked) as stream:
            try:
                async for event in stream:
                    match event:
                        case PartEndEvent(part=TextPart(content=text)) if text:
                            _print("text", text=text)
                        case PartEndEvent(part=ToolCallPart() as call):
                            _print("tool_call", id=call.tool_call_id, name=call.tool_name, input=call.args_as_dict())
            finally:
                # A connection lost in mid-answer does not make its tokens free.
                _print_usage(stream)
            return stream.get()

    def _act(self, call: ToolCallPart) -> ToolReturnPart:
        from pydantic_ai.messages import ToolReturnPart

        text, failed = self._toolbox.call(call.tool_name, call.args_as_dict())
        _print("tool_result", call_id=call.tool_call_id, text=text, is_error=failed)
        outcome: Any = "failed" if failed else "success"
        return ToolReturnPart(tool_name=call.tool_name, content=text, tool_call_id=call.tool_call_id, outcome=outcome)


def _broke_off(reply: ModelResponse) -> bool:
    """Whether the stream ended in good order before the answer did, as when a server between closes it.

    The end names its reason; where a server never does (the library then takes it for a stop), the count of tokens
    comes with it.
    """
    named = (reply.provider_details or {}).get("finish_reason")
    return not named and (reply.finish_reason is None or not reply.usage.output_tokens)


@asynccontextmanager
async def _billed(asked: AbstractAsyncContextManager[StreamedResponse]) -> AsyncIterator[StreamedResponse]:
    """The same request; one that was refused or never sent is told to have cost nothing."""
    try:
        async with asked as stream:
            yield stream
    except Exception as error:
        if is_free(error):
            _print("usage", tokens={"input": 0, "output": 0})
        raise


def _definition(name: str, about: str, schema: Mapping[str, Any]) -> ToolDefinition:
    from pydantic_ai.tools import ToolDefinition

    return ToolDefinition(name=name, description=about, parameters_json_schema=dict(schema))


def _print_usage(stream: StreamedResponse) -> None:
    used = stream.usage() if callable(stream.usage) else stream.usage
    read, written = used.cache_read_tokens, used.cache_write_tokens
    # The library counts what a cache held among the input; our meter keeps them apart.
    tokens = {"input": max(0, used.input_tokens - read - written), "output": used.output_tokens}
    told = any(tokens.values()) or read or written
    # A line without tokens says that this answer has a price which nobody knows.
    _print("usage", tokens={**tokens, "cache_read": read, "cache_write": written} if told else None, turns=1)


def _print(kind: str, /, **fields: Any) -> None:
    known = {name: value for name, value in fields.items() if value is not None}
    sys.stdout.buffer.write(json.dumps({"type": kind, **known}).encode() + b"\n")
    sys.stdout.buffer.flush()


def _names(skills: Sequence[Installed]) -> list[str]:
    return [skill.folder for skill in skills]


def _shell_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _close_memory() -> None:
    """Keep others of the same user from reading this process: its memory holds the key."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
