"""Loading: one document to one evaluation. No code is imported and nothing runs; files that it names are read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from harness.documents import Document, line_document, load_document, read_document
from harness.errors import InvalidValueError, ScenarioError
from harness.scenarios.complaints import scenario_error
from harness.scenarios.evaluation_arm_fields import ArmFields, Descriptions
from harness.scenarios.evaluation_case_fields import CaseFields, TemplateFields
from harness.scenarios.evaluation_cases import LoadedCases, WrittenCases
from harness.scenarios.evaluation_document import evaluation_document
from harness.scenarios.evaluation_fields import CasesFileFields, EvaluationFields
from harness.scenarios.evaluation_lines import CaseLines
from harness.scenarios.evaluation_model_fields import made_evaluation_model
from harness.scenarios.evaluation_source_fields import made_sources
from harness.scenarios.loading import plain
from harness.scenarios.roots import id_of, path_text
from harness.types.evaluation import EVALUATION_FORMAT, Arm, Evaluation, Execute, Grading
from harness.types.jsontext import canonical_json
from harness.types.limits import Limits
from harness.types.scenario import SCENARIO_FORMAT

UNNAMED: Final = "evaluation"
"""The id of an evaluation in Python form that was given none."""
_NOT_IN_DIGEST: Final = ("title", "running", "cases")


def load_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """The evaluation in a YAML (or JSON) file. Raises ScenarioError (file, line, field, what to do)."""
    name = os.fspath(path)
    try:
        document = read_document(name)
    except ScenarioError as error:
        raise _with_advice(error) from None
    return made_evaluation(document, id_of(name), os.path.dirname(name))


def parse_evaluation(text: str | bytes, file: str) -> Evaluation:
    """The evaluation in a text; files that it names are looked for beside ``file``."""
    document = load_document(text, file)
    return made_evaluation(document, PurePath(file).stem or UNNAMED, os.path.dirname(file))


def evaluation(**fields: Any) -> Evaluation:
    """An evaluation in Python: the fields of the YAML form, with the same names and shapes.

    ``format`` may be left out. Files that it names are looked for in the current folder. Raises ScenarioError.
    """
    try:
        value = plain({"format": EVALUATION_FORMAT, **fields})
        canonical_json(value)
    except InvalidValueError as error:
        raise ScenarioError(f"evaluation(): {error}") from None
    return made_evaluation(line_document(value, "evaluation()", 0), UNNAMED, "")


def made_evaluation(document: Document, identity: str, folder: str) -> Evaluation:
    """The evaluation of a document; paths in it start at ``folder``. Raises ScenarioError."""
    if not isinstance(document.value, dict) or "format" not in document.value:
        what = f"is no evaluation; write 'format: {EVALUATION_FORMAT}' first"
        raise ScenarioError(what, file=document.file, line=document.line_of(()) or None)
    if document.value["format"] != EVALUATION_FORMAT:
        form = document.value["format"]
        what = f"must be {EVALUATION_FORMAT!r}, is {form!r}" + (
            "; this is a scenario" if form == SCENARIO_FORMAT else ""
        )
        raise ScenarioError(what, file=document.file, line=document.line_of(("format",)) or None, field="format")
    try:
        fields = EvaluationFields.model_validate(document.value)
    except ValidationError as error:
        raise scenario_error(error, document.value, file=document.file, document=document) from None
    return _Maker(document, fields, folder).made(identity)


def digest_of(value: Evaluation) -> str:
    """The sha256 of the canonical form: all but title, source and how it is run, with the digest of the cases."""
    written = evaluation_document(value, cases_from="-")
    form = {name: part for name, part in written.items() if name not in _NOT_IN_DIGEST}
    return hashlib.sha256(canonical_json({**form, "cases": value.cases.digest}).encode()).hexdigest()


class _Maker:
    """One document on its way to a value."""

    def __init__(self, document: Document, fields: EvaluationFields, folder: str) -> None:
        self._document = document
        self._fields = fields
        self._folder = folder
        self._all_have_systems = True

    def made(self, identity: str) -> Evaluation:
        fields = self._fields
        model, model_from = made_evaluation_model(fields.model)
        cases = LoadedCases(list(self._parts()), self._check)
        value = Evaluation(
            id=fields.id or identity,
            sources=made_sources(fields.tools),
            arms=tuple(arm.made(name, model, self._descriptions(name, arm)) for name, arm in fields.arms.items())
            or (Arm(fields.arm_names()[0]),),
            cases=cases,
            model=model,
            model_from=model_from,
            system=fields.system,
            trials=fields.trials,
            seed=fields.seed,
            gate=None if fields.gate is None else fields.gate.made(fields.arm_names()),
            asking=fields.asking(),
            execute=fields.executed(),
            stubs=tuple((name, fields.stubs[name].made()) for name in sorted(fields.stubs)),
            limits=Limits() if fields.limits is None else fields.limits.made(),
            padding=fields.made_padding(),
            distractor_tools=made_sources(fields.distractor_tools),
            running=fields.running.made(),
            grading=Grading(fields.grading),
            title=fields.title,
            source=path_text(self._document.file),
        )
        self._check_all(cases)
        return replace(value, digest=digest_of(value))

    # ------------------------------------------------------------ cases

    def _parts(self) -> Iterator[WrittenCases | CaseLines]:
        entries = self._fields.cases
        if isinstance(entries, CasesFileFields):
            yield self._lines(entries)
            return
        written: list[tuple[CaseFields, int | None]] = []
        for at, entry in enumerate(entries):
            if isinstance(entry, CasesFileFields):
                yield WrittenCases(self._document.file, written)
                yield self._lines(entry)
                written = []
            else:
                line = self._line("cases", at)
                rows = entry.rows() if isinstance(entry, TemplateFields) else [entry]
                written += [(row, line) for row in rows]
        yield WrittenCases(self._document.file, written)

    def _lines(self, entry: CasesFileFields) -> CaseLines:
        path = self._beside(entry.path)
        return CaseLines(os.path.abspath(path), path_text(path))

    def _check(self, case: CaseFields, file: str, line: int | None) -> None:
        """What a case may not ask of this evaluation."""
        if case.answer is not None and self._fields.executed() is Execute.FIRST:
            what = "is judged where the whole loop runs; give the evaluation 'stubs' or 'execute: true'"
            raise ScenarioError(what, file=file, line=line, field="answer")
        if (case.bfcl is None) is (self._fields.grading == Grading.BFCL):
            has = "has no record of the benchmark" if case.bfcl is None else "is graded by nobody"
            what = f"{has}, and the evaluation says 'grading: {self._fields.grading}'; they belong together"
            raise ScenarioError(what, file=file, line=line, field="bfcl")
        unfit = case.unfit(self._fields.asking())
        if unfit is not None:
            raise ScenarioError(unfit[1], file=file, line=line, field=unfit[0])
        self._all_have_systems = self._all_have_systems and case.system is not None

    def _check_all(self, cases: LoadedCases) -> None:
        """What only all cases together show."""
        gate = self._fields.gate
        if not len(cases):
            raise ScenarioError("has no cases", file=self._document.file, line=self._line("cases"), field="cases")
        if gate is not None and gate.split is not None and gate.split not in cases.splits:
            what = f"no case is in {gate.split!r}, so that nothing would be compared"
            raise ScenarioError(what, file=self._document.file, line=self._line("gate", "split"), field="gate.split")
        changes = next((name for name, arm in self._fields.arms.items() if arm.system is not None), None)
        if changes is not None and self._all_have_systems:
            what = "changes nothing: every case has a system prompt of its own, which goes first"
            place = ("arms", changes, "system")
            raise ScenarioError(what, file=self._document.file, line=self._line(*place), field=".".join(place))

    # ------------------------------------------------------------ files beside the document

    def _descriptions(self, name: str, arm: ArmFields) -> dict[str, str]:
        if not isinstance(arm.descriptions, str):
            return arm.descriptions or {}
        document = read_document(self._beside(arm.descriptions))
        try:
            found: dict[str, str] = TypeAdapter(Descriptions).validate_python(document.value, strict=True)
        except ValidationError as error:
            raise scenario_error(error, document.value, file=document.file, document=document) from None
        return found

    def _beside(self, path: str) -> str:
        return os.path.join(self._folder, path)

    def _line(self, *path: str | int) -> int | None:
        return self._document.line_of(path) or None


def _with_advice(error: ScenarioError) -> ScenarioError:
    if not error.message.startswith(("larger than", "more than")):
        return error
    more = "; cases may stand in a file of lines beside it: 'cases: {from: cases.jsonl}'"
    return ScenarioError(error.message + more, file=error.file, line=error.line, field=error.field)
