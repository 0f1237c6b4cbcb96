"""Agreement with BFCL's own checker: every item of the categories judged by calls, right answers and changed ones.

usage: bfcl.py [--sample] CHECKER_PYTHON

Its checker runs in the environment of CHECKER_PYTHON (``make bfcl`` makes it), as a subprocess; nothing of it is
imported here. Every answer goes to both. Where they differ, in the verdict or in its reason, the difference must fall
into a class of ``tests/data/bfcl-disagreements.toml``; one that falls into none is a failure, and so is a class that
nothing fell into. The items of which its checker accepts no answer must be those that we call defective. What was found is written to ``tests/data/bfcl-result.json``; with ``--sample`` the answers that
the test suite replays are written too. Exit code 1 names what is not so.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.evaluate.bfcl import grade_bfcl  # noqa: E402
from harness.evaluate.bfcl_truth import defects_of  # noqa: E402
from harness.formats.bfcl import read_bfcl  # noqa: E402
from harness.types.bfcl import BfclItem, Language, Pairing, language_of, pairing_of  # noqa: E402
from tests.laws.bfcl_answers import Answer, answers  # noqa: E402
from tests.laws.bfcl_compared import VALID, Compared, sorted_out  # noqa: E402

DATA = REPO.parent / "shared" / "data" / "bfcl"
FOUND = REPO / "tests" / "data"
SEED = 20261130
MOST_CHANGES = {Language.PYTHON: 60, Language.JAVA: 200, Language.JAVASCRIPT: 300}
N_SAMPLE = 500
AT_LEAST = 20_000


# ---------------------------------------------------------------- asking both


def items() -> list[BfclItem]:
    """Every item of one turn, in the order of the files' names."""
    found = [item for path in sorted(DATA.glob("*.json")) for item in read_bfcl(path)]
    return [item for item in found if isinstance(item, BfclItem)]


def most(item: BfclItem) -> int:
    """How many changed answers an item gets: more where the categories are small and values are read out of text."""
    return MOST_CHANGES[language_of(item.category)]


def as_the_checker_takes_it(item: BfclItem) -> dict[str, Any]:
    """The item in the benchmark's own form."""
    return {
        "id": item.id,
        "category": str(item.category),
        "language": str(language_of(item.category)),
        "functions": [{"name": one.name, "parameters": json.loads(one.parameters)} for one in item.functions],
        "truth": [{call.name: json.loads(call.answers)} for call in item.truth],
    }


