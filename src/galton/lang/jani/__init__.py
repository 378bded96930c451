"""JANI, the language in which tools of the field exchange models: reading it, and writing programs in it."""
