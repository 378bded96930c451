"""An adversary that stays: random models and files, and oracles that share nothing with the code under test.

``python -m tests.fuzz --seconds 180 --seed 1`` runs all campaigns, each a file here with one generator and one oracle.
Nothing in this package looks inside ``galton``; it asks as a user would, through ``galton.check`` and the command line.
"""
