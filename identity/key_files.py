"""Signing keys in files, so that every process of a deployment signs with the same ones, also after a restart.

One file for each tenant, a JWK Set (RFC 7517 §5) with its private members, readable by its owner alone. Processes that
start at the same time agree by the file system: whoever links the file first made the keys.
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from joserfc.jwk import RSAKey

from identity.jose.algorithms import SigningAlgorithm
from identity.jose.key_set import KeySet, generate_key_set
from identity.jose.signing_key import SigningKey
from server.platform.call import TenantId

_IMPORTS = {SigningAlgorithm.RS256: RSAKey.import_key}


class KeyFileError(ValueError):
    """Names the file that holds no key set of ours."""


def stored_key_set(folder: Path, tenant_id: TenantId, new_kid: Callable[[], str]) -> KeySet:
    """The tenant's keys, made now when there are none; raises KeyFileError, OSError."""
    file = folder / f"{tenant_id}.json"
    if not file.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create(file, generate_key_set(new_kid))
    return _read(file)


def _create(file: Path, keys: KeySet) -> None:
    """Write the file whole, unless somebody else did in the meantime."""
    with tempfile.NamedTemporaryFile(dir=file.parent) as draft:  # made with mode 0600
        draft.write(msgspec.json.encode({"keys": [_private_jwk(key) for key in keys.keys]}))
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, file)
        except FileExistsError:
            return


def _read(file: Path) -> KeySet:
    try:
        document = msgspec.json.decode(file.read_bytes(), type=dict[str, list[dict[str, str]]])
        return KeySet(tuple(_signing_key(jwk) for jwk in document["keys"]))
    except (msgspec.DecodeError, KeyError, ValueError) as error:
        raise KeyFileError(f"{file}: expected the signing keys of a tenant") from error


def _private_jwk(key: SigningKey) -> Mapping[str, object]:
    return key.private_key.as_dict(private=True, kid=key.kid, use="sig", alg=key.algorithm.value)


def _signing_key(jwk: dict[str, str]) -> SigningKey:
    algorithm = SigningAlgorithm(jwk["alg"])
    members: dict[str, str | list[str]] = {
        name: value for name, value in jwk.items() if name not in {"kid", "use", "alg"}
    }
    return SigningKey(jwk["kid"], algorithm, _IMPORTS[algorithm](members))
