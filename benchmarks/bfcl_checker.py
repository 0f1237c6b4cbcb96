"""BFCL's own checker as a filter: answers come in as JSON lines, its verdicts go out, one a line.

usage: bfcl_checker.py < LINES > VERDICTS, in the environment of `make bfcl`.

The first line is ``{"items": [{id, category, language, functions, truth}, …]}``; each line after it
``[index of an item, "as written" | "underscored", [[name, arguments as JSON text], …]]``. A verdict is
``["valid"]``, ``["invalid", error type, error types of the calls that did not fit…]`` or ``["raised", class, text]``.
The first line out names the version.

The checker's code is used as it is. Only the table of models is another one: the real one imports the clients of
every provider, and all that the checker reads of it is whether a model's names have "_" for ".".
"""

import contextlib
import importlib.metadata
import io
import json
import sys
import types

MODELS = types.ModuleType("bfcl_eval.constants.model_config")
MODELS.MODEL_CONFIG_MAPPING = {  # type: ignore[attr-defined]
    "as written": types.SimpleNamespace(underscore_to_dot=False),
    "underscored": types.SimpleNamespace(underscore_to_dot=True),
}
sys.modules[MODELS.__name__] = MODELS

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.utils import is_empty_output, is_function_calling_format_output  # noqa: E402


def decoded(calls: list[list[str]]) -> list[dict]:
    """The calls as the handlers of function calling models hand them on."""
    return [{name: json.loads(arguments)} for name, arguments in calls]


def verdict(item: dict, names: str, calls: list[list[str]]) -> list[str]:
    """What the benchmark says of one answer; the order of the questions is that of its own runner."""
    try:
        output = decoded(calls)
    except ValueError:
        output = None
    if "relevance" in item["category"]:
        called = output is not None and not is_empty_output(output)
        if "irrelevance" in item["category"]:
            return ["invalid", "irrelevance_error:decoder_success"] if called else ["valid"]
        return ["valid"] if called else ["invalid", "relevance_error:decoder_failed"]
    if output is None:
        return ["invalid", "ast_decoder:decoder_failed"]
    if not is_function_calling_format_output(output):
        return ["invalid", "ast_decoder:decoder_wrong_output_format"]
    language = Language(item["language"].lower())
    result = ast_checker(item["functions"], output, item["truth"], language, item["category"], names)
    if result["valid"]:
        return ["valid"]
    # Where no call fits an expected one, why each call left does not: all but the first entry, which is a sentence.
    closest = [next(iter(entry.values()))["sub_error_type"] for entry in result["error"] if isinstance(entry, dict)]
    return ["invalid", result["error_type"], *closest]


def main() -> None:
    """Answer each line in its order."""
    sys.stdout.write(json.dumps({"bfcl-eval": importlib.metadata.version("bfcl-eval")}) + "\n")
    items = json.loads(sys.stdin.readline())["items"]
    for line in sys.stdin:
        index, names, calls = json.loads(line)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                said = verdict(items[index], names, calls)
        except Exception as error:  # whatever its checker raises is what it says
            said = ["raised", type(error).__name__, str(error)]
        sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
