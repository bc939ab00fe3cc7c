"""A software authenticator after Web Authentication Level 3 §6."""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

_PRESENT, _VERIFIED, _ELIGIBLE, _BACKED_UP, _ATTESTED = 0x01, 0x04, 0x08, 0x10, 0x40
_ANONYMOUS = bytes(16)
_KEY = {1: 2, 3: -7, -1: 1}  # RFC 9053: EC2, ES256, P-256


@dataclass
class _Credential:
    key: ec.EllipticCurvePrivateKey
    rp_id: str
    user_handle: bytes
    count: int = 0


@dataclass
class SoftwareAuthenticator:
    """`origin` is that of the browser; the sign count grows by `step`."""

    origin: str
    verifies_user: bool = True
    is_copied: bool = False
    step: int = 1
    credentials: dict[bytes, _Credential] = field(default_factory=dict)

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """Respond to PublicKeyCredentialCreationOptions in JSON."""
        key, credential_id = ec.generate_private_key(ec.SECP256R1()), token_bytes(32)
        rp_id = options["rp"]["id"]
        self.credentials[credential_id] = _Credential(key, rp_id, _octets(options["user"]["id"]))
        numbers = key.public_key().public_numbers()
        public_key = cbor2.dumps(
            _KEY | {-2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        )
        described = len(credential_id).to_bytes(2, "big") + credential_id + public_key
        data = self._data(rp_id, 0, _ATTESTED) + _ANONYMOUS + described
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        return self._answer(
            credential_id,
            {
                "clientDataJSON": _text(self._client_data("webauthn.create", options["challenge"])),
                "attestationObject": _text(attestation),
                "transports": ["internal"],
            },
        )

    def get(self, options: dict[str, Any], credential_id: bytes | None = None) -> dict[str, Any]:
        """Respond to PublicKeyCredentialRequestOptions in JSON, with an allowed credential or with the given one."""
        chosen = credential_id or self._chosen(options)
        credential = self.credentials[chosen]
        credential.count += self.step
        data = self._data(options["rpId"], credential.count)
        client_data = self._client_data("webauthn.get", options["challenge"])
        signature = credential.key.sign(
            data + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256())
        )
        return self._answer(
            chosen,
            {
                "clientDataJSON": _text(client_data),
                "authenticatorData": _text(data),
                "signature": _text(signature),
                "userHandle": _text(credential.user_handle),
            },
        )

    def has_one_of(self, options: dict[str, Any]) -> bool:
        return bool(self._allowed(options))

    def knows(self, credential_id: str) -> bool:
        return _octets(credential_id) in self.credentials

    def _chosen(self, options: dict[str, Any]) -> bytes:
        if not options.get("allowCredentials"):
            return next(kept for kept, each in self.credentials.items() if each.rp_id == options["rpId"])
        return self._allowed(options)[0]

    def _allowed(self, options: dict[str, Any]) -> list[bytes]:
        asked = [_octets(each["id"]) for each in options["allowCredentials"]]
        return [credential_id for credential_id in asked if credential_id in self.credentials]

    def _data(self, rp_id: str, count: int, flags: int = 0) -> bytes:
        flags |= _PRESENT | (_VERIFIED if self.verifies_user else 0)
        flags |= (_ELIGIBLE | _BACKED_UP) if self.is_copied else 0
        return hashlib.sha256(rp_id.encode()).digest() + bytes([flags]) + count.to_bytes(4, "big")

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _answer(self, credential_id: bytes, response: dict[str, Any]) -> dict[str, Any]:
        name = _text(credential_id)
        return {"id": name, "rawId": name, "type": "public-key", "response": response}


def _text(octets: bytes) -> str:
    return urlsafe_b64encode(octets).rstrip(b"=").decode()


def _octets(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
