"""Properties of models: from a question to an answer with bounds.

Each kind of question has its place: ``unbounded`` paths and rewards, ``bounded`` in steps or time, ``long_run``
averages, and ``qualitative`` ones that the graph alone answers; ``strategies`` attain the answers of MDPs.

What is about properties themselves stands beside them: their paths, filters and intervals, what makes sense
(``inspection``), which function answers what (``operators``), formulas inside formulas (``evaluation``), and the whole
way (``answering``).
"""
