"""Small random programs with questions, for campaigns: chains and MDPs that move between a few hundred states."""

from __future__ import annotations

import random

__all__ = ["questions", "random_program"]


def random_program(draw: random.Random) -> tuple[str, str]:
    """The type of a program, and its text: two counters, with ways on, back, round and out."""
    kind = draw.choice(["dtmc", "ctmc", "mdp"])
    size, other = draw.randint(2, 60), draw.randint(2, 20)
    lines = [kind, "module walk", f"  x : [0..{size}] init 0;", f"  y : [0..{other}] init {draw.randint(0, other)};"]
    for _ in range(draw.randint(3, 8)):
        low = draw.randint(0, size)
        guard = draw.choice([f"x<{low}", f"x>={low}", f"y<{draw.randint(1, other)}", f"x={low}", "true"])
        targets = [
            f"(x'=min({size},x+{draw.randint(1, 3)}))",
            f"(x'=max(0,x-{draw.randint(1, 3)}))",
            f"(y'=min({other},y+1))",
            "(y'=max(0,y-1))",
            f"(x'={draw.randint(0, size)})",
            "true",
        ]
        chosen = draw.sample(targets, draw.randint(1, 3))
        parts = [draw.randint(1, 9) for _ in chosen]
        weights = [f"{part}/2" for part in parts] if kind == "ctmc" else [f"{part}/{sum(parts)}" for part in parts]
        updates = " + ".join(f"{weight}:{target}" for weight, target in zip(weights, chosen, strict=True))
        lines.append(f"  [{draw.choice(['', '', 'a'])}] {guard} -> {updates};")
    lines.append(f"  [a] x={draw.randint(0, size)} -> (y'={draw.randint(0, other)});")
    lines += [
        "endmodule",
        'rewards "cost"',
        f"  x>{size // 2} : 2;",
        "  true : y/4;",
        f"  [a] true : {draw.randint(0, 3)};",
        "endrewards",
    ]
    lines.append(f'label "goal" = x={draw.randint(0, size)};')
    lines.append(f'label "bad" = y={draw.randint(0, other)};')
    return kind, "\n".join(lines)


def questions(draw: random.Random, kind: str) -> list[str]:
    """Questions of all kinds that ranks answer."""
    which = [""] if kind != "mdp" else ["min", "max"]
    found = []
    for best in which:
        bound = draw.randint(1, 40)
        found += [
            f'P{best}=? [ F "goal" ]',
            f'P{best}=? [ !"bad" U "goal" ]',
            f'P{best}=? [ G !"bad" ]',
            f'P{best}=? [ X "goal" ]',
            f'P{best}=? [ F<={bound} "goal" ]',
            f'P{best}=? [ !"bad" U[2,{bound + 2}] "goal" ]',
            f'R{{"cost"}}{best}=? [ F "goal" ]',
            f'R{{"cost"}}{best}=? [ C ]',
            f'R{{"cost"}}{best}=? [ C<={bound} ]',
            f'R{{"cost"}}{best}=? [ I={bound} ]',
            f'P{best}=? [ (G F "goal") & (F G !"bad") ]',
            f'P{best}=? [ (G F "goal" => G F "bad") & (X F "goal") ]',
            f'P{best}=? [ F ("goal" & (X !"bad")) ]',
            f'P{best}=? [ G ("bad" => (X F "goal")) ]',
            f'R{{"cost"}}{best}=? [ F ("goal" & (X !"bad")) ]',
            f'P{best}>=1 [ (G F "goal") | (F G !"bad") ]',
        ]
    if kind != "mdp":
        found += ['S=? [ "goal" ]', 'R{"cost"}=? [ S ]']
    found += [
        'P>=1 [ F "goal" ]',
        'P>0 [ F "bad" ]',
        f'filter(max, P{which[0]}=? [ F "goal" ], "bad")',
        'filter(count, "goal")',
    ]
    return found
