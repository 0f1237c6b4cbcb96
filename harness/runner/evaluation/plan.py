"""What of an evaluation is to be run: which arms, cases and trials, who answers, and what that may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

from harness.errors import ConfigurationError, NothingToRunError, UsageError
from harness.redaction import known_secrets
from harness.runner.evaluation.order import WHOLE, Place, Shard, block, n_places
from harness.runner.seats import DEFAULT_MODEL, as_environment_says
from harness.runner.specs import ModelSource
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Case, Evaluation, ToolSnapshot
from harness.types.limits import Prices
from harness.types.model_spec import ModelSpec
from harness.types.trials import TrialKey, TrialsHeader

RequestOf: TypeAlias = Callable[[Evaluation, Arm, Case, ToolSnapshot], ModelCall]
"""What a model is asked of a case under an arm."""

FAMILY: Final = "evaluations"
_LIVE: Final = (ModelSource.LIVE, ModelSource.RECORD)


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What a caller chose. ``arms`` are names (none: all); ``trials`` None: as the evaluation says.

    ``model`` names the user's own function where ``source`` is OWN. ``folder`` is where everything is kept. ``jobs``
    are processes, for models that answer inside of them. ``prices`` are by name of model.
    """

    folder: Path
    source: ModelSource = ModelSource.AUTO
    model: str | None = None
    arms: tuple[str, ...] = ()
    trials: int | None = None
    shard: Shard = WHOLE
    cassettes: Path = Path("cassettes")
    jobs: int = 1
    prices: Mapping[str, Prices] = field(default_factory=dict)
    environ: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values of the environment that must never be written."""
        return known_secrets(dict(self.environ))


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """An evaluation with everything decided. ``arms`` are positions; ``own`` names the function that answers;
    ``upto`` is the last block that is asked now (None: all).
    """

    evaluation: Evaluation
    snapshot: ToolSnapshot
    options: EvaluationOptions
    request_of: RequestOf
    source: ModelSource
    own: str
    arms: tuple[int, ...]
    trials: int
    upto: int | None = None
    distractors: ToolSnapshot | None = None

    @property
    def n_planned(self) -> int:
        """How many trials that is in all, in this shard."""
        return n_places(
            n_cases=len(self.evaluation.cases), n_arms=len(self.arms), trials=self.trials, shard=self.options.shard
        )

    def places(self, shard: Shard) -> Iterator[Place]:
        """All trials of a share of this shard, block by block."""
        evaluation = self.evaluation
        for trial in range(1, (self.upto or self.trials) + 1):
            yield from block(trial, n_cases=len(evaluation.cases), arms=self.arms, seed=evaluation.seed, shard=shard)

    def key(self, place: Place, case: Case) -> TrialKey:
        """The key of a trial."""
        return TrialKey(case.id, self.evaluation.arms[place.arm].name, place.trial)

    def model_of(self, arm: int) -> ModelSpec:
        """How the model of an arm is asked."""
        found = self.evaluation.arms[arm].model or self.evaluation.model or ModelSpec(DEFAULT_MODEL)
        return as_environment_says(found, self.options.environ)

    def prices_of(self, arm: int) -> Prices | None:
        """What the model of an arm costs; None where nobody says."""
        return self.options.prices.get(self.model_of(arm).name)

    @property
    def header(self) -> TrialsHeader:
        """The first line of the file of trials."""
        evaluation = self.evaluation
        return TrialsHeader(
            evaluation=evaluation.id,
            digest=evaluation.digest,
            tools_digest=self.snapshot.digest,
            model=self.own or (self.evaluation.model or ModelSpec(DEFAULT_MODEL)).name,
            arms=tuple(evaluation.arms[arm].name for arm in self.arms),
            n_cases=len(evaluation.cases),
            trials=self.trials,
            shard=str(self.options.shard),
        )

    @property
    def recorded_as(self) -> str:
        """Under which name its recordings lie below the folder of cassettes."""
        return f"{FAMILY}/{self.evaluation.id}"


def plan_evaluation(
    evaluation: Evaluation,
    snapshot: ToolSnapshot,
    options: EvaluationOptions,
    *,
    request_of: RequestOf,
    distractors: ToolSnapshot | None = None,
) -> EvaluationPlan:
    """Decide everything, and look that all that is named is there. Nothing is asked of anybody.

    Raises UsageError kin, NothingToRunError where there is no trial.
    """
    from harness.runner.evaluation.answerers import source_decided
    from harness.runner.evaluation.bodies import check_bodies
    from harness.runner.evaluation.whole_loop import check_beginnings

    arms = _arms(evaluation, options.arms)
    trials = evaluation.trials if options.trials is None else options.trials
    if trials < 1:
        raise ConfigurationError(f"trials is {trials}; at least 1 is needed")
    made = EvaluationPlan(
        evaluation, snapshot, options, request_of, options.source, "", arms, trials, None, distractors
    )
    source, own = source_decided(made)
    made = replace(made, source=source, own=own, evaluation=_as_named(evaluation, source, options))
    if made.n_planned == 0:
        raise NothingToRunError(f"no trials: {evaluation.id!r} has no cases in shard {options.shard}")
    check_bodies(made)
    check_beginnings(made)
    if options.jobs < 1:
        raise ConfigurationError(f"jobs is {options.jobs}; at least 1 is needed")
    if options.jobs > 1 and source is not ModelSource.OWN:
        raise UsageError(
            "-j is for models that answer inside this process; requests to an endpoint are made side by side anyway: "
            "say how many in the evaluation (running: {at_once: 8})"
        )
    return made


def _as_named(evaluation: Evaluation, source: ModelSource, options: EvaluationOptions) -> Evaluation:
    """Live, HARNESS_MODEL names the model where an arm does not name its own."""
    named = dict(options.environ).get("HARNESS_MODEL", "").strip()
    if not named or source not in _LIVE:
        return evaluation
    old = evaluation.model or ModelSpec(DEFAULT_MODEL)
    same = [arm.model is not None and arm.model.name == old.name for arm in evaluation.arms]
    arms = tuple(
        replace(arm, model=replace(arm.model or old, name=named)) if is_same else arm
        for arm, is_same in zip(evaluation.arms, same, strict=True)
    )
    return replace(evaluation, model=replace(old, name=named), arms=arms)


def _arms(evaluation: Evaluation, names: tuple[str, ...]) -> tuple[int, ...]:
    there = [arm.name for arm in evaluation.arms]
    unknown = [name for name in names if name not in there]
    if unknown:
        raise UsageError(f"--arm: {unknown[0]!r} is no arm of {evaluation.id!r}; there are {', '.join(there)}")
    return tuple(at for at, name in enumerate(there) if not names or name in names)
