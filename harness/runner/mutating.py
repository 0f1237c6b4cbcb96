"""A scenario is run once, and its expectations are tried on other behaviours of that run.

Nothing runs for a mutant: it is the run's own trajectory, rewritten and judged again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from harness import checks
from harness.checks import END_STATE_NOTE, BuiltCheck
from harness.checks.reading import place
from harness.documents import dump_yaml
from harness.errors import ConfigurationError, HarnessError
from harness.folds import committed_view, expectations_to_json, outcome_of
from harness.mutants.behaviours import Behaviour, behaviours
from harness.mutants.behaviours.ends import WRITES_MEMORY
from harness.protocols import Check, Subject
from harness.runner.executing import execute
from harness.runner.judging import judge
from harness.runner.mutation_hints import Hints
from harness.runner.pool import LOST
from harness.runner.specs import RunOptions, RunSpec, plan
from harness.scenarios import to_document
from harness.types.codes import PASSING, Outcome
from harness.types.events import Trajectory
from harness.types.jsontext import described
from harness.types.lifecycle import Note
from harness.types.messages import JsonText
from harness.types.mutating import MOST_COUNTED, MutantVerdict, Mutation, MutationKind
from harness.types.records import Verdict
from harness.types.scenario import CallOrder, Scenario

MAX_MUTANTS: Final = 200
_ANY_STATE: Final = JsonText('{"memory":{"$any":true}}')
_JUDGED_BY_ALL: Final = (MutationKind.ANSWER, MutationKind.END, MutationKind.LOOP)
"""Kinds of which a default check may have a say; any other mutant that one refuses contradicts itself."""


@dataclass(frozen=True, slots=True)
class MutationSpec:
    """One scenario to try, with everything needed in another process.

    Mutants of ``allowed`` kinds are told and need not be noticed; at most ``limit`` are judged.
    """

    spec: RunSpec
    allowed: tuple[MutationKind, ...] = ()
    limit: int = MAX_MUTANTS


def plan_mutations(
    scenarios: Sequence[Scenario],
    options: RunOptions,
    *,
    allowed: Iterable[MutationKind | str] = (),
    limit: int = MAX_MUTANTS,
    extra: Collection[str] = (),
) -> tuple[MutationSpec, ...]:
    """One spec for each scenario that is not skipped: its first trial.

    Raises what ``plan`` raises, ConfigurationError for a kind that is none and for a limit below 1.
    """
    if limit < 1:
        raise ConfigurationError(f"limit is {limit}; at least 1 mutant is needed")
    kinds = tuple(_kind(one) for one in allowed)
    specs = plan(scenarios, replace(options, folder=None, trials=1), extra=extra)
    return tuple(MutationSpec(spec, kinds, limit) for spec in specs)


def _kind(name: MutationKind | str) -> MutationKind:
    try:
        return MutationKind(name)
    except ValueError:
        raise ConfigurationError(f"no kind of mutant is called {name!r}; there are {', '.join(MutationKind)}") from None


def mutate_one(
    wanted: MutationSpec, *, subject: Subject | None = None, extra: Mapping[str, Check] | None = None
) -> Mutation:
    """Run one scenario, rewrite its run, judge what comes of it. ``subject`` overrides the one that the options name.

    What the run raises becomes the outcome; KeyboardInterrupt passes.
    """
    scenario = wanted.spec.scenario
    told = Mutation(scenario.id, subject.name if subject else wanted.spec.options.subject, Outcome.ERROR)
    told = replace(told, allowed=wanted.allowed)
    try:
        run, verdicts = _run(wanted.spec, subject, extra)
    except HarnessError as error:
        return replace(told, reference=_outcome_of(error), why=f"{type(error).__name__}: {error}")
    except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
        return replace(told, why=described(error))
    told = replace(told, subject=run.header.subject, reference=outcome_of(verdicts), why=_why(verdicts))
    if told.reference is not Outcome.PASS:
        return told
    return _judged(told, _Trial(run, verdicts, scenario, wanted.spec.options.checks, extra), wanted.limit)


def lost_mutation(wanted: MutationSpec) -> Mutation:
    """What is told of a scenario whose process died."""
    return Mutation(wanted.spec.scenario.id, wanted.spec.options.subject, Outcome.ERROR, why=LOST)


def _outcome_of(error: HarnessError) -> Outcome:
    by_code = {1: Outcome.FAIL, 3: Outcome.INCONCLUSIVE, 4: Outcome.INVALID}
    return by_code.get(error.exit_code, Outcome.ERROR)


def _why(verdicts: Sequence[Verdict]) -> str:
    """The first finding of what is no pass; "" where all is one."""
    for verdict in verdicts:
        if verdict.outcome not in PASSING:
            return f"{verdict.check}: {verdict.findings[0].message if verdict.findings else verdict.why}"
    return ""


def _run(
    spec: RunSpec, subject: Subject | None, extra: Mapping[str, Check] | None
) -> tuple[Trajectory, tuple[Verdict, ...]]:
    """The run as it is, with a note on its memory also where its scenario does not ask for one."""
    expect = spec.scenario.expect
    noted = expect.end_state or (_ANY_STATE if WRITES_MEMORY in spec.scenario.tools.use else None)
    asking = replace(spec, scenario=replace(spec.scenario, expect=replace(expect, end_state=noted)))
    run = execute(asking, subject=subject, extra=dict(extra) if extra else None).trajectory
    run = replace(run, header=replace(run.header, expectations=expectations_to_json(expect)))
    return run, judge(run, spec.options.checks, extra)


# ---------------------------------------------------------------- judging mutants


@dataclass(frozen=True, slots=True)
class _Trial:
    """The run that passes, and how it is judged."""

    run: Trajectory
    verdicts: tuple[Verdict, ...]
    scenario: Scenario
    names: tuple[str, ...] | None
    extra: Mapping[str, Check] | None

    def verdict(self, one: Behaviour) -> MutantVerdict | None:
        """What notices a mutant; None for one that could not have happened: a default check refuses it."""
        said = judge(one.trajectory, self.names, self.extra)
        if one.kind not in _JUDGED_BY_ALL and self._refused(one, said):
            return None
        fine = {verdict.check for verdict in self.verdicts if verdict.outcome in PASSING}
        known = {verdict.check for verdict in self.verdicts}
        new = [v for v in said if v.outcome not in PASSING and (v.check in fine or v.check not in known)]
        told = MutantVerdict(one.kind, one.what, _place(one), one.before, one.after)
        return replace(told, noticed_by=tuple(verdict.check for verdict in new), message=_why(new))

    def _refused(self, one: Behaviour, said: Sequence[Verdict]) -> bool:
        if self.names is not None:  # not all of them were asked
            said = checks.judge(one.trajectory, names=_DEFAULT)
        return any(verdict.outcome is Outcome.FAIL and verdict.check in _DEFAULT for verdict in said)


_DEFAULT: Final = frozenset(
    name for name, check in checks.CHECKS.items() if not (isinstance(check, BuiltCheck) and check.expectation)
)


def _judged(told: Mutation, trial: _Trial, limit: int) -> Mutation:
    found: list[tuple[Behaviour, MutantVerdict]] = []
    n_left_out = n_unsound = n_meant = 0
    for one in _different(trial.run):
        if one.kind is MutationKind.ORDER and _any_order(trial.scenario):
            n_meant += 1
        elif n_left_out == max(limit, MOST_COUNTED):
            break  # of a long run it would take longer to count them than to judge some
        elif len(found) == limit:
            n_left_out += 1
        else:
            ways = (replace(one, trajectory=way) for way in (one.trajectory, *one.instead))
            judged = ((way, verdict) for way in ways if (verdict := trial.verdict(way)) is not None)
            first = next(judged, None)
            n_unsound += first is None
            found += [first] if first is not None else []
    kinds = list(MutationKind)
    found.sort(key=lambda pair: kinds.index(pair[1].kind))
    mutants, advice = _advised(trial, found, told.allowed)
    told = replace(told, mutants=mutants, advice=advice)
    return replace(told, n_left_out=n_left_out, n_unsound=n_unsound, n_meant=n_meant)


def _any_order(scenario: Scenario) -> bool:
    """Whether the scenario says of its calls what they are, and leaves their order open."""
    orders = {wanted.order for wanted in scenario.expect.calls}
    return bool(orders) and not orders & {CallOrder.EXACT, CallOrder.IN_ORDER} and not scenario.expect.before


def _different(run: Trajectory) -> Iterator[Behaviour]:
    """Mutants that are neither the run itself nor one another."""
    seen = {_essence(run, MutationKind.CALLS), _essence(run, MutationKind.LOOP)}
    for one in behaviours(run):
        essence = _essence(one.trajectory, one.kind)
        if essence not in seen:
            seen.add(essence)
            yield one


def _essence(trajectory: Trajectory, kind: MutationKind) -> int:
    """What two runs are told apart by: the committed view and the state left behind; for faults of the loop, all."""
    facts = [event.fact for event in trajectory.events]
    if kind is MutationKind.LOOP:
        return hash(repr(facts))
    state = [fact.data for fact in facts if isinstance(fact, Note) and fact.name == END_STATE_NOTE]
    return hash(repr(([viewed.key for viewed in committed_view(trajectory)], state)))


def _advised(
    trial: _Trial, found: Sequence[tuple[Behaviour, MutantVerdict]], allowed: Collection[MutationKind]
) -> tuple[tuple[MutantVerdict, ...], str]:
    """Mutants with a hint where none notices them, and one block that notices all that can be."""
    hints = Hints(trial.run)
    written: dict[str, Any] = to_document(trial.scenario).get("expect", {})
    together = dict(written)
    mutants, wanted = [], []
    for behaviour, verdict in found:
        if verdict.noticed:
            mutants.append(verdict)
            continue
        fields = hints.for_mutant(behaviour, written)
        mutants.append(replace(verdict, hint=_block(fields), fields=tuple(fields)))
        if fields and verdict.kind not in allowed:
            wanted.append(behaviour.trajectory)
            if not hints.notices(together, behaviour.trajectory):
                together |= hints.for_mutant(behaviour, together)
    return tuple(mutants), _block(_needed(hints, written, together, wanted))


def _needed(
    hints: Hints, written: Mapping[str, Any], together: Mapping[str, Any], wanted: Sequence[Trajectory]
) -> dict[str, Any]:
    """The new fields without those that the others make needless."""
    new = {name: value for name, value in together.items() if written.get(name) != value}
    for name in list(new):
        fewer = {**written, **{other: value for other, value in new.items() if other != name}}
        if all(hints.notices(fewer, trajectory) for trajectory in wanted):
            del new[name]
    return new


def _block(fields: Mapping[str, Any]) -> str:
    return dump_yaml({"expect": dict(fields)}) if fields else ""


def _place(one: Behaviour) -> str:
    told = (place(one.event), f"event {one.event.seq}", f"call {one.nth}" if one.nth else "")
    return ", ".join(text for text in told if text)
