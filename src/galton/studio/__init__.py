"""The studio: models looked at, changed and asked in a browser.

``server`` serves the page and talks with it, one ``page`` each; ``workers`` are the processes in which everything is
computed, and ``child`` is what runs in them, with an ask a function of ``asks``. What the page and the server say to
each other is defined in ``studio/src/protocol.ts``.

The server itself never reads a model, so that nothing in one can keep it from answering.
"""
