"""Models and questions that the ranks of an MPI job share: mpi4py carries messages, PETSc solves, the core proves.

Every rank runs the same program and has the rows of its own states (:class:`.model.RankModel`); states of others that
its rows lead to are its *ghosts*. No rank ever holds the whole model. Whatever is decided is decided by all ranks
together, from numbers that all of them have, so that they stay in step.
"""
