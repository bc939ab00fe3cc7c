"""Master keys in a file, for deployments without configured keys.

The file has one text a line.
"""

from pathlib import Path

from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import BadMasterKeys, MasterKeys, new_master_key
from identity.foundation.randomness import Randomness
from server.platform.private_file import kept_text


def master_keys(config: EncryptionConfig, randomness: Randomness) -> MasterKeys:
    """Return the configured keys, else those of the file, else new ones; raises BadMasterKeys, OSError."""
    if config.keys and config.key_file:
        raise BadMasterKeys("expected encryption.keys or encryption.key_file, found both")
    if config.keys:
        return MasterKeys.read(config.keys, config.active, randomness=randomness)
    if config.key_file is None:
        return MasterKeys.read([new_master_key(randomness)], config.active, randomness=randomness)
    return _from_file(config.key_file, config.active, randomness)


def _from_file(file: Path, active: str, randomness: Randomness) -> MasterKeys:
    text = kept_text(file, lambda: f"{new_master_key(randomness)}\n")
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return MasterKeys.read(lines, active, randomness=randomness)
    except BadMasterKeys:
        # A line of an unrelated file may be a secret too.
        raise BadMasterKeys(
            f"{file}: expected lines of <id>/<32 bytes in base64>, one of them active"
        ) from None
