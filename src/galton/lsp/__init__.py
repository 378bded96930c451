"""An editor's server: :mod:`galton.editing` by the Language Server Protocol. It needs pygls, ``galton[lsp]``."""
