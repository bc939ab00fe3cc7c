"""Encryption and decryption of XML elements: XML Encryption 1.1 §5, SAML 2.0 Core §6.

The content key comes by RSA-OAEP alone. AES-CBC does not detect changes, so a caller decrypts it only where a verified
signature covers the encrypted element. We encrypt with AES-256-GCM.
"""

import base64
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, OAEP
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from identity.crypto.xml.documents import (
    MalformedXml,
    XmlElement,
    new_element,
    parse,
    serialized,
    text_of,
)
from identity.crypto.xml.signatures import DS
from identity.foundation.randomness import Randomness

XENC: Final = "{http://www.w3.org/2001/04/xmlenc#}"
XENC11: Final = "{http://www.w3.org/2009/xmlenc11#}"

_ELEMENT = f"{XENC[1:-1]}Element"
_OAEP_SHA1 = f"{XENC[1:-1]}rsa-oaep-mgf1p"
_OAEP = f"{XENC11[1:-1]}rsa-oaep"
_AES_256_GCM = f"{XENC11[1:-1]}aes256-gcm"
_GCM = {f"{XENC11[1:-1]}aes{bits}-gcm": bits // 8 for bits in (128, 192, 256)}
_CBC = {f"{XENC[1:-1]}aes{bits}-cbc": bits // 8 for bits in (128, 192, 256)}
_DIGESTS: Final[dict[str, hashes.HashAlgorithm]] = {
    # OAEP does not need a collision-resistant hash, and many providers know no other: RFC 8017 §7.1.
    "http://www.w3.org/2000/09/xmldsig#sha1": hashes.SHA1(),  # noqa: S303
    f"{XENC[1:-1]}sha256": hashes.SHA256(),
    "http://www.w3.org/2001/04/xmldsig-more#sha384": hashes.SHA384(),
    f"{XENC[1:-1]}sha512": hashes.SHA512(),
}
_MASKS: Final[dict[str, hashes.HashAlgorithm]] = {
    f"{XENC11[1:-1]}mgf1sha1": hashes.SHA1(),  # noqa: S303
    f"{XENC11[1:-1]}mgf1sha256": hashes.SHA256(),
    f"{XENC11[1:-1]}mgf1sha384": hashes.SHA384(),
    f"{XENC11[1:-1]}mgf1sha512": hashes.SHA512(),
}
_NONCE_OCTETS, _BLOCK_OCTETS, _KEY_OCTETS = 12, 16, 32
_PREFIXES: Final = {"xenc": XENC[1:-1], "ds": DS[1:-1]}


class Undecryptable(Exception):
    """The element cannot be decrypted; the error does not give the reason."""


def encrypted(element: XmlElement, key: RSAPublicKey, randomness: Randomness) -> XmlElement:
    """Return the `EncryptedData` of an element: AES-256-GCM, and RSA-OAEP with SHA-1, which all recipients know."""
    content_key, nonce = randomness.octets(_KEY_OCTETS), randomness.octets(_NONCE_OCTETS)
    content = nonce + AESGCM(content_key).encrypt(nonce, serialized(element), None)
    padding = OAEP(mgf=MGF1(hashes.SHA1()), algorithm=hashes.SHA1(), label=None)  # noqa: S303
    data = new_element(f"{XENC}EncryptedData", {"Type": _ELEMENT}, _PREFIXES)
    new_element(f"{XENC}EncryptionMethod", {"Algorithm": _AES_256_GCM}, _PREFIXES, parent=data)
    key_info = new_element(f"{DS}KeyInfo", {}, _PREFIXES, parent=data)
    encrypted_key = new_element(f"{XENC}EncryptedKey", {}, _PREFIXES, parent=key_info)
    method = new_element(
        f"{XENC}EncryptionMethod", {"Algorithm": _OAEP_SHA1}, _PREFIXES, parent=encrypted_key
    )
    new_element(f"{DS}DigestMethod", {"Algorithm": f"{DS[1:-1]}sha1"}, _PREFIXES, parent=method)
    _write_cipher_value(encrypted_key, key.encrypt(content_key, padding))
    _write_cipher_value(data, content)
    return data


def _write_cipher_value(parent: XmlElement, octets: bytes) -> None:
    cipher_data = new_element(f"{XENC}CipherData", {}, _PREFIXES, parent=parent)
    value = new_element(f"{XENC}CipherValue", {}, _PREFIXES, parent=cipher_data)
    value.text = base64.b64encode(octets).decode()


def decrypted(encrypted: XmlElement, key: RSAPrivateKey, *, is_authentic: bool) -> XmlElement:
    """Decrypt an element with `EncryptedData`; `is_authentic` permits AES-CBC. Raises Undecryptable."""
    try:
        return _decrypted(encrypted, key, is_authentic=is_authentic)
    except (ValueError, KeyError, InvalidTag, MalformedXml) as error:
        raise Undecryptable("the element cannot be decrypted") from error


def _decrypted(encrypted: XmlElement, key: RSAPrivateKey, *, is_authentic: bool) -> XmlElement:
    content = _only(encrypted, f"{XENC}EncryptedData")
    if content.get("Type", _ELEMENT) != _ELEMENT:
        raise ValueError("expected an encrypted element")
    # The key is in the content or beside it: SAML 2.0 Core §2.3.4.
    keys = list(encrypted.iter(f"{XENC}EncryptedKey"))
    if len(keys) != 1:
        raise ValueError("expected one encrypted key")
    algorithm = _algorithm(content)
    lengths = _GCM | (_CBC if is_authentic else {})
    if algorithm not in lengths:
        raise ValueError("expected AES")
    content_key = key.decrypt(_cipher_value(keys[0]), _padding(keys[0]))
    if len(content_key) != lengths[algorithm]:
        raise ValueError("expected a key of the length of its algorithm")
    octets = _cipher_value(content)
    text = _gcm(content_key, octets) if algorithm in _GCM else _cbc(content_key, octets)
    return _element(text, encrypted)


def _element(text: bytes, around: XmlElement) -> XmlElement:
    """Parse an element within the namespaces that are declared around it."""
    declared = "".join(
        f' xmlns{":" if prefix else ""}{prefix or ""}="{_escaped(uri)}"'
        for prefix, uri in around.nsmap.items()
    )
    root = parse(f"<decrypted{declared}>".encode() + text + b"</decrypted>")
    if len(root) != 1 or (root.text or "").strip() or (root[0].tail or "").strip():
        raise ValueError("expected one element")
    return root[0]


def _escaped(uri: str) -> str:
    return uri.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _gcm(key: bytes, octets: bytes) -> bytes:
    return AESGCM(key).decrypt(octets[:_NONCE_OCTETS], octets[_NONCE_OCTETS:], None)


def _cbc(key: bytes, octets: bytes) -> bytes:
    decryptor = Cipher(AES(key), CBC(octets[:_BLOCK_OCTETS])).decryptor()
    padded = decryptor.update(octets[_BLOCK_OCTETS:]) + decryptor.finalize()
    # §5.2: the last octet is the length of the padding, its other octets are arbitrary.
    if not padded or not 1 <= padded[-1] <= _BLOCK_OCTETS:
        raise ValueError("expected padding")
    return padded[: -padded[-1]]


def _padding(encrypted_key: XmlElement) -> OAEP:
    method = _only(encrypted_key, f"{XENC}EncryptionMethod")
    algorithm = method.get("Algorithm")
    if algorithm not in {_OAEP, _OAEP_SHA1} or method.find(f"{XENC}OAEPparams") is not None:
        raise ValueError("expected RSA-OAEP without parameters")
    digest, mask = method.find(f"{DS}DigestMethod"), method.find(f"{XENC11}MGF")
    # §5.5.2: SHA-1 is the default of both algorithms.
    hashed = hashes.SHA1() if digest is None else _DIGESTS[digest.get("Algorithm", "")]  # noqa: S303
    masked = hashes.SHA1() if mask is None else _MASKS[mask.get("Algorithm", "")]  # noqa: S303
    return OAEP(mgf=MGF1(masked), algorithm=hashed, label=None)


def _algorithm(content: XmlElement) -> str:
    return _only(content, f"{XENC}EncryptionMethod").get("Algorithm", "")


def _cipher_value(element: XmlElement) -> bytes:
    value = _only(_only(element, f"{XENC}CipherData"), f"{XENC}CipherValue")
    return base64.b64decode("".join(text_of(value).split()), validate=True)


def _only(element: XmlElement, tag: str) -> XmlElement:
    found = element.findall(tag)
    if len(found) != 1:
        raise ValueError(f"expected one {tag}")
    return found[0]
