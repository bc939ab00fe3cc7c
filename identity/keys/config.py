"""Sections of the configuration file about keys."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionConfig:
    """[encryption]: the master keys, under which secrets are kept.

    `keys` are texts `<id>/<32 bytes in base64>`, `active` is the id of the one that encrypts, the last one unless it is
    named. In their place `key_file` has one such text a line; it is made when there is none. Without either they live
    as long as the process, which only embedded mode does.
    """

    keys: tuple[str, ...] = field(default=(), repr=False)
    active: str = ""
    key_file: Path | None = None
