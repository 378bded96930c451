"""The parameter synthesis problems of PRISM-PSY, with the figures that its paper prints in Tables 1 to 5.

Češka, Pilař, Paoletti, Brim and Kwiatkowska, "PRISM-PSY: precise GPU-accelerated parameter synthesis for stochastic
systems" (TACAS 2016). Times are seconds on a processor and a graphics card of about 2010. The printed numbers of
regions are approximate; those of steps say how many matrix products one region needs at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

SEQUENTIAL = "Java"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A problem about a model of the gallery, and what the paper needed for it.

    Attributes
    ----------
    kind
        ``threshold``: where the property holds, up to a part ``tolerance`` of the volume. ``max`` and ``min``: where
        its value is best, with bounds on it that are ``tolerance`` apart.
    ranges
        The parameters, in the paper's order, with their least and largest values.
    states, transitions
        Of the gallery's model.
    times
        Seconds as printed, for the sequential program and for each of those on the device: ``Csr`` and ``Ell`` by the
        layout of the matrix, with the number of regions treated at a time.
    regions, steps
        As printed.
    note
        Where the paper leaves something open.
    """

    table: int
    name: str
    model: str
    constants: str
    prop: str
    kind: Literal["threshold", "max", "min"]
    ranges: Mapping[str, tuple[float, float]]
    tolerance: float
    states: int
    transitions: int
    times: Mapping[str, float]
    regions: int
    steps: int
    note: str = ""

    @property
    def sequential(self) -> float:
        """The time of the sequential program."""
        return self.times[SEQUENTIAL]

    @property
    def device(self) -> str:
        """The fastest program on the device."""
        return min((name for name in self.times if name != SEQUENTIAL), key=self.times.__getitem__)

    @property
    def best(self) -> float:
        """Its time."""
        return self.times[self.device]


_gfs = partial(Case, table=1, model="gfs", constants="M=60,copies=3", states=21_606, transitions=145_335)
_GFS_NOTE = "the paper prints no other rate than the parameters; see the model for what it was built from"
_SIR_RANGES = {"ki": (0.00005, 0.003), "kr": (0.005, 0.2)}
_SIR_NOTE = "printed with ki from 0.005 to 0.3, which would need thirty times as many steps as are printed"
_signalling = partial(
    Case,
    table=3,
    model="signalling",
    prop='R{"steady"}>=8 [ C<=10 ]',
    kind="threshold",
    ranges={"prodR": (0.1, 0.9), "degrR": (0.005, 0.02)},
    tolerance=0.09,
)

CASES = [
    _gfs(
        name="GFS 1",
        prop='P>=0.5 [ F[0,60] "service_level_3" ]',
        kind="threshold",
        ranges={"c_hard_re": (0.5, 2)},
        tolerance=0.01,
        times={"Java": 842, "Csr1": 56, "Csr4": 51, "Csr16": 51, "Ell16": 41},
        regions=8,
        steps=47_000,
        note=_GFS_NOTE,
    ),
    _gfs(
        name="GFS 2, maximum",
        prop='P=? [ !"service_level_3" U[40,60] "service_level_3" ]',
        kind="max",
        ranges={"c_hard_re": (0.5, 2)},
        tolerance=0.01,
        times={"Java": 3279, "Csr1": 257, "Csr4": 239, "Csr8": 211, "Ell32": 207},
        regions=24,
        steps=47_000,
        note=_GFS_NOTE,
    ),
    _gfs(
        name="GFS 2, threshold",
        prop='P>=0.5 [ !"service_level_3" U[40,60] "service_level_3" ]',
        kind="threshold",
        ranges={"c_hard_re": (0.5, 2), "c_fail": (0.01, 1)},
        tolerance=0.1,
        times={"Java": 12_221, "Csr1": 764, "Csr8": 660, "Csr64": 636, "Ell16": 505},
        regions=136,
        steps=47_000,
        note=_GFS_NOTE,
    ),
    Case(
        table=2,
        name="SIR (100,120)",
        model="sir",
        constants="S0=95,I0=5,R0=0",
        prop="P=? [ ill>0 U[100,120] ill=0 ]",
        kind="max",
        ranges=_SIR_RANGES,
        tolerance=0.01,
        states=5_136,
        transitions=10_076,
        times={"Java": 918, "Csr1": 363, "Csr4": 269, "Csr16": 207, "Csr128": 167, "Ell128": 162},
        regions=3_100,
        steps=3_100,
        note=_SIR_NOTE,
    ),
    Case(
        table=2,
        name="SIR (100,200)",
        model="sir",
        constants="S0=195,I0=5,R0=0",
        prop="P=? [ ill>0 U[100,200] ill=0 ]",
        kind="max",
        ranges=_SIR_RANGES,
        tolerance=0.01,
        states=20_286,
        transitions=40_176,
        times={"Java": 3117, "Csr1": 303, "Csr4": 351, "Csr16": 315, "Csr64": 303, "Ell128": 299},
        regions=826,
        steps=12_000,
        note=f"{_SIR_NOTE}; the population is doubled, and how many are infected first is not said",
    ),
    _signalling(
        name="signalling",
        constants="least=25,most=35,usual=30,steep=4,signal=15,helped=true",
        states=116_281,
        transitions=954_360,
        times={"Java": 16_482, "Csr1": 868, "Csr2": 890, "Csr4": 866, "Ell4": 666},
        regions=70,
        steps=19_000,
    ),
    _signalling(
        name="signalling, larger",
        constants="least=20,most=40,usual=30,steep=4,signal=15,helped=true",
        states=423_801,
        transitions=3_586_590,
        times={"Java": 95_466, "Csr1": 3870, "Csr2": 3949, "Csr4": 3946, "Ell4": 3065},
        regions=67,
        steps=24_000,
        note="the bounds of the populations are those that give the printed 424 thousand states",
    ),
    Case(
        table=4,
        name="approximate majority",
        model="approximate_majority",
        constants="A0=10,B0=4,joined=false",
        prop='P>=0.95 [ F[100,100] "correct" ]',
        kind="threshold",
        ranges={"k1": (1, 100), "k2": (1, 100), "k3": (1, 100)},
        tolerance=0.1,
        states=120,
        transitions=276,
        times={
            "Java": 1097,
            "Csr1": 11_375,
            "Csr4": 3057,
            "Csr16": 951,
            "Csr64": 319,
            "Csr128": 195,
            "Ell128": 193,
        },
        regions=911,
        steps=700_000,
        note="printed with 273 transitions, without the loops of the three states where nothing happens",
    ),
    Case(
        table=5,
        name="cluster",
        model="cluster",
        constants="N=48",
        prop='R{"time_not_min"}<=0.1 [ C<=100 ]',
        kind="threshold",
        ranges={"ws_check": (5, 20), "ws_repair": (0.5, 5), "ws_fail": (0.001, 0.02)},
        tolerance=0.1,
        states=85_652,
        transitions=414_752,
        times={"Java": 12_074, "Csr1": 637, "Csr4": 674, "Ell4": 672},
        regions=273,
        steps=9_000,
        note="0.1 % of the time, as the paper says in words; its formula says 10 %, which fails in one corner only",
    ),
]
