"""Names of users in verified messages, readable or encrypted: SAML 2.0 Core §2.2.3, §2.2.4."""

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from identity.authentication.saml.names import SAML
from identity.authentication.saml.refusals import Refusal, RefusedMessage
from identity.crypto.xml.documents import XmlElement
from identity.crypto.xml.encryption import Undecryptable, decrypted

_NAME_ID, _ENCRYPTED_ID = f"{SAML}NameID", f"{SAML}EncryptedID"


def name_id_of(parent: XmlElement, key: RSAPrivateKey) -> XmlElement:
    """Return the one name in an element that a signature covers; raises RefusedMessage."""
    names = [element for element in parent if element.tag in {_NAME_ID, _ENCRYPTED_ID}]
    if len(names) != 1:
        raise RefusedMessage(Refusal.SUBJECT)
    if names[0].tag == _NAME_ID:
        return names[0]
    try:
        name = decrypted(names[0], key, is_authentic=True)
    except Undecryptable as error:
        raise RefusedMessage(Refusal.ENCRYPTION) from error
    if name.tag != _NAME_ID or len(name):
        raise RefusedMessage(Refusal.SUBJECT)
    return name
