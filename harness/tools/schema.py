"""The schemas of arguments, where the room of the tools looks for them; they are made in ``harness.schemas``."""

from harness.schemas import ArgumentSchema, SchemaLike, path_text, schema_text

__all__ = ["ArgumentSchema", "SchemaLike", "path_text", "schema_text"]
