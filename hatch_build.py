"""Make the parts of the wheel that the repository does not hold."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RulesHook(BuildHookInterface):
    """Generates the module of buf.validate, for wheels and for editable installations."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's signature
        command = [sys.executable, str(Path(self.root) / "proto" / "generate.py"), "--rules"]
        subprocess.run(command, check=True)  # noqa: S603  # our own script
