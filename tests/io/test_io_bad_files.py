"""Broken files: each in ``bad/``, beside the exact message it must give."""

from pathlib import Path

import pytest

from galton.io import FileError, read_model

BAD = Path(__file__).parent / "bad"
FILES = sorted(path for path in BAD.iterdir() if path.with_name(path.name + ".message").exists())


def message_of(path: Path) -> str:
    """What reading the file says, with a good transition file beside it if it needs one."""
    base = BAD / ("choices.tra" if path.name.startswith("choices-") else "chain.tra")
    paths = [path] if path.suffix in (".tra", ".mtx", ".npz", ".prism") else [base, path]
    with pytest.raises(FileError) as caught:
        read_model(paths)
    return str(caught.value).replace(f"{BAD}/", "") + "\n"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_message(path: Path) -> None:
    assert message_of(path) == path.with_name(path.name + ".message").read_text()


def test_every_file_has_a_message() -> None:
    companions = {"chain.tra", "choices.tra"}
    names = {path.name for path in BAD.iterdir() if path.suffix != ".message"}
    assert names == {path.name for path in FILES} | companions
    for name in sorted(companions):
        read_model([BAD / name])


def test_missing_files(tmp_path: Path) -> None:
    for name in ("no.tra", "no.npz", "no.mtx"):
        with pytest.raises(FileError, match=r"no\.\w+: error: there is no such file"):
            read_model([tmp_path / name])
    with pytest.raises(FileError, match=r"no\.srew: error: there is no such file"):
        read_model([BAD / "chain.tra", tmp_path / "no.srew"])
    (tmp_path / "folder.tra").mkdir()
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        read_model([tmp_path / "folder.tra"])


def test_broken_line_far_into_a_large_file(tmp_path: Path) -> None:
    """The fast path reads blocks; the error still names the line of the file."""
    lines = [f"{state} {state} 1" for state in range(200_000)]
    lines[150_000] = "150000 150000 l"
    path = tmp_path / "large.tra"
    path.write_text("# Transitions (DTMC)\n200000 200000\n" + "\n".join(lines))
    with pytest.raises(FileError) as caught:
        read_model([path])
    assert (caught.value.line, caught.value.text) == (150_003, "150000 150000 l")
