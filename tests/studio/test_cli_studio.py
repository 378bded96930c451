"""``galton studio``: what it refuses, and what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from galton.cli.studio import _door, _server
from galton.lang import GaltonError
from galton.studio.security import Gate, is_loopback


def refused(*words: str) -> str:
    found = subprocess.run(
        [sys.executable, "-m", "galton", "studio", *words], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    return found.stderr


def test_others_need_a_password(tmp_path: Path) -> None:
    assert "--password" in refused(str(tmp_path), "--host", "0.0.0.0")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert "not there" in refused(str(tmp_path / "nothing"))


def test_without_starlette_it_says_what_to_install(tmp_path: Path) -> None:
    script = "import sys; sys.modules['starlette'] = None; sys.argv = ['galton', 'studio', '.']\n"
    script += "from galton.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert found.returncode == 2
    assert "pip install 'galton[studio]'" in found.stderr


@pytest.mark.parametrize("password", ["short", ""])
def test_a_password_is_long(tmp_path: Path, password: str) -> None:
    with pytest.raises(GaltonError, match="8 characters"):
        _server(tmp_path, "0.0.0.0", 0, password, (), 600, None)


def test_a_model_opens_its_folder(tmp_path: Path) -> None:
    (tmp_path / "die.prism").write_text("dtmc")
    server = _server(tmp_path / "die.prism", "127.0.0.1", 0, None, (), 600, 500)
    assert (server.root, server.opened) == (tmp_path, "die.prism")
    assert server.limits.memory_bytes == 500 << 20


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.0.7", False),
        ("example.org", False),
        ("localhost.example.org", False),
    ],
)
def test_addresses_that_only_this_machine_reaches(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_names_that_others_may_use() -> None:
    gate = Gate("0.0.0.0", 80, "a long password", ("lab.example.org",))
    assert gate.knows_host("192.168.0.7:80")
    assert gate.knows_host("lab.example.org")
    assert gate.knows_host("[2001:db8::1]:80")
    assert not gate.knows_host("evil.example")
    assert not gate.knows_host("lab.example.org.evil.example")


def test_other_users_do_not_see_the_token(tmp_path: Path) -> None:
    """What a browser is started with, everybody on the machine can read."""
    door = _door("http://127.0.0.1:1/?token=secret", tmp_path)
    assert "secret" not in door.as_uri()
    assert 'url=http://127.0.0.1:1/?token=secret"' in door.read_text()
    assert door.stat().st_mode & 0o077 == 0
