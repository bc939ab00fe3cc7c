"""Options and responses of authenticators: Web Authentication Level 3 §5, §7.

Both are JSON, with octets in base64url.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.authentication.verify_authentication_response import VerifiedAuthentication
from webauthn.helpers import bytes_to_base64url, parse_client_data_json
from webauthn.helpers import parse_authentication_credential_json as parse_assertion
from webauthn.helpers import parse_registration_credential_json as parse_attestation
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    CredentialDeviceType,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.passkey import Credential, CredentialId, Passkey
from identity.authentication.passkeys.relying_party import RelyingParty
from identity.directory.user import User
from server.platform.errors import Unauthenticated

_MS = 1000
_REFUSED = "the response of the authenticator is invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attested:
    """A new credential as attested by its authenticator."""

    credential_id: CredentialId
    public_key: bytes
    sign_count: int
    transports: tuple[str, ...]
    aaguid: str
    attestation_format: str
    is_backup_eligible: bool
    is_backed_up: bool
    is_user_verified: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    sign_count: int
    is_backed_up: bool
    is_user_verified: bool


@dataclass(frozen=True, slots=True)
class Authenticators:
    config: WebauthnConfig

    def creation_options(
        self,
        party: RelyingParty,
        user: User,
        *,
        code: str,
        kept: Sequence[Credential],
        needs_user: bool,
    ) -> str:
        """Return PublicKeyCredentialCreationOptions; an authenticator with one of `kept` creates no other."""
        return options_to_json(
            generate_registration_options(
                rp_id=party.rp_id,
                rp_name=self.config.rp_name,
                user_id=user.user_id.encode(),
                user_name=user.email,
                user_display_name=f"{user.given_name} {user.family_name}".strip() or user.email,
                challenge=code.encode(),
                timeout=self.config.challenge_secs * _MS,
                authenticator_selection=AuthenticatorSelectionCriteria(
                    resident_key=ResidentKeyRequirement.PREFERRED,
                    user_verification=_requirement(is_required=needs_user or self.config.force_uv),
                ),
                exclude_credentials=list(map(_descriptor, kept)),
            )
        )

    def attested(self, party: RelyingParty, answer: str, code: str, *, needs_user: bool) -> Attested:
        """Return the credential of a response; raises Unauthenticated."""
        try:
            attestation = parse_attestation(answer)
            verified = verify_registration_response(
                credential=attestation,
                expected_challenge=code.encode(),
                expected_rp_id=party.rp_id,
                expected_origin=party.origin,
                require_user_verification=needs_user or self.config.force_uv,
            )
        except (WebAuthnException, ValueError) as error:
            raise Unauthenticated(_REFUSED) from error
        return Attested(
            credential_id=CredentialId(bytes_to_base64url(verified.credential_id)),
            public_key=verified.credential_public_key,
            sign_count=verified.sign_count,
            transports=tuple(attestation.response.transports or ()),
            aaguid=verified.aaguid,
            attestation_format=verified.fmt,
            is_backup_eligible=verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
            is_backed_up=verified.credential_backed_up,
            is_user_verified=verified.user_verified,
        )

    def request_options(
        self, party: RelyingParty, *, code: str, allowed: Sequence[Credential], needs_user: bool
    ) -> str:
        """Return PublicKeyCredentialRequestOptions; with none allowed, the authenticator offers its passkeys."""
        return options_to_json(
            generate_authentication_options(
                rp_id=party.rp_id,
                challenge=code.encode(),
                timeout=self.config.challenge_secs * _MS,
                allow_credentials=list(map(_descriptor, allowed)),
                user_verification=_requirement(is_required=needs_user or self.config.force_uv),
            )
        )

    def asserted(
        self, party: RelyingParty, answer: str, code: str, *, passkey: Passkey, needs_user: bool
    ) -> Asserted:
        """Return the verified assertion; raises Unauthenticated, also when the sign count decreased."""
        try:
            verified = self._verified(party, answer, code, passkey=passkey, needs_user=needs_user)
        except (WebAuthnException, ValueError) as error:
            raise Unauthenticated(_REFUSED) from error
        return Asserted(
            sign_count=verified.new_sign_count,
            is_backed_up=verified.credential_backed_up,
            is_user_verified=verified.user_verified,
        )

    def _verified(
        self, party: RelyingParty, answer: str, code: str, *, passkey: Passkey, needs_user: bool
    ) -> VerifiedAuthentication:
        return verify_authentication_response(
            credential=answer,
            expected_challenge=code.encode(),
            expected_rp_id=party.rp_id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=needs_user or self.config.force_uv,
        )


def code_answered(answer: str) -> str:
    """Return the challenge of a response to creation options; raises Unauthenticated."""
    try:
        return parse_client_data_json(parse_attestation(answer).response.client_data_json).challenge.decode()
    except (WebAuthnException, ValueError) as error:
        raise Unauthenticated(_REFUSED) from error


def presented(answer: str) -> tuple[CredentialId, str]:
    """Return the unverified credential id and user handle of a response; raises Unauthenticated."""
    try:
        assertion = parse_assertion(answer)
        handle = (assertion.response.user_handle or b"").decode()
    except (WebAuthnException, ValueError) as error:
        raise Unauthenticated(_REFUSED) from error
    return CredentialId(bytes_to_base64url(assertion.raw_id)), handle


def _requirement(*, is_required: bool) -> UserVerificationRequirement:
    return UserVerificationRequirement.REQUIRED if is_required else UserVerificationRequirement.PREFERRED


def _descriptor(credential: Credential) -> PublicKeyCredentialDescriptor:
    transports = list(map(AuthenticatorTransport, credential.transports))
    return PublicKeyCredentialDescriptor(id=base64url_to_bytes(credential.id), transports=transports or None)
