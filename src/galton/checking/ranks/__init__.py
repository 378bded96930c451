"""Questions about models that the ranks of an MPI job share.

What a property says is read as everywhere else; what differs is here: searches, equations and steps across ranks, and
decisions that all ranks have to make alike. What is not answered across ranks is refused in a sentence.
"""
