"""What a run adds up: how much was asked and compared, what was refused, how wide bounds were, and what was wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Failure:
    """A wrong answer, with all that is needed to see it again."""

    where: str  # campaign, seed and round
    question: str
    mistake: str
    model: str = ""
    truth: str = ""

    def __str__(self) -> str:
        return f"{self.where}  {self.question}\n    {self.mistake}"


@dataclass
class Tally:
    models: int = 0
    questions: int = 0
    numbers: int = 0  # compared with an exact value, by the bounds or by what is printed
    bounded: int = 0  # of them, by the bounds
    widest: float = 0.0  # relative to the value, of proved bounds without a warning
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)  # a refused question for each reason
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.models += other.models
        self.questions += other.questions
        self.numbers += other.numbers
        self.bounded += other.bounded
        self.widest = max(self.widest, other.widest)
        self.refused += other.refused
        self.examples = other.examples | self.examples
        self.failures += other.failures

    def line(self) -> str:
        return (
            f"{self.models:,} models, {self.questions:,} questions, {self.numbers:,} numbers compared "
            f"({self.bounded:,} by their bounds), {self.refused.total():,} refused, widest bound {self.widest:.2g}, "
            f"{len(self.failures):,} failures"
        )
