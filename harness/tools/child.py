"""What a child process runs: one function named in a request file, its reply into another file.

Run as a script with the folder of both files; it imports nothing of ours before the request has
told it where to look.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final

REQUEST: Final = "request.json"
REPLY: Final = "reply.json"


def find(module: str, path: str) -> Callable[..., Any] | None:
    """The object of that qualified name in that module; None where there is none."""
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    result = getattr(found, "function", found)  # a decorated tool stands where its function stood
    return result if callable(result) else None


async def _call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    value = function(**arguments)
    return await value if inspect.isawaitable(value) else value


def reply_of(module: str, path: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Run the function; its content, or what it raised by class and text."""
    from harness.errors import InvalidValueError, ToolError
    from harness.tools.content import output_of

    try:
        function = find(module, path)
        if function is None:
            raise LookupError(f"no function {path!r} in module {module!r}")
        output = output_of(asyncio.run(_call(function, arguments)))
    except ToolError as error:
        return {"message": str(error), "code": error.code}
    except InvalidValueError as error:
        return {
            "message": f"it ran, but returned what is neither text nor JSON: {error}",
            "code": "INVALID_TOOL_OUTPUT",
        }
    except (Exception, SystemExit) as error:
        return {"message": str(error), "class": type(error).__name__}
    return {
        "content": output.content,
        "empty": output.empty,
        "concludes": output.concludes,
        "context": list(output.context),
    }


def main(folder: str) -> None:
    """Read the request, run, write the reply whole or not at all."""
    with open(os.path.join(folder, REQUEST), encoding="utf-8") as file:
        request = json.load(file)
    sys.path[:] = request["path"]
    reply = reply_of(request["module"], request["function"], request["arguments"])
    unfinished = os.path.join(folder, REPLY + ".part")
    with open(unfinished, "w", encoding="utf-8", errors="replace") as file:
        json.dump(reply, file)
    os.replace(unfinished, os.path.join(folder, REPLY))


if __name__ == "__main__":
    main(sys.argv[1])
