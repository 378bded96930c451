"""Help for people who edit models and properties: what an editor shows, without the editor.

Everything here works on texts: no files, no protocol. ``galton lsp`` and the studio are made of it. A text is a
:class:`ModelDocument` or a :class:`PropertyDocument`; the functions tell what is wrong with it, what a name means, what
could be written next, and how it looks when it is written well. All of them work while a text is incomplete.

Lines and columns count from 0, and columns count characters (code points).

>>> from galton.editing import ModelDocument, Position, diagnostics, hover
>>> model = ModelDocument("dtmc  const int N = 3;  module m  x : [0..N] init 4;  endmodule")
>>> [d.message for d in diagnostics(model)]
["the initial value of 'x' is 4, outside its range [0..3]"]
"""

from .completion import Completion, completions
from .diagnostics import Diagnostic, diagnostics
from .documents import Document, ModelDocument, PropertyDocument
from .formatting import formatted
from .highlighting import TOKEN_KINDS, HighlightedToken, highlights
from .hovering import Hover, hover
from .navigation import Location, definition, references
from .outline import Symbol, outline
from .positions import Edit, Position, Range, applied
from .renaming import RenameRefused, renamable, rename

__all__ = [
    "TOKEN_KINDS",
    "Completion",
    "Diagnostic",
    "Document",
    "Edit",
    "HighlightedToken",
    "Hover",
    "Location",
    "ModelDocument",
    "Position",
    "PropertyDocument",
    "Range",
    "RenameRefused",
    "Symbol",
    "applied",
    "completions",
    "definition",
    "diagnostics",
    "formatted",
    "highlights",
    "hover",
    "outline",
    "references",
    "renamable",
    "rename",
]
