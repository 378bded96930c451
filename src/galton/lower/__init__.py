"""From a checked program to guarded updates over packed bits."""
