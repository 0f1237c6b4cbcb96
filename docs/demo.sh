#!/usr/bin/env bash
# The main job, end to end, on what this repository ships. Run by `make demo`; opens nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
out=reports/demo
shared=../shared/data

say() { printf '\n== %s\n' "$*"; }

say "1. Scripted models: the loop's control flow, as shipped scenarios (same file, same bytes, every time)"
harness run scenarios -k "not recorded" --out "$out/scripted" | tail -n 12

say "2. Real recorded answers of a local model, replayed through the real openai client (no socket is opened)"
harness run scenarios/recorded --out "$out/recorded"

say "3. One trajectory, as it was recorded line by line"
harness show "$out/scripted/trajectories/articles/answer-52@default#1.jsonl"

say "4. Your own loop under our scenarios: both its doors in the harness's hands"
(cd docs/examples/own_loop && harness run scenarios --subject subject:my_loop --out "../../../$out/own-loop" -v)
echo "and the same cancelled, and its tools and requests failed, at every boundary:"
(cd docs/examples/own_loop && harness sweep scenarios --subject subject:my_loop --out "../../../$out/own-loop-red")

say "5. Other people's real trajectories, judged by the same checks"
if [ -d "$shared" ]; then
  harness check "$shared/tau-bench/gpt-4o-airline.json"
  harness check "$shared/deepseek-harness"
else
  echo "(the folder of real data, $shared, is not here: this step is left out)"
fi

say "6. Does a better description help? 690 recorded answers of a real model, graded, compared, and how sure that is"
harness evaluate scenarios/evaluations/descriptions.yaml --out "$out/descriptions"

say "7. Two sets of runs compared: a changed system prompt made the model answer without looking"
harness run docs/examples/prompt_change/before/scenarios --out "$out/before"
harness run docs/examples/prompt_change/after/scenarios --out "$out/after"
code=0
harness compare "$out/before" "$out/after" --reports "$out/comparison" || code=$?
if [ "$code" -ne 1 ]; then
  echo "expected exit code 1 (a difference), got $code" >&2
  exit 1
fi

say "Done. Everything is under $out"
echo "the comparison, in one file that opens without a server: $out/comparison/comparison.html"
echo "the same for a pull request: $out/comparison/comparison.md"
