"""Attacks on the studio: each is refused or bounded, and the studio answers afterwards."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest
from studio_client import MODELS_LARGE, Running, running
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from galton.studio.limits import MIB, Limits

DIE = {"model": "die.prism", "properties": [{"text": "P=? [ F d=6 ]"}]}


def answers(studio: Running) -> None:
    """The studio lives, and answers."""
    with studio.page() as page:
        (answer,) = page.ask("check", **DIE)["answers"]
        assert answer["lower"] <= 1 / 6 <= answer["upper"]


def handshake(studio: Running, host: str, cookie: str) -> int:
    """What a browser is answered that asks for a WebSocket by another name; no library sends such a Host."""
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    key = "dGhlIHNhbXBsZSBub25jZQ=="
    origin = f"http://{host}"
    return studio.get("/ws", Host=host, Cookie=cookie, Origin=origin, Sec_WebSocket_Key=key, **upgrade).status


def socket_status(studio: Running, origin: str | None, **headers: str) -> int:
    """What a WebSocket is answered that should not be let in."""
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{studio.own}/ws", origin=origin, additional_headers=headers)  # type: ignore[arg-type]
    return refused.value.response.status_code


# Who may come in.


def test_the_address_lets_in_and_hides_its_token(studio: Running) -> None:
    response = studio.get(f"/?token={studio.token}")
    assert response.status == 200
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert studio.token not in response.text  # type: ignore[attr-defined]
    assert 'url=/"' in response.text  # type: ignore[attr-defined]
    assert response.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path", ["/", "/?token=", "/?token=wrong", "/index.html", "/assets/index.js", "/ws", "/nothing"]
)
def test_without_the_token_nothing_is_shown(studio: Running, path: str) -> None:
    assert studio.get(path).status in (403, 404)
    assert studio.get(path, Cookie=f"galton_studio_{studio.port}=guessed").status in (403, 404)


def test_a_token_of_other_characters_is_wrong_and_no_error(studio: Running) -> None:
    assert studio.get("/?token=%C3%BC%00").status == 403


def test_a_websocket_needs_the_cookie(studio: Running) -> None:
    assert socket_status(studio, f"http://{studio.own}") == 403
    assert socket_status(studio, f"http://{studio.own}", Cookie=f"galton_studio_{studio.port}=guessed") == 403


# Other sites.


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "https://localhost.evil.example", None],
)
def test_a_websocket_of_another_site_is_refused_even_with_the_cookie(studio: Running, origin: str | None) -> None:
    assert socket_status(studio, origin, Cookie=studio.cookie()) == 403
    answers(studio)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_a_request_of_another_site_that_could_change_something_is_refused(studio: Running, method: str) -> None:
    cookie = studio.cookie()
    for path in ("/", "/login", "/die.prism"):
        assert studio.get(path, method, "x", Cookie=cookie, Origin="http://evil.example").status == 403
        assert studio.get(path, method, "x", Cookie=cookie).status == 403
        same = {"Origin": f"http://{studio.own}", "Sec_Fetch_Site": "cross-site"}
        assert studio.get(path, method, "x", Cookie=cookie, **same).status == 403
    answers(studio)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1", ""]
)
def test_a_name_that_was_made_to_point_here_is_refused(studio: Running, host: str) -> None:
    """DNS rebinding: the browser believes that the page of another site comes from here."""
    named = host.format(port=studio.port)
    cookie = studio.cookie()
    assert studio.get("/", Host=named, Cookie=cookie).status in (400, 403)
    assert studio.get(f"/?token={studio.token}", Host=named).status in (400, 403)
    if named:
        assert handshake(studio, named, cookie) == 403
    answers(studio)


def test_own_names_are_all_right(studio: Running) -> None:
    for host in (f"localhost:{studio.port}", f"[::1]:{studio.port}", f"LOCALHOST:{studio.port}"):
        assert studio.get(f"/?token={studio.token}", Host=host).status == 200


def test_every_answer_forbids_scripts_of_others(studio: Running) -> None:
    for path in ("/", f"/?token={studio.token}", "/nothing"):
        headers = studio.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "evil" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


# Files.


@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "inner/../../outside.txt",
        "/etc/passwd",
        "./die.prism",
        "inner//die.prism",
        "..",
        "",
        ".hidden",
        "inner/.hidden",
        "..\\outside.txt",
        "die.prism\0",
        "die.prism\n",
        "a/" * 20 + "a",
        "x" * 600,
        "%2e%2e/outside.txt",
        "link.txt",
        "linked/outside.txt",
        "inner/up/outside.txt",
        "pipe",
        "inner",
        7,
        None,
        ["die.prism"],
    ],
)
def test_no_file_outside_of_the_project_is_read_or_written(attacked: tuple[Running, Path], name: object) -> None:
    studio, folder = attacked
    with studio.page() as page:
        before = sorted(path.name for path in folder.parent.rglob("*"))
        page.refused("read", file=name)
        page.refused("write", file=name if name != "%2e%2e/outside.txt" else "../x", text="changed")
        page.refused("rename_file", file="die.prism", to=name if name != "%2e%2e/outside.txt" else "../x")
        page.refused("check", model=name, properties=[{"text": "P=? [ F d=6 ]"}])
        if name != "inner":
            page.refused("buffer", file=name, version=1, text="x") if not isinstance(name, str) or name[:1] in "./" or (
                ".." in name
            ) else None
        assert sorted(path.name for path in folder.parent.rglob("*")) == before
    assert (folder.parent / "outside.txt").read_text() == "secret"
    assert (folder / "die.prism").is_file()


@pytest.fixture(scope="module")
def attacked(project: Path, tmp_path_factory: pytest.TempPathFactory) -> object:
    """A project with all that could lead out of it."""
    top = tmp_path_factory.mktemp("attacked")
    folder = top / "project"
    folder.mkdir()
    (folder / "die.prism").write_text((project / "die.prism").read_text())
    (top / "outside.txt").write_text("secret")
    (folder / ".hidden").write_text("hidden")
    (folder / "inner").mkdir()
    (folder / "inner" / ".hidden").write_text("hidden")
    (folder / "link.txt").symlink_to(top / "outside.txt")
    (folder / "linked").symlink_to(top)
    (folder / "inner" / "up").symlink_to("../..")
    os.mkfifo(folder / "pipe")
    with running(folder) as studio:
        yield studio, folder


def test_links_and_hidden_files_are_not_listed(attacked: tuple[Running, Path]) -> None:
    studio, _ = attacked
    with studio.page() as page:
        names = [entry["file"] for entry in page.ask("files")["files"]]
    assert names == ["die.prism", "inner"]


def test_a_link_is_deleted_and_not_what_it_points_to(attacked: tuple[Running, Path]) -> None:
    studio, folder = attacked
    (folder / "gone.txt").symlink_to(folder.parent / "outside.txt")
    with studio.page() as page:
        page.ask("delete_file", file="gone.txt")
    assert (folder.parent / "outside.txt").read_text() == "secret"


def test_a_property_reads_no_automaton_outside_of_the_project(attacked: tuple[Running, Path]) -> None:
    studio, _ = attacked
    with studio.page() as page:
        for file in ("../outside.txt", "/etc/passwd", "link.txt"):
            asked = [{"text": f'P=? [ HOA: {{"{file}"}} ]'}]
            told = json.dumps(page.end(page.send("check", model="die.prism", properties=asked)))
            assert "error" in told
            assert "secret" not in told
            assert "root:" not in told


def test_static_files_do_not_lead_out(studio: Running) -> None:
    cookie = studio.cookie()
    for path in ("/../server.py", "/%2e%2e/server.py", "/..%2fserver.py", "/assets/../../server.py", "//etc/passwd"):
        response = studio.get(path, Cookie=cookie)
        assert response.status in (400, 403, 404)
        assert "import" not in response.text  # type: ignore[attr-defined]


def test_nothing_in_the_project_is_run_as_python(tmp_path: Path, project: Path) -> None:
    """Python looks for modules in the current folder first, if nobody tells it not to."""
    for name in ("numpy", "json", "galton", "scipy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w').write('x')\nraise SystemExit(3)\n")
    (tmp_path / "die.prism").write_text((project / "die.prism").read_text())
    with running(tmp_path) as studio:
        answers(studio)
    assert not (tmp_path / "run").exists()


# What models are called.


def test_a_script_in_names_is_a_text(studio: Running, project: Path) -> None:
    evil = '"></script><img src=x onerror=alert(1)>'
    name = "<img src=x onerror=alert(1)>.prism"
    text = f'dtmc\nmodule m\n  x : [0..1];\n  [] x=0 -> (x\'=1);\nendmodule\nlabel "a" = x=1;\n// {evil}\n'
    with studio.page() as page:
        page.ask("write", file=name, text=text)
        found = page.ask("check", model=name, properties=[{"text": f'"{evil}"'}])
        assert found["answers"][0]["error"] is not None
        (answer,) = page.ask("check", model=name, properties=[{"text": "P=? [ F x=1 ]"}])["answers"]
        assert answer["value"] == 1
        csv = page.send("export", of=page.number, format="csv")
        assert page.end(csv)["event"] == "result"
        page.ask("delete_file", file=name)
    response = studio.get(f"/{name.replace(' ', '%20')}", Cookie=studio.cookie())
    assert response.status == 404  # files of the project are never served as pages
    assert "<img" not in response.text  # type: ignore[attr-defined]


# Too much.


def test_a_model_that_would_fill_the_memory_is_ended(tmp_path: Path) -> None:
    (tmp_path / "huge.prism").write_text(MODELS_LARGE)
    with running(tmp_path, Limits(memory_bytes=160 * MIB, seconds=60)) as studio, studio.page() as page:
        start = time.monotonic()
        found = page.refused("build", model="huge.prism", constants={"N": "100000"})
        assert found["kind"] == "limit"
        assert "memory" in found["text"]
        assert time.monotonic() - start < 50
        assert page.ask("build", model="huge.prism", constants={"N": "3"})["model"]["states"] == 4**4


def test_a_question_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    (tmp_path / "huge.prism").write_text(MODELS_LARGE)
    with running(tmp_path, Limits(seconds=1.0)) as studio, studio.page() as page:
        found = page.refused("build", model="huge.prism", constants={"N": "100000"})
        assert found["kind"] == "limit"
        assert "1 s" in found["text"]
        assert page.ask("build", model="huge.prism", constants={"N": "3"})["model"]["states"] == 4**4


def test_200_questions_at_once_are_bounded_and_each_is_answered_or_refused(studio: Running) -> None:
    with studio.page() as page:
        numbers = [page.send("check", **DIE) for _ in range(200)]
        ends = [page.end(number) for number in numbers]
        kinds = [end["error"]["kind"] if end["event"] == "error" else end["event"] for end in ends]
        assert set(kinds) <= {"result", "busy"}
        assert kinds.count("busy") > 100
        assert kinds.count("result") >= page.hello["limits"]["waiting"]
        assert len(studio.workers()) < 10
    answers(studio)


def test_questions_of_many_pages_are_bounded(tmp_path: Path, project: Path) -> None:
    (tmp_path / "die.prism").write_text((project / "die.prism").read_text())
    with running(tmp_path, Limits(pages=2)) as studio:
        with studio.page() as first, studio.page():
            with pytest.raises(ConnectionClosed), studio.page() as third:
                third.ask("files")
            first.ask("files")
        time.sleep(0.3)
        answers(studio)


def test_messages_that_are_too_long_end_the_page_and_not_the_studio(tmp_path: Path, project: Path) -> None:
    (tmp_path / "die.prism").write_text((project / "die.prism").read_text())
    with running(tmp_path, Limits(message_bytes=100_000, text_bytes=1000)) as studio:
        with studio.page() as page:
            assert page.refused("buffer", file="x.prism", version=1, text="x" * 2000)["kind"] == "request"
            assert page.refused("write", file="x.prism", text="x" * 2000)["kind"] == "refused"
            with pytest.raises(ConnectionClosed):
                page.ask("buffer", file="x.prism", version=1, text="x" * 200_000)
        (tmp_path / "die.prism").write_text("x" * 2000)
        with studio.page() as page:
            assert "bytes" in page.refused("check", **DIE)["text"]


@pytest.mark.parametrize(
    "message",
    [
        "",
        "no JSON",
        "[]",
        "7",
        "{}",
        '{"id": 1}',
        '{"id": "1", "ask": "files"}',
        '{"id": -1, "ask": "files"}',
        '{"id": true, "ask": "files"}',
        '{"id": 1, "ask": "nothing"}',
        '{"id": 1, "ask": "__class__"}',
        '{"id": 1, "ask": "check"}',
        '{"id": 1, "ask": "check", "model": "die.prism", "properties": "x"}',
        '{"id": 1, "ask": "check", "model": "die.prism", "properties": [{"text": 7}]}',
        '{"id": 1, "ask": "check", "model": "die.prism", "properties": [{"text": "true"}], "more": 1}',
        '{"id": 1, "ask": "check", "model": "die.prism", "properties": [{"text": "true"}], "options": {"apply": "x"}}',
        '{"id": 1, "ask": "check", "model": "die.prism", "properties": [{"text": "true"}], "constants": {"k": 7}}',
        '{"id": 1, "ask": "buffer", "file": "a", "version": 2, "changes": [{"from": 5, "to": 1, "insert": ""}]}',
        '{"id": 1, "ask": "export", "of": 99, "format": "csv"}',
        '{"id": 1, "ask": "states", "model": "die.prism", "from": -1, "count": 1}',
        '{"id": 1, "ask": "states", "model": "die.prism", "from": 0, "count": 100000000}',
        '{"id": 1, "ask": "matrix", "model": "die.prism", "size": 1000000}',
        '{"id": 1, "ask": "files", "slot": {}}',
        "[" * 100_000,
    ],
)
def test_nonsense_is_refused_in_words(studio: Running, message: str) -> None:
    with studio.page() as page:
        page.socket.send(message)
        while True:
            told = json.loads(page.socket.recv(timeout=30))
            if told["event"] == "error":
                break
        assert told["error"]["kind"] in ("request", "refused")
        page.number = 5
        assert page.ask("files")["files"]


def test_who_does_not_read_is_given_up(tmp_path: Path, project: Path) -> None:
    """A slow client: what it is sent waits nowhere without a bound."""
    (tmp_path / "die.prism").write_text((project / "die.prism").read_text() + "// " + "x" * 900_000 + "\n")
    with running(tmp_path, Limits(stuck_seconds=1.0)) as studio:
        with studio.page(max_queue=1) as slow:
            for _ in range(60):
                slow.send("read", file="die.prism")
            deadline = time.monotonic() + 30
            while len(studio.server.studio.pages) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not studio.server.studio.pages
        answers(studio)


def test_who_never_says_what_he_wants_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    (tmp_path / "die.prism").write_text((project / "die.prism").read_text())
    monkeypatch.setattr("galton.studio.server.HEAD_SECONDS", 1.0)
    with running(tmp_path) as studio:
        idle = [socket.create_connection(("127.0.0.1", studio.port)) for _ in range(20)]
        for one in idle:
            one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        deadline = time.monotonic() + 15
        while studio.server._server.server_state.connections and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not studio.server._server.server_state.connections
        for one in idle:
            one.close()
        answers(studio)


def test_idle_pages_are_closed(tmp_path: Path) -> None:
    with running(tmp_path, Limits(idle_seconds=0.5)) as studio, studio.page() as page:
        assert page._receive(20)["event"] == "goodbye"
        with pytest.raises(ConnectionClosed):
            page._receive(20)


# A password.


def test_a_password_lets_in_and_guessing_is_slow(tmp_path: Path) -> None:
    with running(tmp_path, password="correct horse") as studio:
        own = {"Origin": f"http://{studio.own}"}
        assert "password" in studio.get("/").text  # type: ignore[attr-defined]
        right = studio.get("/login", "POST", "password=correct+horse", **own)
        assert right.status == 200
        cookie = right.headers["set-cookie"].partition(";")[0]
        assert studio.get("/", Cookie=cookie).status in (200, 503)
        assert studio.get("/login", "POST", "password=correct+horse").status == 403  # from nowhere
        codes = [studio.get("/login", "POST", f"password=wrong{i}", **own).status for i in range(12)]
        assert codes[0] == 403
        assert codes[-1] == 429
        assert studio.get("/login", "POST", "password=correct+horse", **own).status == 429
        assert studio.get("/login", "POST", "x" * 10_000, **own).status in (403, 429)
