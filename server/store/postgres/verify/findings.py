"""Findings of a check: their number, and the first few as examples."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Findings:
    """`examples` are the first of `count` findings, each as the kind and key of the violating row."""

    most_examples: int
    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: object) -> None:
        self.count += 1
        if len(self.examples) < self.most_examples:
            self.examples.append(str(example))
