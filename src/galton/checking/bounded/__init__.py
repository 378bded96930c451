"""Paths and rewards within a number of steps, or within a time."""
