"""Paths and rewards without a bound: the graph settles some states, equations the rest."""
