"""Hashes of one password, made as other systems make them, at the least cost that they allow."""

import base64
import hashlib
from collections.abc import Callable, Mapping

import bcrypt
from argon2 import PasswordHasher, Type

PASSWORD = "correct horse battery staple ß"
_OCTETS = PASSWORD.encode()
_SALT = bytes(range(16))


def _plain(value: bytes) -> str:
    return base64.b64encode(value).rstrip(b"=").decode()


def _padded(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _passlib(value: bytes) -> str:
    return _plain(value).replace("+", ".")


def pbkdf2(name: str, *, length: int | None = None, salt: bytes = _SALT, iterations: int = 10) -> bytes:
    return hashlib.pbkdf2_hmac(name, _OCTETS, salt, iterations, length)


def _bcrypt(version: str) -> str:
    made = bcrypt.hashpw(_OCTETS, bcrypt.gensalt(4)).decode()
    return f"${version}${made[4:]}"


def _argon2(kind: Type) -> str:
    return PasswordHasher(time_cost=1, memory_cost=64, parallelism=1, type=kind).hash(PASSWORD)


def _scrypt(salt: bytes) -> bytes:
    return hashlib.scrypt(_OCTETS, salt=salt, n=16, r=8, p=1, dklen=64)


MADE: Mapping[str, Callable[[], str]] = {
    "bcrypt 2a": lambda: _bcrypt("2a"),
    "bcrypt 2b": lambda: _bcrypt("2b"),
    "bcrypt 2y": lambda: _bcrypt("2y"),
    "bcrypt of Django": lambda: f"bcrypt${_bcrypt('2b')}",
    "argon2i": lambda: _argon2(Type.I),
    "argon2id": lambda: _argon2(Type.ID),
    "argon2id of Django": lambda: f"argon2{_argon2(Type.ID)}",
    "PBKDF2 with SHA-1": lambda: f"$pbkdf2$10${_passlib(_SALT)}${_passlib(pbkdf2('sha1'))}",
    "PBKDF2 with SHA-256": lambda: f"$pbkdf2-sha256$10${_passlib(_SALT)}${_passlib(pbkdf2('sha256'))}",
    "PBKDF2 with SHA-512": lambda: f"$pbkdf2-sha512$i=10${_plain(_SALT)}${_plain(pbkdf2('sha512'))}",
    "PBKDF2 of several blocks": lambda: (
        f"$pbkdf2-sha256$i=10${_plain(_SALT)}${_plain(pbkdf2('sha256', length=64))}"
    ),
    "PBKDF2 of Django": lambda: f"pbkdf2_sha256$10$salted${_padded(pbkdf2('sha256', salt=b'salted'))}",
    "scrypt": lambda: f"$scrypt$ln=4,r=8,p=1${_plain(_SALT)}${_plain(_scrypt(_SALT))}",
    "scrypt of Django": lambda: f"scrypt$16$salted$8$1${_padded(_scrypt(b'salted'))}",
}
