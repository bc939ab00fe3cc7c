"""Structured logs: JSON lines for machines, plain lines for terminals.

Messages are constant; facts go into `extra`. Tokens, passwords, codes and bodies are never logged.
"""

import logging
import sys
from dataclasses import dataclass
from enum import StrEnum

from pythonjsonlogger.json import JsonFormatter


class LogFormat(StrEnum):
    """Log format; AUTO is TEXT if standard error is a terminal, and JSON otherwise."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class LoggingConfig:
    """[logging]: `level` is a level name of Python's logging; `format` `auto` means text in a terminal and JSON otherwise."""

    level: str = "INFO"
    format: LogFormat = LogFormat.AUTO


def configure(config: LoggingConfig) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(config))
    logging.basicConfig(level=config.level, handlers=[handler], force=True)


def _formatter(config: LoggingConfig) -> logging.Formatter:
    if config.format == LogFormat.TEXT or (config.format == LogFormat.AUTO and sys.stderr.isatty()):
        return logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    return JsonFormatter("{levelname}{name}{message}", style="{", timestamp=True)
