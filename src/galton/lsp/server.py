"""``galton lsp``: requests of an editor, answered by :mod:`galton.editing`.

Mistakes are looked for when nobody has typed for a moment, in a thread, so that hover and completion never wait for
them. What is found out about a text is kept with it until it changes.
"""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from .. import editing
from ..editing import Document, Location, Position, Range, RenameRefused
from ..lang.depth import LIMIT
from ..lang.source import LanguageError
from .conversion import LEGEND, Columns
from .folders import Folders

__all__ = ["GaltonServer", "serve"]

PAUSE = 0.2  # seconds without a key, after which mistakes are looked for
MOST_COLOURED = 300_000  # characters of a text that is coloured as a whole; of longer ones, what an editor shows


class Placed(Protocol):
    """A request about a place in a text."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class GaltonServer(LanguageServer):
    """The server, and what it remembers of an editor."""

    def __init__(self) -> None:
        super().__init__("galton", _version(), text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
        self._folders: Folders | None = None
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1)
        self.constants: dict[str, str] = {}

    @property
    def folders(self) -> Folders:
        """The documents."""
        if self._folders is None:
            self._folders = Folders(self.workspace, self.constants)
        return self._folders

    @property
    def columns(self) -> Columns:
        """How the editor counts columns."""
        encoding = self.workspace.position_encoding
        return Columns(None if encoding is None else str(getattr(encoding, "value", encoding)))

    def use(self, settings: Any) -> None:
        """Take settings: ``{"constants": {"N": 5}}``, perhaps inside of ``galton``."""
        if isinstance(settings, dict):
            given = settings.get("galton", settings)
            constants = given.get("constants") if isinstance(given, dict) else None
            if isinstance(constants, dict):
                self.constants = {str(name): str(value) for name, value in constants.items()}
                if self._folders is not None:
                    self._folders.give_constants(self.constants)
                    for uri in self.workspace.text_documents:
                        self.look_soon(uri)

    def look_soon(self, uri: str) -> None:
        """Look for mistakes in a text and in those about it, if nothing changes for a moment."""
        for each in (uri, *self.folders.open_about(uri)):
            if each in self._waiting:
                self._waiting[each].cancel()
            self._waiting[each] = asyncio.ensure_future(self._look(each))
            self._waiting[each].add_done_callback(self._tell_failure)

    def _tell_failure(self, looked: asyncio.Task[None]) -> None:
        """Show what went wrong in the server itself: nobody waits for this task."""
        error = None if looked.cancelled() else looked.exception()
        if isinstance(error, Exception):
            self.report_server_error(error, FeatureRequestError)

    async def _look(self, uri: str) -> None:
        await asyncio.sleep(PAUSE)
        document, version = self.folders.document(uri), self.workspace.text_documents[uri].version
        found = await asyncio.get_running_loop().run_in_executor(self._thread, editing.diagnostics, document)
        told = [self.columns.diagnostic(document, one) for one in found]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, told, version))

    def close(self, uri: str) -> None:
        """Forget a text, and take its mistakes away."""
        if uri in self._waiting:
            self._waiting.pop(uri).cancel()
        self.folders.forget(uri)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def at(self, params: Placed) -> tuple[Document, Position]:
        """The document and the place that a request is about."""
        document = self.folders.document(params.text_document.uri)
        return document, self.columns.place(document, params.position)

    def location(self, place: Location) -> types.Location:
        """A place in any document."""
        return types.Location(place.document, self.columns.range(self.folders.document(place.document), place.range))


def _version() -> str:
    try:
        return version("galton")
    except PackageNotFoundError:  # run from the source tree
        return "unknown"


def make_server() -> GaltonServer:
    """A server with all that it can do."""
    server = GaltonServer()

    @server.feature(types.INITIALIZE)
    def initialize(ls: GaltonServer, params: types.InitializeParams) -> None:
        ls.use(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(ls: GaltonServer, params: types.DidChangeConfigurationParams) -> None:
        ls.use(params.settings)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: GaltonServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.look_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: GaltonServer, params: types.DidChangeTextDocumentParams) -> None:
        ls.look_soon(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: GaltonServer, params: types.DidCloseTextDocumentParams) -> None:
        ls.close(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: GaltonServer, params: types.HoverParams) -> types.Hover | None:
        document, place = ls.at(params)
        found = editing.hover(document, place)
        if found is None:
            return None
        content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(content, ls.columns.range(document, found.range))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=['"', "[", "{", "("]))
    def complete(ls: GaltonServer, params: types.CompletionParams) -> list[types.CompletionItem]:
        document, place = ls.at(params)
        found = editing.completions(document, place)
        return [ls.columns.completion(document, one, number) for number, one in enumerate(found)]

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: GaltonServer, params: types.DefinitionParams) -> list[types.Location]:
        return [ls.location(place) for place in editing.definition(*ls.at(params))]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(ls: GaltonServer, params: types.ReferenceParams) -> list[types.Location]:
        others = ls.folders.about(params.text_document.uri)
        found = editing.references(*ls.at(params), others, declaration=params.context.include_declaration)
        return [ls.location(place) for place in found]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(ls: GaltonServer, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        document, place = ls.at(params)
        here = [found.range for found in editing.references(document, place) if found.document == document.name]
        return [types.DocumentHighlight(ls.columns.range(document, each)) for each in here]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(ls: GaltonServer, params: types.PrepareRenameParams) -> types.Range | None:
        document, place = ls.at(params)
        found = editing.renamable(document, place)
        return ls.columns.range(document, found) if found else None

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(ls: GaltonServer, params: types.RenameParams) -> types.WorkspaceEdit:
        document, place = ls.at(params)
        try:
            edits = editing.rename(document, place, params.new_name, ls.folders.about(document.name))
        except RenameRefused as refused:
            raise JsonRpcInvalidParams(str(refused)) from None
        changes = {uri: ls.columns.edits(ls.folders.document(uri), found) for uri, found in edits.items()}
        return types.WorkspaceEdit(changes=changes)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(ls: GaltonServer, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = ls.folders.document(params.text_document.uri)
        return [ls.columns.symbol(document, found) for found in editing.outline(document)]

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatting(ls: GaltonServer, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        document = ls.folders.document(params.text_document.uri)
        try:
            new = editing.formatted(document.text, document.name)
        except LanguageError as error:
            line = document.lines.position(error.span.start).line + 1
            message = f"not formatted, because of a mistake at line {line}: {error.message}"
            ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
            return []
        whole = Range(Position(0, 0), document.lines.position(len(document.text)))
        return [] if new == document.text else [types.TextEdit(ls.columns.range(document, whole), new)]

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def colours(ls: GaltonServer, params: types.SemanticTokensParams) -> types.SemanticTokens:
        document = ls.folders.document(params.text_document.uri)
        found = editing.highlights(document) if len(document.text) <= MOST_COLOURED else []
        return ls.columns.tokens(document, found)

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    def colours_of_lines(ls: GaltonServer, params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
        document = ls.folders.document(params.text_document.uri)
        lines = params.range.start.line, params.range.end.line
        return ls.columns.tokens(document, editing.highlights(document, *lines))

    return server


def serve(host: str | None = None, port: int | None = None) -> None:
    """Talk to an editor until it is done: on standard input and output, or over TCP."""
    # Set once, because a reader in another thread would take it away from one that still needs it.
    sys.setrecursionlimit(max(sys.getrecursionlimit(), LIMIT))
    server = make_server()
    if host is None or port is None:
        server.start_io()
    else:
        server.start_tcp(host, port)
