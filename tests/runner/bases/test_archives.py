"""Packed folders of runs: what comes out, and what never does."""

from __future__ import annotations

import io
import random
import resource
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import ForeignFormatError, HarnessError, TrajectoryFormatError
from harness.runner.bases.archives import SUFFIXES, Room, is_archive, unpacked
from harness.store import read_trajectory

FILES = {"run.json": b"{}", "trajectories/a/b@default#1.jsonl": b"x" * 3_000, "summary.jsonl": b""}
Entries = list[tuple[str, bytes]]
ZIPS, TARS = (".zip",), (".tar", ".tar.gz", ".tgz")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, in which nothing is left."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    yield place
    assert list(place.iterdir()) == []
    outside = {path.name for path in tmp_path.iterdir()} - {place.name}
    assert all(name.startswith("runs.") for name in outside), "nothing comes out elsewhere"


def packed(folder: Path, suffix: str, entries: Entries) -> Path:
    """An archive with these entries, whatever they are called."""
    path = folder / f"runs{suffix}"
    if suffix in ZIPS:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in entries:
                archive.writestr(zipfile.ZipInfo(name), data)
        return path
    with tarfile.open(path, "w" if suffix == ".tar" else "w:gz") as archive:
        for name, data in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def below(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("top", ["", "reports-of-main/", "a/b/"], ids=["plain", "in-a-folder", "in-folders"])
def test_what_was_packed_comes_out_and_goes_again(suffix: str, top: str, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, [(top + name, data) for name, data in FILES.items()])
    assert is_archive(path)
    with unpacked(path) as folder:
        assert below(folder) == FILES
    assert not folder.exists()


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_a_folder_of_trajectories_alone_is_not_mistaken_for_the_folder_around_it(suffix: str, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, [("trajectories/a@default#1.jsonl", b"x")])
    with unpacked(path) as folder:
        assert (folder / "trajectories").is_dir()


BAD_NAMES = ["../out", "a/../../out", "/out", "a\\..\\out", "C:\\out", "C:out", "\\\\host\\out"]


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_leads_elsewhere_is_refused(suffix: str, name: str, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, [("run.json", b"{}"), (name, b"x")])
    with pytest.raises(ForeignFormatError, match="would come out elsewhere"), unpacked(path):
        pass


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
def test_a_name_that_is_there_twice_is_refused(suffix: str, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, [("run.json", b"{}"), ("./run.json", b"x")])
    with pytest.raises(ForeignFormatError, match="twice"), unpacked(path):
        pass


def tar_of(kind: bytes) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        path = folder / "runs.tar"
        with tarfile.open(path, "w") as archive:
            info = tarfile.TarInfo("link")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
        return path

    return made


def zip_of_a_link(folder: Path) -> Path:
    path = folder / "runs.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return path


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(tar_of(tarfile.SYMTYPE), id="tar-symbolic-link"),
        pytest.param(tar_of(tarfile.LNKTYPE), id="tar-hard-link"),
        pytest.param(tar_of(tarfile.CHRTYPE), id="tar-device"),
        pytest.param(tar_of(tarfile.FIFOTYPE), id="tar-pipe"),
        pytest.param(zip_of_a_link, id="zip-link"),
    ],
)
def test_links_and_devices_are_refused(made: Callable[[Path], Path], tmp_path: Path) -> None:
    path = made(tmp_path)
    with pytest.raises(ForeignFormatError, match="a link or a device"), unpacked(path):
        pass


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tar.gz"])
@pytest.mark.parametrize(
    ("room", "said"),
    [
        pytest.param(Room(max_bytes=2_999), "more than 2,999 bytes", id="bytes"),
        pytest.param(Room(max_files=2), "more than 2 files", id="files"),
    ],
)
def test_no_more_comes_out_than_there_is_room_for(suffix: str, room: Room, said: str, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, list(FILES.items()))
    with pytest.raises(ForeignFormatError, match=said), unpacked(path, room):
        pass
    with unpacked(path, Room(max_bytes=3_002, max_files=3)) as folder:
        assert below(folder) == FILES


def test_a_header_that_says_it_is_huge_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "runs.tar"
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, 1 << 31
    path.write_bytes(info.tobuf(tarfile.USTAR_FORMAT) + bytes(10_240))
    with pytest.raises(ForeignFormatError, match="header is larger"), unpacked(path):
        pass


def test_what_says_less_than_it_holds_does_not_come_out_whole(tmp_path: Path) -> None:
    path = packed(tmp_path, ".zip", [("run.json", b"y" * 5_000)])
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(ForeignFormatError, match="cannot be unpacked"), unpacked(path):
        pass


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("cut", [0, 7, -40])
def test_a_torn_or_foreign_file_is_told(suffix: str, cut: int, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, [("run.json", bytes(range(256)) * 64)])
    whole = path.read_bytes()
    path.write_bytes(whole[: cut if cut >= 0 else len(whole) // 2])
    with pytest.raises(ForeignFormatError, match=r"cannot be unpacked|is not unpacked"), unpacked(path):
        pass


def test_a_tar_that_is_cut_between_two_files_is_not_taken_for_whole(tmp_path: Path) -> None:
    path = packed(tmp_path, ".tar", list(FILES.items()))
    whole = path.read_bytes()
    data = -(-len(whole.rstrip(b"\0")) // 512) * 512  # zeros behind it are the end
    for at in range(0, data + 1, 512):
        path.write_bytes(whole[:at])
        with pytest.raises(ForeignFormatError, match="unpacked"), unpacked(path):
            pass
    path.write_bytes(whole[:1024] + b"x" * 512 + whole[1536:])
    with pytest.raises(ForeignFormatError, match="unpacked"), unpacked(path):
        pass


PACKINGS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}


@pytest.mark.parametrize("packing", [*PACKINGS, ".tar", ".tar.gz"])
def test_any_damage_is_refused_or_harmless_and_no_fault_of_the_harness(packing: str, tmp_path: Path) -> None:
    path = packed(tmp_path, packing if packing in TARS else ".zip", list(FILES.items()))
    if packing in PACKINGS:
        with zipfile.ZipFile(path, "w", PACKINGS[packing]) as archive:
            for name, data in FILES.items():
                archive.writestr(name.replace("b@", "é@"), data)
    whole, chance = path.read_bytes(), random.Random(packing)
    refused: list[str] = []
    for _ in range(250):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
        try:
            with unpacked(path, Room(max_bytes=100_000)):
                pass
        except ForeignFormatError as error:
            refused.append(str(error))
    assert len(refused) > 100
    assert all(str(path) in one for one in refused)


def test_a_password_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path, ".zip", [("run.json", b"{}")])
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ForeignFormatError, match="encrypted"), unpacked(path):
        pass


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_disk_without_room_is_no_fault_of_the_archive(suffix: str, tmp_path: Path) -> None:
    path = packed(tmp_path, suffix, list(FILES.items()))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    try:
        with pytest.raises(HarnessError, match="TMPDIR says where there is more room") as raised, unpacked(path):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.exit_code == 5


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_an_error_about_what_was_unpacked_names_the_archive(suffix: str, tmp_path: Path, places: Path) -> None:
    path = packed(tmp_path, suffix, [("top/trajectories/a.jsonl", b"x")])
    with pytest.raises(TrajectoryFormatError) as raised, unpacked(path) as folder:
        read_trajectory(folder / "trajectories" / "a.jsonl")
    assert f"{path}/top/trajectories/a.jsonl" in str(raised.value)
    assert str(places) not in str(raised.value)
