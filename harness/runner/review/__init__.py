"""Two sets of runs reviewed: read, compared, judged by the gate of the merge base, and written as reports."""
