"""``galton lsp`` as an editor meets it: a process of its own, and JSON over its standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

MODEL = """dtmc
const int N;  // 𝛼: as long as you like
module m
  x : [0..N] init 0;
  [go] x<N -> 0.5:(x'=x+1) + 0.5:(x'=0);
endmodule
label "done" = x=N;
rewards "steps" true : 1; endrewards
"""
PROPERTIES = 'P=? [ F "done" ];\nR{"steps"}=? [ F x=N ];\n'
PATIENCE = 30.0


class Editor(LanguageClient):
    """A small editor: it keeps what the server says about texts."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.told: dict[tuple[str, int | None], list[types.Diagnostic]] = {}
        self.news = asyncio.Condition()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def hear(params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.told[params.uri, params.version] = list(params.diagnostics)
                self.news.notify_all()

    async def mistakes(self, uri: str, version: int = 1) -> list[str]:
        """What is said about a version of a text."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(lambda: (uri, version) in self.told), PATIENCE)
        return [found.message for found in self.told.pop((uri, version))]

    def open(self, path: Path) -> str:
        item = types.TextDocumentItem(path.as_uri(), "prism", 1, path.read_text())
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return item.uri

    def type(self, uri: str, line: int, start: int, end: int, text: str, version: int) -> None:
        change = types.TextDocumentContentChangePartial(range_of(line, start, end), text)
        document = types.VersionedTextDocumentIdentifier(version, uri)
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))


def range_of(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


@asynccontextmanager
async def editor(options: Any = None) -> AsyncIterator[Editor]:
    client = Editor()
    await client.start_io(sys.executable, "-m", "galton", "lsp")
    renames = types.TextDocumentClientCapabilities(rename=types.RenameClientCapabilities(prepare_support=True))
    able = types.ClientCapabilities(text_document=renames)
    given = types.InitializeParams(able, initialization_options=options)
    found = await asyncio.wait_for(client.initialize_async(given), PATIENCE)
    assert found.capabilities.hover_provider
    assert found.capabilities.rename_provider.prepare_provider
    client.initialized(types.InitializedParams())
    yield client
    await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
    client.exit(None)
    await client.stop()


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "walk.prism").write_text(MODEL)
    (tmp_path / "walk.props").write_text(PROPERTIES)
    return tmp_path / "walk.prism", tmp_path / "walk.props"


def test_an_afternoon_of_editing(files: tuple[Path, Path]) -> None:
    asyncio.run(_edit(*files))


async def _edit(model: Path, properties: Path) -> None:
    async with editor({"constants": {"N": 4}}) as client:
        uri, props = client.open(model), client.open(properties)
        assert await client.mistakes(props) == []
        at = types.TextDocumentIdentifier(uri)

        # Mistakes come and go as one types; both are told.
        client.type(uri, 4, 7, 8, "y", 2)
        assert (await client.mistakes(uri, 2))[0].startswith("unknown name 'y'")
        client.type(uri, 4, 7, 8, "x", 3)
        assert await client.mistakes(uri, 3) == []

        # The model's label is known in the property file.
        client.type(props, 0, 9, 13, "gone", 2)
        assert "unknown label" in (await client.mistakes(props, 2))[0]
        client.type(props, 0, 9, 13, "done", 3)
        assert await client.mistakes(props, 3) == []

        hover = await client.text_document_hover_async(types.HoverParams(at, types.Position(3, 2)))
        assert "from 0 to 4" in hover.contents.value
        asked = types.CompletionParams(types.TextDocumentIdentifier(props), types.Position(0, 9))
        labels = [item.label for item in await client.text_document_completion_async(asked)]
        assert labels == ["done", "init", "deadlock"]
        symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(at))
        assert [symbol.name for symbol in symbols] == ["N", "m", "done", "steps"]
        where = types.DefinitionParams(types.TextDocumentIdentifier(props), types.Position(0, 10))
        (found,) = await client.text_document_definition_async(where)
        assert (found.uri, found.range) == (uri, range_of(6, 7, 11))
        used = types.ReferenceParams(types.ReferenceContext(False), at, types.Position(3, 2))
        assert len(await client.text_document_references_async(used)) == 6

        here = types.PrepareRenameParams(at, types.Position(3, 2))
        assert await client.text_document_prepare_rename_async(here) == range_of(3, 2, 3)
        edit = await client.text_document_rename_async(types.RenameParams(at, types.Position(3, 2), "place"))
        assert {name: len(edits) for name, edits in edit.changes.items()} == {uri: 6, props: 1}
        with pytest.raises(JsonRpcException, match="there is a 'N' already"):
            await client.text_document_rename_async(types.RenameParams(at, types.Position(3, 2), "N"))

        tokens = await client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(at))
        comment = tokens.data[5 * 5 : 6 * 5]
        assert comment[2] == len("// 𝛼: as long as you like") + 1  # UTF-16 has two units for 𝛼

        client.type(uri, 4, 0, 2, "", 4)
        options = types.FormattingOptions(tab_size=2, insert_spaces=True)
        (whole,) = await client.text_document_formatting_async(types.DocumentFormattingParams(at, options))
        assert whole.new_text.splitlines()[4:8] == [*MODEL.splitlines()[4:6], "", MODEL.splitlines()[6]]


def test_settings_give_constants(files: tuple[Path, Path]) -> None:
    async def ask() -> None:
        async with editor() as client:
            uri = client.open(files[0])
            assert "needs a value for the constant 'N'" in (await client.mistakes(uri))[0]
            client.workspace_did_change_configuration(
                types.DidChangeConfigurationParams({"galton": {"constants": {"N": "1-2"}}})
            )
            assert (await client.mistakes(uri))[0].startswith("the range of 'x' is empty")

    asyncio.run(ask())


def test_without_pygls_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from galton.cli import main

    monkeypatch.setitem(sys.modules, "pygls.exceptions", None)
    monkeypatch.delitem(sys.modules, "galton.lsp.server", raising=False)
    monkeypatch.setattr(sys, "argv", ["galton", "lsp"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "pip install 'galton[lsp]'" in capsys.readouterr().err
