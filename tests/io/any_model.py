"""Random models with everything a model can have."""

import numpy as np
from hypothesis import strategies as st

from galton.model import Model, PackedStates, Rewards

RATES = st.floats(min_value=1e-300, max_value=1e300)
REWARDS = st.floats(min_value=-1e6, max_value=1e6) | st.just(0.0)
NAMES = st.lists(st.from_regex(r"[a-z_][a-z0-9_]{0,9}", fullmatch=True), max_size=3, unique=True)


@st.composite
def distributions(draw: st.DrawFn, n: int, type: str) -> dict[int, float]:
    """Targets with probabilities (several can be tiny) or rates."""
    targets = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True))
    if type == "ctmc":
        return {target: draw(RATES) for target in targets}
    weights = [draw(st.integers(1, 10**6)) for _ in targets]
    return {target: weight / sum(weights) for target, weight in zip(targets, weights, strict=True)}


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Models with everything a model can have."""
    type = draw(st.sampled_from(["dtmc", "ctmc", "mdp"]))
    n = draw(st.integers(1, 6))
    sizes = [draw(st.integers(0, 3)) if type == "mdp" else 1 for _ in range(n)]
    rows = [draw(distributions(n, type)) for _ in range(sum(sizes))]
    if not rows:
        sizes[0], rows = 1, [draw(distributions(n, type))]
    flat = [(value, row, target) for row, choice in enumerate(rows) for target, value in choice.items()]
    values, sources, targets = (list(part) for part in zip(*flat, strict=True))
    rewards: dict[str, object] = {}
    for name in draw(NAMES):
        if draw(st.booleans()):
            rewards[name] = ([draw(REWARDS) for _ in values], (sources, targets))  # of transitions
        else:
            choice = [draw(REWARDS) for _ in rows] if type == "mdp" else None
            rewards[name] = Rewards(state=np.array([draw(REWARDS) for _ in range(n)]), choice=choice)
    model = Model.from_matrix(
        type,
        (values, (sources, targets)),
        row_groups=np.concatenate(([0], np.cumsum(sizes))) if type == "mdp" else None,
        actions=[draw(st.sampled_from(["", "go", "stay"])) for _ in rows] if type == "mdp" else None,
        initial=draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)),
        labels={name: draw(st.lists(st.integers(0, n - 1), unique=True)) for name in draw(NAMES)},
        rewards=rewards,
    )
    if draw(st.booleans()):
        columns: dict[str, list[int]] = {}
        for name in draw(NAMES.filter(len)):
            kind = draw(st.sampled_from([st.booleans(), st.integers(-3, 3), st.integers(-(2**31), 2**31 - 1)]))
            columns[name] = [draw(kind) for _ in range(n)]
        object.__setattr__(model, "states", PackedStates.from_columns(columns))
    return model
