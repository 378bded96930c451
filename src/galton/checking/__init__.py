"""Properties of models: from a question to its answer with bounds."""
