"""Send a number of random requests: `python -m tests.requests 1000000 seed [embedded|bundled]`, half to each mode."""

import asyncio
import secrets
import sys

from rich.console import Console

from server.platform.policy import Mode
from tests.campaigns.report import LOGS
from tests.requests.campaign import MODES, Findings, campaign


def main(count: str = "1000000", seed: str = "", only: str = "") -> int:
    """The exit code: 1 when an answer was wrong."""
    console = Console(width=140)
    modes = (Mode(only),) if only else MODES
    logs = LOGS / "requests"
    logs.mkdir(parents=True, exist_ok=True)
    is_right = True
    seed = seed or secrets.token_hex(4)

    def tell(findings: Findings) -> None:
        """So that a run which is ended early has said what it found."""
        console.print(
            f"{findings.mode}: {findings.sent:,} requests, {findings.rounds} rounds, {findings.failures:,} failures, "
            f"wrong: {dict(findings.violations)}",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )

    for mode in modes:
        findings = asyncio.run(campaign(mode, int(count) // len(modes), seed, logs, told=tell))
        console.print(findings.table())
        for name, number in findings.violations.most_common():
            console.print(f"{number} × {name}\n{findings.examples[name]}\n", markup=False, highlight=False)
        is_right &= not findings.violations
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
