"""Keycloak realm files, as `kc.sh export` writes them."""

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from argon2.low_level import Type, hash_secret_raw

PASSWORD = "correct horse battery staple"
SALT = bytes(range(16))


def pbkdf2(algorithm: str, *, iterations: int = 10, octets: int = 64) -> Mapping[str, Any]:
    """Return a password credential of PBKDF2, of as many octets as Keycloak derives."""
    digest = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}[algorithm]
    value = hashlib.pbkdf2_hmac(digest, PASSWORD.encode(), SALT, iterations, octets)
    return password(value, {"hashIterations": iterations, "algorithm": algorithm, "additionalParameters": {}})


def argon2() -> Mapping[str, Any]:
    """Return a password credential of argon2id, with less memory than Keycloak's."""
    value = hash_secret_raw(PASSWORD.encode(), SALT, 5, 64, 1, 32, Type.ID)
    parameters = {
        "hashLength": ["32"],
        "memory": ["64"],
        "type": ["id"],
        "version": ["1.3"],
        "parallelism": ["1"],
    }
    return password(value, {"hashIterations": 5, "algorithm": "argon2", "additionalParameters": parameters})


def password(value: bytes, data: Mapping[str, Any]) -> Mapping[str, Any]:
    secret = {"value": _base64(value), "salt": _base64(SALT), "additionalParameters": {}}
    return {
        "id": "0b6a",
        "type": "password",
        "createdDate": 1735689600000,
        "secretData": json.dumps(secret),
        "credentialData": json.dumps(data),
    }


def one_time_codes(secret: str, **data: object) -> Mapping[str, Any]:
    form = {"subType": "totp", "digits": 6, "counter": 0, "period": 30, "algorithm": "HmacSHA1", **data}
    return {
        "id": "1c7b",
        "type": "otp",
        "userLabel": "Phone",
        "secretData": json.dumps({"value": secret}),
        "credentialData": json.dumps(form),
    }


def user(name: str, *credentials: Mapping[str, Any], **members: object) -> Mapping[str, Any]:
    return {
        "id": f"8f3c-{name}",
        "createdTimestamp": 1735689600123,
        "username": name,
        "enabled": True,
        "totp": False,
        "emailVerified": True,
        "firstName": "Ada",
        "lastName": "Lovelace",
        "email": f"{name}@example.com",
        "credentials": list(credentials),
        "disableableCredentialTypes": [],
        "requiredActions": [],
        "realmRoles": ["default-roles-acme"],
        "notBefore": 0,
        "groups": [],
        **members,
    }


def write_realm(file: Path, users: Iterator[Mapping[str, Any]]) -> Path:
    """Write a realm with these users, one after the other, among other members."""
    with file.open("w") as opened:
        opened.write('{"id": "acme", "realm": "acme", "roles": {"realm": [{"name": "users"}]}, "users": [')
        for number, each in enumerate(users):
            opened.write(("," if number else "") + json.dumps(each))
        opened.write('], "clients": [{"clientId": "app"}]}')
    return file


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
