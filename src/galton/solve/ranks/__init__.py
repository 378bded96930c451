"""Equations that ranks share: each has rows of its own, and numbers of the unknowns of others that these lead to."""
