"""JSON Schemas of arguments: what a tool takes, and what is wrong with what it was given."""

from harness.schemas.arguments import ArgumentSchema, Fault, SchemaLike, path_text, schema_text
from harness.schemas.reading import read_arguments

__all__ = ["ArgumentSchema", "Fault", "SchemaLike", "path_text", "read_arguments", "schema_text"]
