"""Distributions over the states of chains: after some time or steps, and in the long run."""
