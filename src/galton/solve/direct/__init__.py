"""Direct methods with proved bounds, for the few components that no proposal can be proved for: they are hard to leave.

:mod:`.fallback` tries them in turn; :mod:`.elimination` is for chains, in doubles with an exponent of their own;
:mod:`.decimal_policies` is for MDPs, around :mod:`.decimal_elimination`, in decimals as long as it takes.
"""
