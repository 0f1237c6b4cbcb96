"""Scenarios: documents (``format: harness-scenario/1``) and Python to values, and back.

Loading is a pure function of the document: no code is imported and nothing runs.
"""

from harness.scenarios.anywhere import scenarios_anywhere
from harness.scenarios.collecting import collect, holds_scenarios, is_scenario_file
from harness.scenarios.document import to_document
from harness.scenarios.lifted import Lifted, lift, scenario_text
from harness.scenarios.loading import SUFFIXES, digest_of, load_scenario, parse_scenario, refusal, scenario
from harness.scenarios.roots import id_of
from harness.scenarios.schema import SCHEMA_FILE, scenario_schema
from harness.scenarios.script_fields import follows_history
from harness.scenarios.selecting import selection

__all__ = [
    "SCHEMA_FILE",
    "SUFFIXES",
    "Lifted",
    "collect",
    "digest_of",
    "follows_history",
    "holds_scenarios",
    "id_of",
    "is_scenario_file",
    "lift",
    "load_scenario",
    "parse_scenario",
    "refusal",
    "scenario",
    "scenario_schema",
    "scenario_text",
    "scenarios_anywhere",
    "selection",
    "to_document",
]
