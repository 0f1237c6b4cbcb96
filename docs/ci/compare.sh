#!/usr/bin/env bash
# Compares the runs of a change with those of its base and writes the reports. Everything asked for comes in variables
# HARNESS_CI_*, never as text of this script. Ends with 0 whatever the comparison came to: the outputs hold that, and the
# caller ends as they say once the reports are published. 2: what was asked for cannot be asked.
set -euo pipefail

refuse() {
    printf '::error title=harness compare::%s\n' "$1"
    exit 2
}

one_line() {
    case "${!1-}" in *$'\n'* | *$'\r'*) refuse "$2 must be one line" ;; esac
}

# Gives each line of a variable that is not blank, without the blanks around it.
lines_of() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        line="${line#"${line%%[![:space:]]*}"}"
        line="${line%"${line##*[![:space:]]}"}"
        [ -z "$line" ] || printf '%s\n' "$line"
    done <<<"${!1-}"
}

for name in BASE BASE_RUNS CANDIDATE_RUNS GATE INCONCLUSIVE REPORTS COMMENT_KEY NUMBER; do
    one_line "HARNESS_CI_$name" "$name"
done
reports=${HARNESS_CI_REPORTS:-reports/compare}
base=${HARNESS_CI_BASE:-}
if [ -z "$base" ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
    base=origin/$GITHUB_BASE_REF
fi
[[ "$base" != -* ]] || refuse "a base cannot begin with a dash"

# Whatever comes to be from here on is of this comparison, also where it ends before it has a report.
for name in comparison.md summary.md annotations.txt junit.xml comparison.json comparison.parquet comparison.html pull-request.txt; do
    rm -f -- "$reports/$name"
done

arguments=(compare "--reports=$reports")
[ -z "${HARNESS_CI_COMMENT_KEY:-}" ] || arguments+=("--comment-key=$HARNESS_CI_COMMENT_KEY")
[ -z "${HARNESS_CI_GATE:-}" ] || arguments+=("--gate=$HARNESS_CI_GATE")
[ -z "${HARNESS_CI_INCONCLUSIVE:-}" ] || arguments+=("--inconclusive=$HARNESS_CI_INCONCLUSIVE")
while IFS= read -r path; do
    arguments+=("--scenarios=$path")
done < <(lines_of HARNESS_CI_SCENARIOS)
while IFS= read -r argument; do
    arguments+=("$argument")
done < <(lines_of HARNESS_CI_ARGUMENTS)
if [ -n "${HARNESS_CI_BASE_RUNS:-}" ]; then
    [ -n "${HARNESS_CI_CANDIDATE_RUNS:-}" ] || refuse "base-runs needs candidate-runs: the folder with the runs of the change"
    [ -z "$base" ] || arguments+=("--base-ref=$base")
    arguments+=(-- "$HARNESS_CI_BASE_RUNS" "$HARNESS_CI_CANDIDATE_RUNS")
else
    [ -n "$base" ] || refuse "there is no base: name one (base), or run this for a pull request"
    arguments+=("--against=$base" "--runs=$reports/runs")
    [ -z "${HARNESS_CI_CANDIDATE_RUNS:-}" ] || arguments+=(-- "$HARNESS_CI_CANDIDATE_RUNS")
fi

# What models and tools said must not be read as commands by the service that runs this.
silence=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
code=0
printf '::stop-commands::%s\n' "$silence"
harness "${arguments[@]}" || code=$?
printf '::%s::\n' "$silence"

case "$code" in
    0) outcome=PASS ;;
    1) outcome=FAIL ;;
    2) outcome=USAGE ;;
    3) outcome=INCONCLUSIVE ;;
    4) outcome=INVALID ;;
    130) outcome=INTERRUPTED ;;
    *) outcome=ERROR ;;
esac
if [[ "${HARNESS_CI_NUMBER:-}" =~ ^[1-9][0-9]*$ ]]; then
    mkdir -p -- "$reports"
    printf '%s\n' "$HARNESS_CI_NUMBER" >"$reports/pull-request.txt"
fi
{
    printf 'outcome=%s\n' "$outcome"
    printf 'exit-code=%s\n' "$code"
    printf 'reports=%s\n' "$reports"
} >>"${GITHUB_OUTPUT:-/dev/null}"
