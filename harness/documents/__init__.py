"""YAML 1.2 documents: a strict, located reader and a readable writer.

The only place of this package that imports yaml. What is read is JSON: mappings with text keys,
lists, text, whole numbers, finite floats, true, false and null.
"""

from harness.documents.reader import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Document,
    Path,
    line_document,
    load_document,
    read_document,
    shortened,
)
from harness.documents.writer import dump_yaml

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Document",
    "Path",
    "dump_yaml",
    "line_document",
    "load_document",
    "read_document",
    "shortened",
]