def asked(python: str, all_items: Sequence[BfclItem], all_answers: Sequence[Answer]) -> tuple[str, list[tuple[str, ...]]]:
    """The version of the checker, and what it says of each answer."""
    place = {item.id: i for i, item in enumerate(all_items)}
    lines = [json.dumps({"items": [as_the_checker_takes_it(item) for item in all_items]})]
    for answer in all_answers:
        calls = [[call.name, call.arguments] for call in answer.calls]
        lines.append(json.dumps([place[answer.item.id], str(answer.names), calls]))
    program = REPO / "benchmarks" / "bfcl_checker.py"
    done = subprocess.run([python, str(program)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the checker's program failed:\n{done.stderr[-2000:]}")
    first, *verdicts = done.stdout.splitlines()
    return json.loads(first)["bfcl-eval"], [tuple(json.loads(line)) for line in verdicts]


def compared(python: str) -> tuple[str, list[Compared]]:
    """Every answer to every item, judged by both."""
    all_items = items()
    rng = random.Random(SEED)
    all_answers = [answer for item in all_items for answer in answers(item, rng, most(item))]
    version, theirs = asked(python, all_items, all_answers)
    if len(theirs) != len(all_answers):
        raise SystemExit(f"{len(all_answers)} answers were asked about, {len(theirs)} verdicts came")
    pairs = zip(all_answers, theirs, strict=True)
    return version, [Compared(answer, said, grade_bfcl(answer.item, answer.calls, answer.names)) for answer, said in pairs]


# ---------------------------------------------------------------- what is told


def table(results: Sequence[Compared]) -> dict[str, dict[str, int]]:
    """Counts by category, and in all."""
    rows: dict[str, Counter[str]] = {}
    for found in results:
        pairing = pairing_of(found.answer.item.category)
        total = "all judged by calls" if pairing not in (Pairing.NONE, Pairing.SOME) else "all of (ir)relevance"
        for name in (str(found.answer.item.category), total):
            row = rows.setdefault(name, Counter(answers=0, valid=0, same_verdict=0, same_reason=0))
            row.update(answers=1, valid=found.theirs[0] == VALID, same_verdict=found.same_verdict, same_reason=found.same_reason)
    n_items = Counter(str(item.category) for item in {found.answer.item.id: found.answer.item for found in results}.values())
    return {name: {"items": n_items[name], **row} if name in n_items else dict(row) for name, row in sorted(rows.items())}


def digest() -> str:
    """The sha256 of the names and bytes of all files that were read."""
    whole = hashlib.sha256()
    for path in sorted([*DATA.glob("BFCL_v4_*.json"), *DATA.glob("possible_answer/*.json")]):
        whole.update(f"{path.relative_to(DATA).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def length(found: Compared) -> int:
    """How much room an answer takes."""
    return sum(len(call.arguments) for call in found.answer.calls)


def sample(results: Sequence[Compared]) -> Iterator[list[Any]]:
    """Answers for the test suite, agreed upon: in turn one of each category and reason, each time another change."""
    rng = random.Random(SEED)
    groups: dict[tuple[str, str], dict[str, list[Compared]]] = {}
    for found in results:
        if found.same_reason and found.answer.item.truth:
            group = groups.setdefault((str(found.answer.item.category), found.theirs_in_words), {})
            group.setdefault(found.answer.change, []).append(found)
    queues = [[rng.choice(sorted(some, key=length)[:6]) for some in groups[key].values()] for key in sorted(groups)]
    for queue in queues:
        rng.shuffle(queue)
    in_turn = [found for row in itertools.zip_longest(*queues) for found in row if found is not None]
    for found in sorted(in_turn[:N_SAMPLE], key=lambda found: (found.answer.item.id, found.answer.change)):
        calls = [[call.name, call.arguments] for call in found.answer.calls]
        yield [found.answer.item.id, found.answer.change, str(found.answer.names), calls, *found.theirs]


def shown(found: Compared) -> str:
    """A disagreement in a line."""
    calls = ", ".join(f"{call.name}({call.arguments:.200})" for call in found.answer.calls)
    return f"{found.answer.item.id} [{found.answer.change}] {calls}\n  theirs: {found.theirs}\n  ours: {found.ours_in_words} {found.ours.path} {found.ours.message:.200}"


def main(arguments: list[str]) -> int:
    """Compare, write the result, and say what is wrong."""
    write_sample = "--sample" in arguments
    [python] = [argument for argument in arguments if not argument.startswith("--")]
    if not DATA.is_dir():
        print(f"{DATA} is not there, so there is nothing to compare", file=sys.stderr)
        return 4
    version, results = compared(python)
    classes = tomllib.loads((FOUND / "bfcl-disagreements.toml").read_text("utf-8")).get("classes", {})
    counts, left = sorted_out(results, classes)
    rows = table(results)
    unanswerable = never_valid(results)
    result = {
        "bfcl-eval": version,
        "data": digest(),
        "seed": SEED,
        "answers": len(results),
        "changes": len({found.answer.change for found in results}),
        "counts": rows,
        "reasons": dict(sorted(Counter(found.theirs_in_words for found in results).items())),
        "disagreements": {**counts, "without a class": len(left)},
        "no valid answer": unanswerable,
    }
    (FOUND / "bfcl-result.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if write_sample:
        lines = [json.dumps(line, separators=(",", ":")) for line in sample(results)]
        (FOUND / "bfcl-sample.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    for name, row in rows.items():
        print(f"{name:28} " + "  ".join(f"{key} {value:>6}" for key, value in row.items()))
    print(f"bfcl-eval {version}: {len(results)} answers, {len(left)} disagreements without a class; by class {dict(counts)}")
    print(f"items of which its checker accepts nothing: {', '.join(unanswerable) or 'none'}")
    defective = sorted({found.answer.item.id for found in results if defects_of(found.answer.item)})
    if defective != unanswerable:
        print(f"by our reading the items that cannot be answered are {', '.join(defective)}", file=sys.stderr)
    return max(int(defective != unanswerable), told(left, counts, rows))


def never_valid(results: Sequence[Compared]) -> list[str]:
    """The items with a ground truth of which its checker accepted no answer, right ones among them."""
    accepted: dict[str, bool] = {}
    for found in results:
        if found.answer.item.truth:
            name = found.answer.item.id
            accepted[name] = accepted.get(name, False) or found.theirs[0] == VALID
    return sorted(name for name, once in accepted.items() if not once)


def told(left: Sequence[Compared], counts: Counter[str], rows: dict[str, dict[str, int]]) -> int:
    """What is not so, and the exit code."""
    for found in left[:20]:
        print(shown(found), file=sys.stderr)
    empty = [name for name, count in counts.items() if count == 0]
    for name in empty:
        print(f"class {name!r} has no disagreement: take it out", file=sys.stderr)
    n_answers = rows["all judged by calls"]["answers"]
    if n_answers < AT_LEAST:
        print(f"{n_answers} answers are fewer than {AT_LEAST}", file=sys.stderr)
    return int(bool(left or empty or n_answers < AT_LEAST))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
