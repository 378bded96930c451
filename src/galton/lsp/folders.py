"""The documents of an editor, and the files beside them that they need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import Workspace

from ..editing import Document, ModelDocument, PropertyDocument
from ..editing.files import is_model_name, is_property_name, model_for

__all__ = ["Folders"]


class Folders:
    """Documents by their addresses: those that are open in the editor, others as they are on disk.

    A property file is about the model of the same name in its folder, or the only one there.
    """

    def __init__(self, workspace: Workspace, constants: Mapping[str, str] | None = None):
        self._workspace = workspace
        self._constants: dict[str, str] = dict(constants or {})
        self._known: dict[str, Document] = {}

    def give_constants(self, constants: Mapping[str, str]) -> None:
        """Other values for the constants that texts leave open."""
        self._constants = dict(constants)
        self._known.clear()

    def forget(self, uri: str) -> None:
        """A document that was closed."""
        self._known.pop(uri, None)

    def document(self, uri: str) -> Document:
        """A document as it is now; what is known about it is kept as long as it and its model do not change."""
        text = self._text(uri)
        model = self._model_of(uri) if is_property_name(uri) else None
        known = self._known.get(uri)
        if known is not None and known.text == text and getattr(known, "model", None) is model:
            return known
        found: Document
        if is_property_name(uri):
            found = PropertyDocument(text, uri, model, self._constants)
        else:
            found = ModelDocument(text, uri, self._constants, known if isinstance(known, ModelDocument) else None)
        self._known[uri] = found
        return found

    def about(self, uri: str) -> list[Document]:
        """The property files about a model, open or in its folder; for a property file, those beside it."""
        model = self._model_uri(uri) if is_property_name(uri) else uri
        if model is None:
            return []
        beside = [other for other in self._beside(uri) if is_property_name(other) and self._model_uri(other) == model]
        return [self.document(other) for other in dict.fromkeys(beside)]

    def open_about(self, uri: str) -> list[str]:
        """The open property files about a model."""
        return [
            other
            for other in self._workspace.text_documents
            if is_property_name(other) and self._model_uri(other) == uri
        ]

    def _text(self, uri: str) -> str:
        if uri in self._workspace.text_documents:
            return str(self._workspace.text_documents[uri].source)
        path = to_fs_path(uri)
        return Path(path).read_text(encoding="utf-8", errors="replace") if path and Path(path).is_file() else ""

    def _model_of(self, uri: str) -> ModelDocument | None:
        model = self._model_uri(uri)
        found = self.document(model) if model else None
        return found if isinstance(found, ModelDocument) else None

    def _model_uri(self, uri: str) -> str | None:
        beside = {other.rpartition("/")[2]: other for other in self._beside(uri) if is_model_name(other)}
        name = model_for(uri.rpartition("/")[2], beside)
        return beside[name] if name else None

    def _beside(self, uri: str) -> list[str]:
        """The files of a folder, open ones first."""
        folder = uri.rpartition("/")[0]
        found = [other for other in self._workspace.text_documents if other.rpartition("/")[0] == folder]
        path = to_fs_path(uri)
        if path and Path(path).parent.is_dir():
            names = sorted(
                one for one in Path(path).parent.iterdir() if is_model_name(one.name) or is_property_name(one.name)
            )
            open_paths = {to_fs_path(other) for other in found}
            found += [from_fs_path(str(one)) or "" for one in names if str(one) not in open_paths]
        return found
