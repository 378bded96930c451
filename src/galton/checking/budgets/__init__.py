"""Budgets: paths and rewards while accumulated rewards stay within bounds, by unfolding a model level by level."""

from .answer import budget_probability, budget_reward

__all__ = ["budget_probability", "budget_reward"]
