"""The configuration for server and operator commands: file, environment and data directory."""

import dataclasses
import os
from pathlib import Path

from server.platform.config import load
from server.sections import Config


def configured(file: Path | None) -> Config:
    """Load the configuration; raises ConfigError."""
    config = load(Config, file, os.environ)
    data = os.environ.get("GNOMON_DATA_DIR")
    if data:
        database = dataclasses.replace(config.database, data_directory=Path(data))
        config = dataclasses.replace(config, database=database)
    return config
