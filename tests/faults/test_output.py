"""Files are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from galton.io.output import Output, OutputError, check_writable, replacing

BEFORE = "the file of before\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    target = tmp_path / "answer.txt"
    target.write_text(BEFORE)
    return target


def alone(path: Path) -> bool:
    """Whether nothing was left beside."""
    return os.listdir(path.parent) == [path.name]


def test_the_new_file_takes_the_place_of_the_old_one(path: Path) -> None:
    with replacing(path) as file:
        file.write("new")
        assert path.read_text() == BEFORE
    assert path.read_text() == "new"
    assert alone(path)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_what_fails_on_the_way_leaves_the_old_file(path: Path, error: BaseException) -> None:
    def half() -> None:
        with replacing(path) as file:
            file.write("half of it")
            raise error

    with pytest.raises(OutputError if isinstance(error, OSError) else type(error)):
        half()
    assert path.read_text() == BEFORE
    assert alone(path)


def test_a_full_disk_is_told_with_the_name_of_the_file(path: Path) -> None:
    with pytest.raises(OutputError) as caught, replacing(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value) == f"{path} could not be written: No space left on device; the file of before is as it was"


def test_rights_stay_as_they_were(path: Path, tmp_path: Path) -> None:
    path.chmod(0o640)
    with replacing(path) as file:
        file.write("new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "fresh", "binary") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "fresh").stat().st_mode) == 0o640


def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path.name)
    with replacing(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    with replacing(pipe) as file:
        file.write("through")
    reader.join(timeout=10)
    assert found == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_standard_output_that_is_a_file_is_not_replaced(tmp_path: Path) -> None:
    """Whoever opened it goes on writing there."""
    text = "from galton.io.output import replacing\nprint('before', flush=True)\n"
    text += "with replacing('/dev/stdout') as file: file.write('between\\n')\nprint('after')\n"
    target = tmp_path / "out.txt"
    with target.open("a") as file:
        subprocess.run([sys.executable, "-c", text], stdout=file, check=True, timeout=60)
    assert target.read_text() == "before\nbetween\nafter\n"


def test_what_cannot_be_written_is_refused_before(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="there is no folder"):
        check_writable(tmp_path / "nowhere" / "file")
    with pytest.raises(OutputError, match="is a folder; name a file"):
        check_writable(tmp_path)
    check_writable(tmp_path / "new")
    check_writable("/dev/stdout")
    assert os.listdir(tmp_path) == []


def test_a_growing_file_is_discarded_or_completed(path: Path) -> None:
    output = Output(path)
    output.file.write("rows")
    output.discard()
    assert (path.read_text(), alone(path)) == (BEFORE, True)
    output = Output(path)
    output.file.write("rows")
    output.complete()
    assert (path.read_text(), alone(path)) == ("rows", True)
