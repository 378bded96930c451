"""Linear equations of chains, solved without a subtraction in decimals of any length.

    Σ_j a_ij·(x_j - x_i) - e_i·x_i + b_i = 0      with a, e, b >= 0

are the equations of rewards b of a chain that moves with rates a and ends with rates e. Eliminating a state only adds,
multiplies and divides nonnegative numbers (Grassmann, Taksar and Heyman 1985), so every digit that is carried along is
right but for a few at the end, however hard the chain is to leave (O'Cinneide 1993).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from decimal import Decimal

__all__ = ["eliminate"]

Sparse = list[dict[int, Decimal]]
ZERO = Decimal(0)


def eliminate(
    rates: Sparse, ends: Sequence[Decimal], rewards: Sequence[Sequence[Decimal]], budget: int
) -> list[list[Decimal]] | None:
    """The solution for each of the rewards; None if it would take more than ``budget`` products.

    The context of the decimals says how many digits are carried. ``rates`` has no diagonal, and is used up.
    """
    size = len(rates)
    into: list[set[int]] = [set() for _ in range(size)]
    for i, row in enumerate(rates):
        for j in row:
            into[j].add(i)
    end = list(ends)
    right = [list(reward) for reward in rewards]
    outflow: list[Decimal] = [ZERO] * size
    order: list[int] = []
    # The next state is one that adds the fewest entries (Markowitz); counts that are out of date come again.
    heap = [(len(into[i]) * len(rates[i]), i) for i in range(size)]
    heapq.heapify(heap)
    gone = [False] * size
    while heap:
        cost, k = heapq.heappop(heap)
        if gone[k]:
            continue
        now = len(into[k]) * len(rates[k])
        if now > cost:
            heapq.heappush(heap, (now, k))
            continue
        gone[k] = True
        order.append(k)
        budget -= now + 1
        if budget < 0:
            return None
        row = rates[k]
        flow = outflow[k] = sum(row.values(), end[k])
        if not flow:
            return None  # a state that is never left
        for i in into[k]:
            above = rates[i]
            share = above.pop(k) / flow
            for j, rate in row.items():
                if j != i:
                    above[j] = above.get(j, ZERO) + share * rate
                    into[j].add(i)
            end[i] += share * end[k]
            for b in right:
                b[i] += share * b[k]
        for j in row:
            into[j].discard(k)
            heapq.heappush(heap, (len(into[j]) * len(rates[j]), j))
    solutions: list[list[Decimal]] = []
    for b in right:
        x = [ZERO] * size
        for k in reversed(order):
            x[k] = sum((rate * x[j] for j, rate in rates[k].items()), b[k]) / outflow[k]
        solutions.append(x)
    return solutions
