"""A small correct loop, and the same with one fault each: subjects like other people's loops."""

from __future__ import annotations

from typing import Final

from harness.mutants.plain.ending import (
    AsksAfterItsCancel,
    AsksAgainAfterItsCancel,
    BeginsAnewAfterAnError,
    CommitsAPlaceholder,
    GoesOnWithoutAnAnswer,
    IgnoresTheLimit,
    LeaksATask,
    LeavesABodyRunning,
    LeavesASiblingRunning,
    NeverNoticesItsCancel,
    RewordsTheTask,
    RunsTheNextCallAfterItsCancel,
    ShieldsItsTools,
    StartsAToolAfterItsCancel,
    SwallowsItsCancel,
    TakesACancelForAResult,
    TakesOneStepLess,
    TakesOneStepMore,
    TellsACancelAsALimit,
    TellsALimitAsCompleted,
    TellsSuccessAsALimit,
    TellsSuccessAsCancelled,
    TellsSuccessAsIncomplete,
    WorksLateAfterItsCancel,
)
from harness.mutants.plain.loop import PlainLoop
from harness.mutants.plain.work import (
    AltersEarlierResults,
    AnswersUnderAStrangeId,
    ChangesArguments,
    CompletesACutAnswer,
    CompletesAnEmptyAnswer,
    DiesOfATool,
    DoublesAResult,
    DropsTheAnswer,
    DropsToolsLater,
    EchoesFewerCalls,
    EchoesOtherArguments,
    InventsArguments,
    LosesAFailedResult,
    LosesAResult,
    OffersFewerToolsLater,
    RemindsBeforeResults,
    RetriesWhatMayNotBeRepeated,
    ReversesResults,
    RunsAnotherForAnUnknownTool,
    RunsAnotherTool,
    RunsAToolUnasked,
    RunsCallsOfACutAnswer,
    RunsCallsOfAFilteredAnswer,
    RunsEachToolTwice,
    RunsEarlierCallsAgain,
    RunsToolsBeforeItAsks,
    ShowsEachOthersResults,
    ShowsItsTraceback,
    ShowsTheLastResultForAll,
    SwallowsAModelError,
    SwapsIds,
    TrimsInsideAPair,
)

_W: Final = "two calls, then one"
_C: Final = "cancelled at work"
_F: Final = "a tool fails"
_L: Final = "never ends"
BROKEN_PLAIN: Final[tuple[tuple[type[PlainLoop], str, str], ...]] = (
    (RunsEachToolTwice, _W, ""), (RunsAToolUnasked, _W, ""), (ChangesArguments, _W, ""), (RunsAnotherTool, "one call", ""),
    (RunsAnotherForAnUnknownTool, "an unknown tool", ""), (InventsArguments, "malformed arguments", ""),
    (RunsToolsBeforeItAsks, "one call", ""), (RunsEarlierCallsAgain, _W, ""), (RetriesWhatMayNotBeRepeated, _F, ""),
    (RunsCallsOfACutAnswer, "a cut answer", ""), (RunsCallsOfAFilteredAnswer, "a filtered answer", ""),
    (CompletesACutAnswer, "a cut answer", ""), (CompletesAnEmptyAnswer, "an empty answer", ""),
    (SwallowsAModelError, "the model fails", ""), (DiesOfATool, _F, ""), (LosesAResult, _W, ""), (LosesAFailedResult, _F, ""),
    (DoublesAResult, _W, ""), (ShowsEachOthersResults, _W, ""), (ShowsTheLastResultForAll, "two slow calls", ""),
    (SwapsIds, _W, ""), (AnswersUnderAStrangeId, "one call", ""), (ReversesResults, _W, ""),
    (AltersEarlierResults, _W, ""), (DropsToolsLater, _W, ""), (OffersFewerToolsLater, _W, ""),
    (TrimsInsideAPair, _W, ""),
    (DropsTheAnswer, _W, ""), (EchoesOtherArguments, _W, ""), (EchoesFewerCalls, _W, ""), (TakesOneStepMore, _L, ""),
    (TakesOneStepLess, _L, ""), (IgnoresTheLimit, _L, ""), (TellsALimitAsCompleted, _L, ""), (TellsSuccessAsALimit, _W, ""),
    (TellsSuccessAsCancelled, _W, ""), (SwallowsItsCancel, _C, ""), (TellsACancelAsALimit, _C, ""),
    (TakesACancelForAResult, _C, ""), (AsksAfterItsCancel, _C, ""), (StartsAToolAfterItsCancel, _C, ""),
    (WorksLateAfterItsCancel, _C, ""), (ShieldsItsTools, _W, "cancel"), (NeverNoticesItsCancel, _C, ""),
    (LeaksATask, _W, "cancel"), (LeavesASiblingRunning, _W, "tool-error"), (LeavesABodyRunning, "two slow calls", ""),
    (ShowsItsTraceback, _F, ""), (RemindsBeforeResults, "one call, whatever comes of it", ""), (TellsSuccessAsIncomplete, "one call", ""),
    (RewordsTheTask, "a task that decides", ""), (RunsTheNextCallAfterItsCancel, _C, ""),
    (AsksAgainAfterItsCancel, "cancelled while it asks", ""),
    (CommitsAPlaceholder, _W, ""), (GoesOnWithoutAnAnswer, _W, "model-error"), (BeginsAnewAfterAnError, _W, "model-error"),
)  # fmt: skip
"""Loop, the scenario that reveals it, and what that is swept with ("": it is run once)."""

__all__ = ["BROKEN_PLAIN", "PlainLoop"]
