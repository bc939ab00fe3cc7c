"""Names of users in assertions and logout requests: SAML 2.0 Core §8.3."""

from dataclasses import dataclass

from identity.access.sessions.session import Session
from identity.authentication.saml.names import EMAIL_ADDRESS, PERSISTENT, TRANSIENT
from identity.authentication.saml_applications.attributes import xml_text
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.directory.subjects import Subjects
from identity.directory.user import User
from identity.foundation.tenants import Tenant


@dataclass(frozen=True, slots=True)
class NameIds:
    subjects: Subjects
    hasher: SecretHasher

    def of(self, name_id_format: str, tenant: Tenant, client: Client, *, user: User, session: Session) -> str:
        """Return the name of the user; empty if the user has none of this format."""
        subject = self.subjects.of(tenant, client, user.user_id)
        if name_id_format == TRANSIENT:
            # An XML id begins with no digit. A session has one name, which a logout repeats.
            return f"_{self.hasher.hash(f'saml {client.id} {session.sid}').hex()}"
        if name_id_format == EMAIL_ADDRESS:
            # Applications take the address for the user's own.
            return user.email if user.is_email_verified else ""
        if name_id_format == PERSISTENT:
            return subject
        return xml_text(user.preferred_username) or subject

    def session_index(self, tenant: Tenant, client: Client, session: Session) -> str:
        return self.subjects.session_of(tenant, client, session.sid)
