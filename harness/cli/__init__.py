"""The command line. Thin: parse, call the runner, print."""

from harness.cli.main import main

__all__ = ["main"]
