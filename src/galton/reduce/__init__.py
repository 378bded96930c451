"""Reductions: what makes a question smaller before it is solved, and carries its solution back."""
