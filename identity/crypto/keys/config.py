"""Sections of the configuration file about keys."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class EncryptionConfig:
    """[encryption]: the master keys that encrypt secrets at rest.

    `keys` are texts `<id>/<32 bytes in base64>`. `active` is the id of the key that encrypts, by default the last one.
    Instead of these, `key_file` names a file with one such text a line, which is created when missing. Without either,
    keys live as long as the process; only embedded mode allows that.
    """

    keys: tuple[str, ...] = field(default=(), repr=False)
    active: str = ""
    key_file: Path | None = None
