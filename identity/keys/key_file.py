"""Master keys in a file, for deployments whose operator was never asked for one.

One text a line, readable by its owner alone. Processes that start at the same time agree by the file system: whoever
links the file first made the key.
"""

import os
import tempfile
from pathlib import Path

from identity.keys.config import EncryptionConfig
from identity.keys.master_keys import BadMasterKeys, MasterKeys, new_master_key
from identity.randomness import Randomness


def master_keys(config: EncryptionConfig, randomness: Randomness) -> MasterKeys:
    """Those that are configured, else those of the file, else new ones; raises BadMasterKeys, OSError."""
    if config.keys and config.key_file:
        raise BadMasterKeys("expected encryption.keys or encryption.key_file, found both")
    if config.keys:
        return MasterKeys.read(config.keys, config.active, randomness=randomness)
    if config.key_file is None:
        return MasterKeys.read([new_master_key(randomness)], config.active, randomness=randomness)
    return _from_file(config.key_file, config.active, randomness)


def _from_file(file: Path, active: str, randomness: Randomness) -> MasterKeys:
    if not file.exists():
        # The account that a bundled database runs as passes through it; the file is for its owner alone.
        file.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        _create(file, f"{new_master_key(randomness)}\n")
    lines = [line for line in file.read_text("ascii", "replace").splitlines() if line.strip()]
    try:
        return MasterKeys.read(lines, active, randomness=randomness)
    except BadMasterKeys:
        # A line of another kind of file may be a secret too.
        raise BadMasterKeys(
            f"{file}: expected lines of <id>/<32 bytes in base64>, one of them active"
        ) from None


def _create(file: Path, text: str) -> None:
    """Write the file whole, unless somebody else did in the meantime."""
    with tempfile.NamedTemporaryFile(dir=file.parent) as draft:  # made with mode 0600
        draft.write(text.encode())
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, file)
        except FileExistsError:
            return
