"""Paths that show why a property is false: the likeliest ones, the shortest one, one that goes round for ever."""
