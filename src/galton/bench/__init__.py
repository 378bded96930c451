"""Benchmarks that documents print figures for, as data: what to ask, and what was needed then."""
