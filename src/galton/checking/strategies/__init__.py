"""Strategies of MDPs: the choices they make, what they are worth, and their files."""
