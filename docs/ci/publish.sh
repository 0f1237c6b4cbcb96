#!/usr/bin/env bash
# Publishes the reports of a comparison: the summary of the job, and the annotations at the lines of scenarios. What is
# missing is told and changes nothing else.
set -euo pipefail
reports=${HARNESS_CI_REPORTS:-reports/compare}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}
most=1048576 # a service drops a summary of so many bytes whole, with what was in it before

n_bytes() { if [ -f "$1" ]; then wc -c <"$1"; else echo 0; fi; }

published=
for name in summary.md comparison.md; do # the second is the shorter one
    if [ -f "$reports/$name" ] && [ $(($(n_bytes "$summary") + $(n_bytes "$reports/$name"))) -lt "$most" ]; then
        cat -- "$reports/$name" >>"$summary"
        published=$name
        break
    fi
done
if [ -z "$published" ] && [ ! -f "$reports/summary.md" ]; then
    printf '::warning title=harness compare::there is no summary: the comparison ended before it had one\n'
elif [ "$published" != summary.md ]; then
    printf '::warning title=harness compare::the summary does not fit beside what is there: all of it is in the artifact\n'
fi
if [ -f "$reports/annotations.txt" ]; then
    cat -- "$reports/annotations.txt"
fi
