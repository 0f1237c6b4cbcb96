"""Program: write the generated pages of the docs, or say which of them are out of date.

    python -m docs.generate              write them
    python -m docs.generate --check      exit 1 and name the pages that differ from what would be written
    python -m docs.generate --coverage   print the coverage of the catalogue; exit 1 if something due has no carrier
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from docs import checks_page, coverage_page, mutants_page, reference, tables
from docs.coverage import Coverage, CoverageError, all_claims, cover, read_catalogue

REPO = Path(__file__).resolve().parents[1]


def current_coverage() -> Coverage:
    return cover(read_catalogue(), all_claims())


# Every generated page by its path; whoever adds a page adds a line.
PAGES: Mapping[str, Callable[[], str]] = {
    "docs/generated/checks.md": checks_page.page,
    "docs/generated/coverage.md": lambda: coverage_page.page(current_coverage()),
    "docs/generated/errors.md": tables.errors_page,
    "docs/generated/events.md": tables.events_page,
    "docs/generated/mutants.md": mutants_page.page,
    "docs/reference.md": reference.page,
}


def out_of_date(root: Path = REPO) -> list[str]:
    """Pages whose file is missing or differs from what would be written now."""
    return [path for path, make in PAGES.items() if not _same(root / path, make())]


def _same(file: Path, text: str) -> bool:
    return file.is_file() and file.read_bytes() == text.encode("utf-8")


def write(root: Path = REPO) -> list[str]:
    """Write what is out of date; the paths written."""
    written = out_of_date(root)
    for path in written:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(PAGES[path]().encode("utf-8"))
    return written


def show_coverage() -> int:
    coverage = current_coverage()
    print(coverage_page.terminal(coverage), end="")
    return 1 if coverage.missing or coverage.unknown else 0


def check() -> int:
    stale = out_of_date()
    for path in stale:
        print(f"{path} is out of date: run `make docs` and commit it", file=sys.stderr)
    if not stale:
        print(f"{len(PAGES)} generated pages are up to date")
    return 1 if stale else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=(__doc__ or "").partition("\n")[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is out of date")
    choice.add_argument("--coverage", action="store_true", help="print the coverage of the catalogue")
    options = parser.parse_args(arguments)
    try:
        if options.coverage:
            return show_coverage()
        if options.check:
            return check()
        for path in write():
            print(f"wrote {path}")
    except (CoverageError, reference.UndocumentedName) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
