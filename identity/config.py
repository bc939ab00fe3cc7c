"""All sections of the configuration file that the provider reads."""

from dataclasses import dataclass

from identity.access.client_authentication.config import ClientAuthenticationConfig
from identity.access.dpop.config import DpopConfig
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.networks.config import NetworksConfig
from identity.access.proof_of_work.config import ProofOfWorkConfig
from identity.access.sessions.config import SessionConfig, SessionLifetimes
from identity.access.sessions.logout_config import LogoutConfig
from identity.access.tokens.config import DeviceGrantConfig, TokenConfig
from identity.administration.tenants.domain_config import SignInDomainConfig
from identity.authentication.federation.config import FederationConfig
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.requests.pushed import PushedRequestConfig
from identity.clients.dynamic.config import DynamicClientsConfig
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.schedule import Schedule
from identity.delivery.http.config import OutgoingConfig
from identity.delivery.ldap.config import LdapConfig
from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from identity.directory.images.config import PicturesConfig
from identity.directory.password_config import PasswordConfig
from identity.foundation.events.config import EventsConfig
from identity.foundation.provider_config import ProviderConfig
from identity.people.reset.config import PasswordResetConfig
from identity.protocol.backchannel.config import BackchannelConfig
from identity.protocol.fed_cm.config import FedCmConfig
from identity.seeds import BootstrapConfig
from server.platform.mutual_tls import MutualTlsConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class LifetimesConfig(SessionLifetimes):
    """[lifetimes]: lifetimes of sessions, and the schedule of key rotation in UTC.

    The schedule is second, minute, hour, day of the month, month, day of the week (0 to 6 from Sunday) and year. The
    year, or both the year and the second, may be left out.
    """

    jwk_autorotate_cron: str = "0 30 3 1 * * *"

    def __post_init__(self) -> None:
        SessionLifetimes.__post_init__(self)
        try:
            Schedule(self.jwk_autorotate_cron)
        except ValueError as error:
            raise ValueError(f"jwk_autorotate_cron: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSection(EventsConfig):
    """[events]: the level of each type of event, and [events.login_protection]."""

    login_protection: LoginProtectionConfig = LoginProtectionConfig()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityConfig:
    """The sections, by their names in the file."""

    identity: ProviderConfig = ProviderConfig()
    bootstrap: BootstrapConfig = BootstrapConfig()
    encryption: EncryptionConfig = EncryptionConfig()
    lifetimes: LifetimesConfig = LifetimesConfig()
    token: TokenConfig = TokenConfig()
    pushed_authorization: PushedRequestConfig = PushedRequestConfig()
    device_grant: DeviceGrantConfig = DeviceGrantConfig()
    backchannel_authentication: BackchannelConfig = BackchannelConfig()
    dynamic_clients: DynamicClientsConfig = DynamicClientsConfig()
    client_authentication: ClientAuthenticationConfig = ClientAuthenticationConfig()
    dpop: DpopConfig = DpopConfig()
    sessions: SessionConfig = SessionConfig()
    networks: NetworksConfig = NetworksConfig()
    logout: LogoutConfig = LogoutConfig()
    mutual_tls: MutualTlsConfig = MutualTlsConfig()
    federation: FederationConfig = FederationConfig()
    outgoing: OutgoingConfig = OutgoingConfig()
    ldap: LdapConfig = LdapConfig()
    fedcm: FedCmConfig = FedCmConfig()
    pow: ProofOfWorkConfig = ProofOfWorkConfig()
    passwords: PasswordConfig = PasswordConfig()
    users: UsersConfig = UsersConfig()
    pictures: PicturesConfig = PicturesConfig()
    sign_in_domains: SignInDomainConfig = SignInDomainConfig()
    webauthn: WebauthnConfig = WebauthnConfig()
    one_time_codes: OneTimeCodeConfig = OneTimeCodeConfig()
    email: EmailConfig = EmailConfig()
    password_reset: PasswordResetConfig = PasswordResetConfig()
    events: EventsSection = EventsSection()

    def __post_init__(self) -> None:
        if self.users.registration_enabled and not self.email.is_set:
            # By default users cannot sign in before they open the link in a mail.
            raise ValueError(
                "users.registration_enabled: expected mail, found neither email.smtp_host nor email.directory"
            )
