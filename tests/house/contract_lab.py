"""Program: build an empty copy of the package, plant one import at a time, and say which contracts break.

Reads JSON from standard input: {"config": path of pyproject.toml, "plants": {id: [[module, statement], ...]}}.
Writes JSON: {id: [ids of broken contracts, sorted]}. The working directory must be empty; the skeleton goes there.
"""

import io
import json
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from importlinter import api
from importlinter.application import use_cases
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import registry

Plants = list[list[str]]


def modules_named(contracts: Iterable[dict[str, Any]]) -> set[str]:
    """Every module of ours that some contract names, and every room on a floor."""
    names: set[str] = set()
    for contract in contracts:
        for floor in contract.get("layers", ()):
            names.update(f"harness.{room.strip(' ()')}" for room in floor.split("|"))
        for line in (*contract.get("source_modules", ()), *contract.get("forbidden_modules", ())):
            names.add(line)
        names.update(line.split(" -> ")[0] for line in contract.get("ignore_imports", ()))
    return {name for name in names if name.startswith("harness") and "*" not in name}


def file_of(module: str) -> Path:
    """Each module of the skeleton is a package, so that any of them can have children."""
    return Path(*module.split("."), "__init__.py")


def build(modules: Iterable[str]) -> None:
    for module in modules:
        file = file_of(module)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def broken(config: str) -> list[str]:
    """Ids of the contracts of the configuration that the skeleton breaks now."""
    options = use_cases.read_user_options(config)
    with redirect_stdout(io.StringIO()):
        report = use_cases.create_report(options, cache_dir=None)
    ids = {contract["name"]: contract["id"] for contract in options.contracts_options}
    names = [contract.name for contract, check in report.get_contracts_and_checks() if not check.kept]
    return sorted(ids[name] for name in names)


def broken_with(config: str, plants: Plants) -> list[str]:
    """The same with imports planted; the skeleton is as before afterwards."""
    files = [file_of(module) for module, _ in plants]
    new = [file for file in files if not file.exists()]
    for file, (module, statement) in zip(files, plants, strict=True):
        build([module])
        file.write_text(f"{file.read_text()}{statement}\n")
    result = broken(config)
    for file in files:
        file.write_text("")
    for file in new:
        file.unlink()
        file.parent.rmdir()
    return result


def main() -> None:
    order = json.load(sys.stdin)
    registry.register(LayersContract, "layers")
    registry.register(ForbiddenContract, "forbidden")
    sys.path.insert(0, str(Path.cwd()))
    build(modules_named(api.read_configuration(order["config"])["contracts_options"]))
    answer = {name: broken_with(order["config"], plants) for name, plants in order["plants"].items()}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
