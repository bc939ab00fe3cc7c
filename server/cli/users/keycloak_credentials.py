"""Credentials of a Keycloak realm file: passwords in PHC format, and authenticator apps."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from gnomon.identity.v1.user_transfer_service_pb2 import TransferredGenerator

Members = Mapping[str, Any]

_PBKDF2 = {
    "pbkdf2": "pbkdf2-sha1",
    "pbkdf2-sha256": "pbkdf2-sha256",
    "pbkdf2-sha512": "pbkdf2-sha512",
}
_ARGON2_VERSIONS = {"1.0": "16", "1.3": "19"}
_BCRYPT = "$2"


class UnknownCredential(Exception):
    """A credential that cannot be imported; the message names only its kind."""


def password_hash(credential: Members) -> str:
    """Return the hash in PHC format; raises UnknownCredential."""
    data, secret = _document(credential, "credentialData"), _document(credential, "secretData")
    # Realm files of older Keycloak versions have these members in the credential itself.
    algorithm = str(data.get("algorithm") or credential.get("algorithm") or "pbkdf2")
    iterations = data.get("hashIterations") or credential.get("hashIterations") or 0
    value = str(secret.get("value") or credential.get("hashedSaltedValue") or "")
    salt = str(secret.get("salt") or credential.get("salt") or "")
    if algorithm in _PBKDF2:
        return f"${_PBKDF2[algorithm]}$i={iterations}${_plain(salt)}${_plain(value)}"
    if algorithm == "argon2":
        return f"{_argon2(data, iterations)}${_plain(salt)}${_plain(value)}"
    # The format of Keycloak's bcrypt extension.
    if value.startswith(_BCRYPT):
        return value
    raise UnknownCredential(f"the password hash of the kind {algorithm!r} is unknown")


def generator(credential: Members) -> TransferredGenerator:
    """Return an authenticator app; raises UnknownCredential for another form of one-time code than this provider's."""
    data, secret = _document(credential, "credentialData"), _document(credential, "secretData")
    form = (
        data.get("subType", "totp"),
        data.get("digits", 6),
        data.get("period", 30),
        data.get("algorithm", "HmacSHA1"),
    )
    if form != ("totp", 6, 30, "HmacSHA1"):
        raise UnknownCredential("one-time codes are not of six digits, 30 seconds and SHA-1")
    value = str(secret.get("value", ""))
    is_base32 = data.get("secretEncoding") == "BASE32"
    text = value if is_base32 else base64.b32encode(value.encode()).decode()
    return TransferredGenerator(name=str(credential.get("userLabel") or "")[:64], secret=text.rstrip("="))


def _argon2(data: Members, iterations: object) -> str:
    parameters = data.get("additionalParameters") or {}

    def first(name: str, absent: str) -> str:
        return str(next(iter(parameters.get(name) or ()), absent))

    version = _ARGON2_VERSIONS.get(first("version", "1.3"), "19")
    place = f"$argon2{first('type', 'id')}$v={version}"
    return f"{place}$m={first('memory', '7168')},t={iterations},p={first('parallelism', '1')}"


def _document(credential: Members, name: str) -> Members:
    """Parse a document that the file holds as JSON text; raises UnknownCredential."""
    text = credential.get(name) or "{}"
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except ValueError as error:
        raise UnknownCredential(f"{name} is no JSON") from error
    if not isinstance(found, dict):
        raise UnknownCredential(f"{name} is not a JSON object")
    return found


def _plain(text: str) -> str:
    try:
        # Files of other programs may lack padding.
        octets = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnknownCredential("a salt or a hash is not base64") from error
    return base64.b64encode(octets).rstrip(b"=").decode()
