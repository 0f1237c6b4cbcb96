"""Serve the local model on loopback with the OpenAI-compatible server of llama.cpp (package xllamacpp).

Prints `READY <url>` on standard output once requests are answered, and runs until SIGTERM or SIGINT.
Exit codes: 0 stopped by a signal, 1 could not start (the reason is on standard error), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODEL_FILE = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
MODEL_NAME = "local-model"
HOST = "127.0.0.1"
GGUF_MAGIC = b"GGUF"


class CannotServe(Exception):
    """The server cannot start. The message says what is missing, and what to do."""


def default_model() -> Path:
    """Where setup.sh puts the model: HARNESS_MODEL_DIR, else `.model` at the root of the repository."""
    return Path(os.environ.get("HARNESS_MODEL_DIR") or HERE.parents[1] / ".model") / MODEL_FILE


def count(text: str) -> int:
    """An argument that must be a whole number from 1 up."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {number}")
    return number


def port_number(text: str) -> int:
    """An argument that must be a TCP port, 1 to 65535."""
    number = count(text)
    if number > 65_535:
        raise argparse.ArgumentTypeError(f"must be at most 65535, not {number}")
    return number


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Command line; every option has the value that the shipped cassettes were recorded with."""
    parser = argparse.ArgumentParser(description="Serve the local model on loopback, OpenAI-compatible.")
    parser.add_argument("--model", type=Path, default=default_model(), help="GGUF file (default: %(default)s)")
    parser.add_argument("--port", type=port_number, default=8091, help="port on 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--threads", type=count, default=2, help="default: %(default)s; use 1 on a busy machine")
    parser.add_argument("--template", type=Path, default=HERE / "fence.jinja", help="chat template, Jinja")
    parser.add_argument("--context-tokens", type=count, default=8192, help="shared by the slots")
    parser.add_argument("--slots", type=count, default=2, help="requests answered at the same time")
    parser.add_argument("--answer-tokens", type=count, default=512, help="longest answer if a request sets none")
    return parser.parse_args(argv)


def require_gguf(path: Path) -> None:
    """Raises CannotServe unless `path` is a file that starts like a GGUF."""
    try:
        with path.open("rb") as source:
            magic = source.read(len(GGUF_MAGIC))
    except OSError as error:
        raise CannotServe(f"no model at {str(path)!r} ({error.strerror}). Run `make model` first.") from error
    if magic != GGUF_MAGIC:
        raise CannotServe(f"{str(path)!r} is not a GGUF file. Check --model, or run `make model` again.")


def require_free_port(port: int) -> None:
    """Raises CannotServe when something listens on the port already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise CannotServe(
                f"port {port} on {HOST} cannot be used ({error.strerror}). "
                "Is a model server running already? Stop it, or choose another --port."
            ) from error


def read_template(path: Path) -> str:
    """Text of the chat template. Raises CannotServe when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotServe(f"no chat template at {str(path)!r} ({error}). Check --template.") from error


def load_library() -> Any:
    """The xllamacpp module, by name: it has no types and lives in an environment of its own."""
    try:
        return importlib.import_module("xllamacpp")
    except ImportError as error:
        raise CannotServe(
            f"package 'xllamacpp' cannot be imported by {sys.executable!r} ({error}). "
            "Run `make model`, then start this script with .venv-model/bin/python."
        ) from error


def server_parameters(library: Any, arguments: argparse.Namespace) -> Any:
    """Parameters of xllamacpp's server, from the command line."""
    parameters = library.CommonParams()
    parameters.model.path = str(arguments.model)
    parameters.model_alias = {MODEL_NAME}
    parameters.hostnames, parameters.port = [HOST], arguments.port
    parameters.ui = False
    parameters.n_ctx, parameters.n_parallel = arguments.context_tokens, arguments.slots
    parameters.n_predict = arguments.answer_tokens
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads = arguments.threads
        # Threads that spin while they wait for one another slow each other down on a shared processor.
        threads.poll = 0
    # llama.cpp derives its parser of tool calls from the template: with the model's own, it finds none.
    parameters.chat_template = read_template(arguments.template)
    return parameters


def start_server(arguments: argparse.Namespace) -> Any:
    """A running server; keep the object. Raises CannotServe."""
    require_gguf(arguments.model)
    library = load_library()
    parameters = server_parameters(library, arguments)
    require_free_port(arguments.port)
    try:
        return library.Server(parameters)
    except RuntimeError as error:
        raise CannotServe(f"llama.cpp did not start ({error}). Its log above says why.") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until a signal; gives the exit code."""
    arguments = parse_arguments(argv)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        server = start_server(arguments)
    except CannotServe as reason:
        sys.stderr.write(f"model server: {reason}\n")
        return 1
    sys.stdout.write(f"READY {server.listening_address}\n")
    sys.stdout.flush()
    stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
