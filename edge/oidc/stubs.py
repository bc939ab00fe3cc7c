"""Typed stubs of the provider's services."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from edge.oidc.request_ids import IdentifiedChannel
from gnomon.identity.v1.account_service_pb2_grpc import AccountServiceStub
from gnomon.identity.v1.authorization_service_pb2_grpc import AuthorizationServiceStub
from gnomon.identity.v1.backchannel_authentication_service_pb2_grpc import (
    BackchannelAuthenticationServiceStub,
)
from gnomon.identity.v1.blacklist_service_pb2_grpc import BlacklistServiceStub
from gnomon.identity.v1.client_service_pb2_grpc import ClientServiceStub
from gnomon.identity.v1.consent_service_pb2_grpc import ConsentServiceStub
from gnomon.identity.v1.device_list_service_pb2_grpc import DeviceListServiceStub
from gnomon.identity.v1.device_service_pb2_grpc import DeviceServiceStub
from gnomon.identity.v1.discovery_service_pb2_grpc import DiscoveryServiceStub
from gnomon.identity.v1.dynamic_client_service_pb2_grpc import DynamicClientServiceStub
from gnomon.identity.v1.event_service_pb2_grpc import EventServiceStub
from gnomon.identity.v1.fed_cm_service_pb2_grpc import FedCmServiceStub
from gnomon.identity.v1.federation_service_pb2_grpc import FederationServiceStub
from gnomon.identity.v1.forward_auth_service_pb2_grpc import ForwardAuthServiceStub
from gnomon.identity.v1.image_service_pb2_grpc import ImageServiceStub
from gnomon.identity.v1.impersonation_service_pb2_grpc import ImpersonationServiceStub
from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceStub
from gnomon.identity.v1.logout_service_pb2_grpc import LogoutServiceStub
from gnomon.identity.v1.one_time_code_service_pb2_grpc import OneTimeCodeServiceStub
from gnomon.identity.v1.passkey_service_pb2_grpc import PasskeyServiceStub
from gnomon.identity.v1.password_policy_service_pb2_grpc import PasswordPolicyServiceStub
from gnomon.identity.v1.password_reset_service_pb2_grpc import PasswordResetServiceStub
from gnomon.identity.v1.proof_of_work_service_pb2_grpc import ProofOfWorkServiceStub
from gnomon.identity.v1.provider_link_service_pb2_grpc import ProviderLinkServiceStub
from gnomon.identity.v1.provisioning_service_pb2_grpc import ProvisioningServiceStub
from gnomon.identity.v1.registration_service_pb2_grpc import RegistrationServiceStub
from gnomon.identity.v1.saml_sign_on_service_pb2_grpc import SamlSignOnServiceStub
from gnomon.identity.v1.screen_service_pb2_grpc import ScreenServiceStub
from gnomon.identity.v1.session_administration_service_pb2_grpc import SessionAdministrationServiceStub
from gnomon.identity.v1.session_service_pb2_grpc import SessionServiceStub
from gnomon.identity.v1.sign_in_revocation_service_pb2_grpc import SignInRevocationServiceStub
from gnomon.identity.v1.sign_in_service_pb2_grpc import SignInServiceStub
from gnomon.identity.v1.tenant_service_pb2_grpc import TenantServiceStub
from gnomon.identity.v1.terms_of_use_service_pb2_grpc import TermsOfUseServiceStub
from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceStub
from gnomon.identity.v1.user_info_service_pb2_grpc import UserInfoServiceStub
from gnomon.identity.v1.user_service_pb2_grpc import UserServiceStub
from server.platform.channels import Channel

if TYPE_CHECKING:
    import grpc

    from gnomon.identity.v1.account_service_pb2_grpc import AccountServiceAsyncStub
    from gnomon.identity.v1.authorization_service_pb2_grpc import AuthorizationServiceAsyncStub
    from gnomon.identity.v1.backchannel_authentication_service_pb2_grpc import (
        BackchannelAuthenticationServiceAsyncStub,
    )
    from gnomon.identity.v1.blacklist_service_pb2_grpc import BlacklistServiceAsyncStub
    from gnomon.identity.v1.client_service_pb2_grpc import ClientServiceAsyncStub
    from gnomon.identity.v1.consent_service_pb2_grpc import ConsentServiceAsyncStub
    from gnomon.identity.v1.device_list_service_pb2_grpc import DeviceListServiceAsyncStub
    from gnomon.identity.v1.device_service_pb2_grpc import DeviceServiceAsyncStub
    from gnomon.identity.v1.discovery_service_pb2_grpc import DiscoveryServiceAsyncStub
    from gnomon.identity.v1.dynamic_client_service_pb2_grpc import DynamicClientServiceAsyncStub
    from gnomon.identity.v1.event_service_pb2_grpc import EventServiceAsyncStub
    from gnomon.identity.v1.fed_cm_service_pb2_grpc import FedCmServiceAsyncStub
    from gnomon.identity.v1.federation_service_pb2_grpc import FederationServiceAsyncStub
    from gnomon.identity.v1.forward_auth_service_pb2_grpc import ForwardAuthServiceAsyncStub
    from gnomon.identity.v1.image_service_pb2_grpc import ImageServiceAsyncStub
    from gnomon.identity.v1.impersonation_service_pb2_grpc import ImpersonationServiceAsyncStub
    from gnomon.identity.v1.key_set_service_pb2_grpc import KeySetServiceAsyncStub
    from gnomon.identity.v1.logout_service_pb2_grpc import LogoutServiceAsyncStub
    from gnomon.identity.v1.one_time_code_service_pb2_grpc import OneTimeCodeServiceAsyncStub
    from gnomon.identity.v1.passkey_service_pb2_grpc import PasskeyServiceAsyncStub
    from gnomon.identity.v1.password_policy_service_pb2_grpc import PasswordPolicyServiceAsyncStub
    from gnomon.identity.v1.password_reset_service_pb2_grpc import PasswordResetServiceAsyncStub
    from gnomon.identity.v1.proof_of_work_service_pb2_grpc import ProofOfWorkServiceAsyncStub
    from gnomon.identity.v1.provider_link_service_pb2_grpc import ProviderLinkServiceAsyncStub
    from gnomon.identity.v1.provisioning_service_pb2_grpc import ProvisioningServiceAsyncStub
    from gnomon.identity.v1.registration_service_pb2_grpc import RegistrationServiceAsyncStub
    from gnomon.identity.v1.saml_sign_on_service_pb2_grpc import SamlSignOnServiceAsyncStub
    from gnomon.identity.v1.screen_service_pb2_grpc import ScreenServiceAsyncStub
    from gnomon.identity.v1.session_administration_service_pb2_grpc import (
        SessionAdministrationServiceAsyncStub,
    )
    from gnomon.identity.v1.session_service_pb2_grpc import SessionServiceAsyncStub
    from gnomon.identity.v1.sign_in_revocation_service_pb2_grpc import SignInRevocationServiceAsyncStub
    from gnomon.identity.v1.sign_in_service_pb2_grpc import SignInServiceAsyncStub
    from gnomon.identity.v1.tenant_service_pb2_grpc import TenantServiceAsyncStub
    from gnomon.identity.v1.terms_of_use_service_pb2_grpc import TermsOfUseServiceAsyncStub
    from gnomon.identity.v1.token_service_pb2_grpc import TokenServiceAsyncStub
    from gnomon.identity.v1.user_info_service_pb2_grpc import UserInfoServiceAsyncStub
    from gnomon.identity.v1.user_service_pb2_grpc import UserServiceAsyncStub


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubs:
    """Stubs by service, and the channel itself for operations that the contract declares whole."""

    channel: Channel
    accounts: "AccountServiceAsyncStub"
    authorizations: "AuthorizationServiceAsyncStub"
    backchannel_authentications: "BackchannelAuthenticationServiceAsyncStub"
    blacklists: "BlacklistServiceAsyncStub"
    clients: "ClientServiceAsyncStub"
    consents: "ConsentServiceAsyncStub"
    device_lists: "DeviceListServiceAsyncStub"
    devices: "DeviceServiceAsyncStub"
    discovery: "DiscoveryServiceAsyncStub"
    dynamic_clients: "DynamicClientServiceAsyncStub"
    events: "EventServiceAsyncStub"
    fed_cm: "FedCmServiceAsyncStub"
    federations: "FederationServiceAsyncStub"
    forward_auth: "ForwardAuthServiceAsyncStub"
    images: "ImageServiceAsyncStub"
    impersonations: "ImpersonationServiceAsyncStub"
    key_sets: "KeySetServiceAsyncStub"
    logouts: "LogoutServiceAsyncStub"
    one_time_codes: "OneTimeCodeServiceAsyncStub"
    passkeys: "PasskeyServiceAsyncStub"
    password_policies: "PasswordPolicyServiceAsyncStub"
    password_resets: "PasswordResetServiceAsyncStub"
    proofs_of_work: "ProofOfWorkServiceAsyncStub"
    provider_links: "ProviderLinkServiceAsyncStub"
    provisioning: "ProvisioningServiceAsyncStub"
    registrations: "RegistrationServiceAsyncStub"
    saml_sign_ons: "SamlSignOnServiceAsyncStub"
    screens: "ScreenServiceAsyncStub"
    session_administration: "SessionAdministrationServiceAsyncStub"
    sessions: "SessionServiceAsyncStub"
    sign_in_revocations: "SignInRevocationServiceAsyncStub"
    sign_ins: "SignInServiceAsyncStub"
    tenants: "TenantServiceAsyncStub"
    terms_of_use: "TermsOfUseServiceAsyncStub"
    tokens: "TokenServiceAsyncStub"
    user_info: "UserInfoServiceAsyncStub"
    users: "UserServiceAsyncStub"


def stubs_of(channel: Channel) -> Stubs:
    identified = IdentifiedChannel(channel)
    # Stubs use no other method of a channel than our Channel has.
    aio_channel = cast("grpc.aio.Channel", identified)
    return Stubs(
        channel=identified,
        accounts=AccountServiceStub(aio_channel),
        authorizations=AuthorizationServiceStub(aio_channel),
        backchannel_authentications=BackchannelAuthenticationServiceStub(aio_channel),
        blacklists=BlacklistServiceStub(aio_channel),
        clients=ClientServiceStub(aio_channel),
        consents=ConsentServiceStub(aio_channel),
        device_lists=DeviceListServiceStub(aio_channel),
        devices=DeviceServiceStub(aio_channel),
        discovery=DiscoveryServiceStub(aio_channel),
        dynamic_clients=DynamicClientServiceStub(aio_channel),
        events=EventServiceStub(aio_channel),
        fed_cm=FedCmServiceStub(aio_channel),
        federations=FederationServiceStub(aio_channel),
        forward_auth=ForwardAuthServiceStub(aio_channel),
        images=ImageServiceStub(aio_channel),
        impersonations=ImpersonationServiceStub(aio_channel),
        key_sets=KeySetServiceStub(aio_channel),
        logouts=LogoutServiceStub(aio_channel),
        one_time_codes=OneTimeCodeServiceStub(aio_channel),
        passkeys=PasskeyServiceStub(aio_channel),
        password_policies=PasswordPolicyServiceStub(aio_channel),
        password_resets=PasswordResetServiceStub(aio_channel),
        proofs_of_work=ProofOfWorkServiceStub(aio_channel),
        provider_links=ProviderLinkServiceStub(aio_channel),
        provisioning=ProvisioningServiceStub(aio_channel),
        registrations=RegistrationServiceStub(aio_channel),
        saml_sign_ons=SamlSignOnServiceStub(aio_channel),
        screens=ScreenServiceStub(aio_channel),
        session_administration=SessionAdministrationServiceStub(aio_channel),
        sessions=SessionServiceStub(aio_channel),
        sign_in_revocations=SignInRevocationServiceStub(aio_channel),
        sign_ins=SignInServiceStub(aio_channel),
        tenants=TenantServiceStub(aio_channel),
        terms_of_use=TermsOfUseServiceStub(aio_channel),
        tokens=TokenServiceStub(aio_channel),
        user_info=UserInfoServiceStub(aio_channel),
        users=UserServiceStub(aio_channel),
    )
