"""Files that are never half-written."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from slopes_envs.files import write_bytes, written_beside


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_stands_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with written_beside(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize("old", [None, b"old"])
def test_what_fails_changes_nothing_and_leaves_nothing(
    stop: type[BaseException], old: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)

    def write() -> None:
        with written_beside(path) as stream:
            stream.write(b"ne")
            raise stop

    with pytest.raises(stop):
        write()
    assert names_in(tmp_path) == ([] if old is None else ["file"])
    assert old is None or path.read_bytes() == old


def test_a_move_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        write_bytes(tmp_path / "file", b"new")
    assert names_in(tmp_path) == []


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    """The file is whole whoever comes last."""
    with written_beside(tmp_path / "file") as one, written_beside(str(tmp_path / "file")) as other:
        one.write(b"one")
        other.write(b"other")
    assert (tmp_path / "file").read_bytes() == b"one"
    assert names_in(tmp_path) == ["file"]


def test_links_are_followed(tmp_path: Path) -> None:
    for target in ("there", "not there yet"):
        link = tmp_path / f"link to {target}"
        link.symlink_to(tmp_path / target)
    (tmp_path / "there").touch()
    for target in ("there", "not there yet"):
        write_bytes(tmp_path / f"link to {target}", b"new")
        assert (tmp_path / f"link to {target}").is_symlink()
        assert (tmp_path / target).read_bytes() == b"new"


def test_what_is_no_file_is_written_to_directly(tmp_path: Path) -> None:
    write_bytes(os.devnull, b"new")
    assert not Path(os.devnull).is_file()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_bytes(pipe, b"new")
    reader.join()
    assert got == [b"new"]
    assert pipe.is_fifo()


def test_a_folder_is_refused_and_a_missing_one_not_made(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_bytes(tmp_path, b"new")
    with pytest.raises(FileNotFoundError):
        write_bytes(tmp_path / "missing" / "file", b"new")
    assert names_in(tmp_path) == []


def test_a_file_may_be_read_by_whom_the_system_says(tmp_path: Path) -> None:
    """Not only by its owner, as temporary files are."""
    write_bytes(tmp_path / "new", b"new")
    (tmp_path / "plain").touch()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
