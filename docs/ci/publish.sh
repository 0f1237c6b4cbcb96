#!/usr/bin/env bash
# Publishes the reports of a comparison: the summary of the job, and the annotations at the lines of scenarios. What is
# missing is told and changes nothing else.
set -euo pipefail
reports=${HARNESS_CI_REPORTS:-reports/compare}

if [ -f "$reports/summary.md" ]; then
    cat -- "$reports/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
else
    printf '::warning title=harness compare::there is no summary: the comparison ended before it had one\n'
fi
if [ -f "$reports/annotations.txt" ]; then
    cat -- "$reports/annotations.txt"
fi
