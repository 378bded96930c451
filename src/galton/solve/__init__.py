"""Methods for the equation systems of models."""

from .policy_iteration import policy_iteration

__all__ = ["policy_iteration"]
