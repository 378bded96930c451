"""A network as a program in the PRISM language."""

from __future__ import annotations

from collections.abc import Iterator

from .network import Channel, Network

__all__ = ["printed"]


def printed(network: Network) -> str:
    """The text of the program."""
    return "\n".join(_lines(network)) + "\n"


def _lines(network: Network) -> Iterator[str]:
    yield f"// {network.title}, by mass action: a^m of a law counts a*(a-1)*...*(a-m+1) molecules."
    renamed = [species for species in network.species if species.name != species.id]
    if renamed:
        yield f"// Keywords have other names: {', '.join(f'{s.id} is {s.name}' for s in renamed)}."
    yield ""
    yield "ctmc"
    yield ""
    for constant in network.constants:
        value = "" if constant.value is None else f" = {constant.value}"
        yield f"const double {constant.name}{value}; // {constant.what}"
    for species in network.species:
        if species.bound is None:
            yield (
                f"const int {species.most}; // how many of {species.id} there may be: reactions that would make more "
                "are left out"
            )
    yield ""
    for name, text in network.formulas:
        yield f"formula {name} = {text};"
    yield "module network"
    yield ""
    for species in network.species:
        bound = species.most if species.bound is None else species.bound
        yield f"  {species.name} : [0..{bound}] init {species.initial};"
    yield ""
    for channel in network.channels:
        yield f"  [{channel.name}] {_guard(channel, network)} -> {_rate(channel)} : {_update(channel)};"
    yield ""
    yield "endmodule"
    for species in network.species:
        yield f'\nrewards "{species.id}" // how many there are\n  true : {species.name};\nendrewards'
    for channel in network.channels:
        yield f'\nrewards "{channel.id}" // how often it happens\n  [{channel.name}] true : 1;\nendrewards'


def _guard(channel: Channel, network: Network) -> str:
    parts = [f"{name}>={count}" for name, count in channel.needs.items()]
    for species in network.species:
        change = channel.changes.get(species.name, 0)
        if species.bound is None and change > 0:
            parts.append(f"{species.name}+{change}<={species.most}")
    return " & ".join(parts) or "true"


def _rate(channel: Channel) -> str:
    factors = [channel.coefficient]
    for name, count in channel.needs.items():
        factors += [name, *(f"({name}-{less})" for less in range(1, count))]
    return "*".join(factors)


def _update(channel: Channel) -> str:
    parts = [f"({name}'={name}{change:+d})" for name, change in channel.changes.items() if change]
    return " & ".join(parts) or "true"
