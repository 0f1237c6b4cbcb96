"""Sweeps of limits: one below what the reference needed, as much, and one more (CONFORMANCE 89 to 93, 100).

What a run needs of a limit is the smallest value under which nothing changes: one more than what was used up
when the last body or request began that the limit could have kept from beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from harness.folds import Budget, History
from harness.types.codes import Code, LimitKind
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult, ToolStart
from harness.types.lifecycle import ApprovalAsked, RunEnd, StepStart, TurnEnd, TurnStart
from harness.types.limits import Limits, Repeats
from harness.types.reasons import LimitHit
from harness.types.scenario import Scenario

_ENDLESS: Final = 2**53
_OF_TIME: Final = (LimitKind.WALL_TIME, LimitKind.TURN_TIME)
_NAMES: Final = {
    LimitKind.STEPS: ("steps", 0),
    LimitKind.TOOL_CALLS: ("tool_calls", 0),
    LimitKind.TOKENS: ("tokens", 1),
    LimitKind.COST: ("cost_micro_usd", 1),
    LimitKind.CONTEXT: ("context_tokens", 1),
    LimitKind.REPEATS: ("repeats.same", 2),
}
"""How a scenario calls each limit, and the smallest value that it takes; in their order of precedence (101)."""
_NOTHING: Final = {
    LimitKind.STEPS: "no request was made",
    LimitKind.TOOL_CALLS: "no body began",
    LimitKind.TOKENS: "no answer before the last request or body reports its usage",
    LimitKind.COST: "no answer before the last request or body reports its usage",
    LimitKind.CONTEXT: "no request was made",
    LimitKind.REPEATS: "nothing was asked twice in a row",
}


@dataclass(frozen=True, slots=True)
class SweptLimit:
    """A limit and its values; under ``needed`` and more nothing changes, under less event ``blocked`` cannot be."""

    which: LimitKind
    needed: int
    blocked: int
    values: tuple[int, ...]

    @property
    def name(self) -> str:
        """Its name in a scenario; of repeats, ``repeats.same``."""
        return _NAMES[self.which][0]

    def set_to(self, value: int, limits: Limits) -> Limits:
        """The limits with this one at ``value``."""
        if self.which is LimitKind.REPEATS:
            return replace(limits, repeats=replace(limits.repeats or Repeats(), same=value))
        changed: Limits = replace(limits, **{self.name: value})  # type: ignore[arg-type]  # all of them are numbers
        return changed


def limits_to_sweep(
    scenario: Scenario, reference: Trajectory, *, asked: bool
) -> tuple[tuple[SweptLimit, ...], tuple[str, ...]]:
    """Every limit that the reference used something of, and why each other one is not swept.

    A loop whose turns are not seen counts by itself: its steps are swept where limits were ``asked`` for by name, the
    rest only where the scenario sets it, too. A limit that ended the reference is not given more.
    """
    told = dict(reference.header.observed)
    needs, counts_itself = _needs(scenario, reference), "turn/start" not in told
    inherited = _more_in_children(scenario, reference)
    if counts_itself and not asked:
        return (), ()
    swept: list[SweptLimit] = []
    skipped: dict[str, list[str]] = {}
    for which, (name, least) in _NAMES.items():
        at = needs.get(which)
        why = _not_observable(which, scenario) or ("" if at else _NOTHING[which])
        why = "a child uses as much of it" if at and which in inherited else why
        if counts_itself and which is not LimitKind.STEPS and _declared(which, scenario.limits) is None:
            why = "the loop counts by itself, and the scenario sets no such limit"
        if at is None or why:
            skipped.setdefault(why, []).append(name)
            continue
        swept.append(SweptLimit(which, at[0] + 1, at[1], tuple(_values(which, at[0], least, scenario, reference))))
    return tuple(swept), tuple(f"not swept: limits.{', '.join(names)}: {why}" for why, names in skipped.items())


def _not_observable(which: LimitKind, scenario: Scenario) -> str:
    if which is LimitKind.COST and scenario.limits.prices is None:
        return "the scenario gives no prices"
    if which is not LimitKind.CONTEXT:
        return ""
    if scenario.context.compact is not None or scenario.context.window is not None:
        return "the run makes its history shorter by itself"
    return "what is offered changes from step to step" if scenario.tools.visible_from else ""


def _values(which: LimitKind, below: int, least: int, scenario: Scenario, reference: Trajectory) -> Iterator[int]:
    if below >= least:
        yield below
    declared = _declared(which, scenario.limits)
    if which in _ended_by(reference) and declared is not None:
        yield declared
        return
    yield from (max(below + 1, least), max(below + 2, least + 1))


def _declared(which: LimitKind, limits: Limits) -> int | None:
    if which is LimitKind.REPEATS:
        return limits.repeats.same if limits.repeats else None
    value: int | None = getattr(limits, _NAMES[which][0])
    return value


def _ended_by(trajectory: Trajectory) -> set[LimitKind]:
    """The limits that ended a turn, or the run."""
    ended = (event.fact.reason for event in trajectory if isinstance(event.fact, TurnEnd | RunEnd) and not event.agent)
    return {reason.which for reason in ended if isinstance(reason, LimitHit)}


# ---------------------------------------------------------------- what the reference needed


@dataclass(slots=True)
class _Used:
    """Follows one agent of the reference: what was used up when something began, and the first place of the most."""

    agent: str
    budget: Budget
    by_steps: bool
    n_steps: int = 0
    n_skipped: int = 0
    history: History = field(default_factory=History)
    most: dict[LimitKind, tuple[int, int]] = field(default_factory=dict)

    def apply(self, event: Event) -> None:
        """Take the next event into account."""
        own = event.agent == self.agent
        if own:
            self._look(event)
        self.budget.apply(event)
        self.history.apply(event)
        match event.fact:
            case TurnStart() if own:
                self.n_steps = 0
            case StepStart() if own and self.by_steps:
                self.n_steps, self.n_skipped = self.n_steps + 1, 0
            case ToolResult(code=Code.SKIPPED) if own:
                self.n_skipped += 1
            case AssistantMessage() if own and not self.by_steps:
                self.n_steps += 1
            case _:
                pass

    def _look(self, event: Event) -> None:
        budget = self.budget
        match event.fact:
            case StepStart():
                self._note(LimitKind.STEPS, self.n_steps, event)
            case ModelRequest(attempt=1, messages=messages):
                if not self.by_steps:
                    self._note(LimitKind.STEPS, self.n_steps, event)
                self._spent(event)
                if budget.sizes is not None:
                    self._note(LimitKind.CONTEXT, budget.sizes.of(messages) - 1, event)
            case ToolStart(attempt=1, within=None) | ApprovalAsked():  # nobody is asked about what may not begin
                self._note(LimitKind.TOOL_CALLS, budget.n_bodies, event)
                self._spent(event)
            case TurnEnd(reason=LimitHit(which=which)) if which not in _OF_TIME:
                self._refused(which, event)
            case _:
                pass

    def _spent(self, event: Event) -> None:
        self._note(LimitKind.TOKENS, self.budget.n_tokens, event)
        self._note(LimitKind.COST, self.budget.micro_usd, event)
        if self.budget.circles is not None:
            self._note(LimitKind.REPEATS, self.budget.circles.n_same, event)

    def _refused(self, by: LimitKind, event: Event) -> None:
        """Something more was to begin, and a limit was in the way: those that come before it need as much (101)."""
        used = {LimitKind.TOKENS: self.budget.n_tokens, LimitKind.COST: self.budget.micro_usd}
        if self.n_skipped:  # it was a body
            used[LimitKind.TOOL_CALLS] = self.budget.n_bodies
        else:
            used[LimitKind.STEPS] = self.n_steps
            if self.budget.sizes is not None:
                used[LimitKind.CONTEXT] = self.budget.sizes.of(self.history.messages) - 1
        order = list(_NAMES)
        for which in order[: order.index(by)]:
            if which in used:
                self._note(which, used[which], event)

    def _note(self, which: LimitKind, amount: int, event: Event) -> None:
        if which not in self.most or amount > self.most[which][0]:
            self.most[which] = (amount, event.seq)


def _needs(scenario: Scenario, reference: Trajectory) -> dict[LimitKind, tuple[int, int]]:
    """The most of each limit that was used up when something of the main agent began, and the event that began then.

    Nothing for a limit of which nothing was used.
    """
    used = _followed(scenario.limits, reference)
    return {which: at for which, at in used[""].most.items() if at[0] >= _LEAST_USED[which]}


def _more_in_children(scenario: Scenario, reference: Trajectory) -> set[LimitKind]:
    """Limits of which a child used more than the main agent: it takes them over, and would be the one to end."""
    used = _followed(scenario.limits, reference)
    main, children = used[""].most, [one.most for agent, one in used.items() if agent]
    return {
        which
        for most in children
        for which, at in most.items()
        if which is not LimitKind.STEPS and at[0] >= main.get(which, (0, 0))[0]
    }


def _followed(limits: Limits, reference: Trajectory) -> dict[str, _Used]:
    exclude = limits.repeats.exclude if limits.repeats else ()
    endless = Limits(
        tool_calls=_ENDLESS,
        tokens=_ENDLESS,
        cost_micro_usd=_ENDLESS,
        prices=limits.prices,
        context_tokens=_ENDLESS,
        repeats=Repeats(same=_ENDLESS, exclude=exclude),
    )
    by_steps = StepStart.TYPE in dict(reference.header.observed)
    agents = dict.fromkeys(("", *(event.agent for event in reference)))
    used = {agent: _Used(agent, Budget(endless, agent), by_steps, history=History(agent)) for agent in agents}
    for event in reference:
        for one in used.values():
            one.apply(event)
    return used


_LEAST_USED: Final[dict[LimitKind, int]] = {
    LimitKind.STEPS: 0,
    LimitKind.TOOL_CALLS: 0,
    LimitKind.TOKENS: 1,
    LimitKind.COST: 1,
    LimitKind.CONTEXT: 1,
    LimitKind.REPEATS: 2,
}


def most_steps(trajectory: Trajectory) -> int:
    """The most steps that a turn of the main agent began; answers of the run where steps are not seen."""
    used = _Used("", Budget(Limits()), StepStart.TYPE in dict(trajectory.header.observed))
    most = 0
    for event in trajectory:
        used.apply(event)
        most = max(most, used.n_steps)
    return most
