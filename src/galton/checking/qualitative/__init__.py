"""Questions that the graph alone answers: whether something can happen at all, or is certain."""
