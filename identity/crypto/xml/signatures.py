"""Enveloped XML signatures of SAML: SAML 2.0 Core §5.4, XML Signature 1.1.

A caller reads nothing but the element that `verified` returns: it is made of the octets that were signed. Keys come
from the caller, never from the document, and only asymmetric algorithms without SHA-1 are accepted.
"""

from collections.abc import Iterable
from typing import Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.x509 import Certificate
from signxml.algorithms import CanonicalizationMethod, DigestAlgorithm, SignatureMethod
from signxml.exceptions import SignXMLException
from signxml.signer import XMLSigner
from signxml.verifier import SignatureConfiguration, VerifyResult, XMLVerifier

from identity.crypto.xml.documents import (
    LibraryError,
    MalformedXml,
    XmlElement,
    new_element,
    parse,
    serialized,
)

DS: Final = "{http://www.w3.org/2000/09/xmldsig#}"
SIGNATURE: Final = f"{DS}Signature"

_ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"
_EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
_EXCLUSIVE_WITH_COMMENTS = f"{_EXCLUSIVE}WithComments"
_CANONICALIZATIONS = {_EXCLUSIVE, _EXCLUSIVE_WITH_COMMENTS}
_METHODS = frozenset(
    {
        *(SignatureMethod.RSA_SHA256, SignatureMethod.RSA_SHA384, SignatureMethod.RSA_SHA512),
        *(SignatureMethod.SHA256_RSA_MGF1, SignatureMethod.SHA384_RSA_MGF1, SignatureMethod.SHA512_RSA_MGF1),
        *(SignatureMethod.ECDSA_SHA256, SignatureMethod.ECDSA_SHA384, SignatureMethod.ECDSA_SHA512),
    }
)
_DIGESTS = frozenset({DigestAlgorithm.SHA256, DigestAlgorithm.SHA384, DigestAlgorithm.SHA512})


class InvalidSignature(Exception):
    """The element has no signature, or none that one of the keys made in an accepted way."""


class WeakAlgorithm(InvalidSignature):
    """The signature or its digest has an algorithm that is not accepted."""


def is_signed(element: XmlElement) -> bool:
    """Whether the element has a signature as its own child, valid or not."""
    return element.find(SIGNATURE) is not None


def verified(element: XmlElement, certificates: Iterable[Certificate]) -> XmlElement:
    """Return the signed form of the element, verified by its own signature; raises InvalidSignature.

    The certificates only carry keys: their dates and issuers do not matter.
    """
    try:
        alone = parse(serialized(element))
        _expect_profile(alone)
    except MalformedXml as error:
        raise InvalidSignature(str(error)) from error
    for certificate in certificates:
        signed = _signed_by(alone, certificate)
        if signed is not None:
            return signed
    raise InvalidSignature("none of the provider's keys made the signature")


def signed(element: XmlElement, key: RSAPrivateKey, certificate: Certificate) -> XmlElement:
    """Return the element with a signature in place of its child `Signature` with the id `placeholder`."""
    signer = XMLSigner(
        signature_algorithm=SignatureMethod.RSA_SHA256,
        digest_algorithm=DigestAlgorithm.SHA256,
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    )
    return signer.sign(
        element, key=key, cert=[certificate], reference_uri=f"#{element.get('ID')}", id_attribute="ID"
    )


def placeholder() -> XmlElement:
    """Return the element that `signed` replaces by the signature."""
    return new_element(SIGNATURE, {"Id": "placeholder"}, {"ds": DS[1:-1]})


def _expect_profile(element: XmlElement) -> None:
    """Expect one signature, of the whole element, with the two transforms of SAML 2.0 Core §5.4."""
    signatures = element.findall(SIGNATURE)
    if len(signatures) != 1:
        raise InvalidSignature("expected one signature of the element")
    (signature,) = signatures
    if signature.find(f"{DS}Object") is not None:
        raise InvalidSignature("expected no object in the signature")
    references = list(signature.iter(f"{DS}Reference"))
    signed_id = element.get("ID", "")
    if len(references) != 1 or not signed_id or references[0].get("URI") != f"#{signed_id}":
        raise InvalidSignature("expected one reference, to the element itself")
    transforms = [transform.get("Algorithm", "") for transform in signature.iter(f"{DS}Transform")]
    if len(transforms) != 2 or transforms[0] != _ENVELOPED or transforms[1] not in _CANONICALIZATIONS:  # noqa: PLR2004  # both transforms of §5.4.4
        raise InvalidSignature("expected the enveloped-signature transform and exclusive canonicalization")
    methods = [method.get("Algorithm") for method in signature.iter(f"{DS}CanonicalizationMethod")]
    if len(methods) != 1 or methods[0] not in _CANONICALIZATIONS:
        raise InvalidSignature("expected exclusive canonicalization")
    _expect_algorithms(signature)


def _expect_algorithms(signature: XmlElement) -> None:
    for name, accepted in (("SignatureMethod", _METHODS), ("DigestMethod", _DIGESTS)):
        found = [method.get("Algorithm") for method in signature.iter(f"{DS}{name}")]
        if len(found) != 1 or found[0] not in {algorithm.value for algorithm in accepted}:
            raise WeakAlgorithm("the algorithm of the signature is not accepted")


def _signed_by(element: XmlElement, certificate: Certificate) -> XmlElement | None:
    config = SignatureConfiguration(
        location="./",
        signature_methods=_METHODS,
        digest_algorithms=_DIGESTS,
        ignore_ambiguous_key_info=True,
        # The metadata vouches for the key, not for the dates of the certificate around it.
        verification_time=certificate.not_valid_before_utc,
    )
    try:
        found = XMLVerifier().verify(
            serialized(element), x509_cert=certificate, id_attribute="ID", expect_config=config
        )
    except (SignXMLException, LibraryError, ValueError, KeyError, TypeError):
        return None
    # With one expected reference there is one result.
    assert isinstance(found, VerifyResult)  # noqa: S101
    signed_element = parse(found.signed_data)
    is_same = (signed_element.tag, signed_element.get("ID")) == (element.tag, element.get("ID"))
    return signed_element if is_same else None
