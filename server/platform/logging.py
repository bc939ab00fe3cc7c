"""Structured logs: JSON lines for machines, plain lines where a person looks.

A message is constant, facts stand in `extra`. Tokens, passwords, codes and bodies are never logged.
"""

import logging
import sys
from dataclasses import dataclass

from pythonjsonlogger.json import JsonFormatter

JSON = "json"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class LoggingConfig:
    """[logging]: `level` is a name of Python's logging, `format` is json or text."""

    level: str = "INFO"
    format: str = JSON


def configure(config: LoggingConfig) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(config))
    logging.basicConfig(level=config.level, handlers=[handler], force=True)


def _formatter(config: LoggingConfig) -> logging.Formatter:
    if config.format == TEXT:
        return logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    return JsonFormatter("{asctime}{levelname}{name}{message}", style="{", timestamp=True)
