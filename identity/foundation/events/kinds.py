"""Types of security events, one row each."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """Severity of an event, lowest first."""

    INFO = "info"
    NOTICE = "notice"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def severity(self) -> int:
        return list(Level).index(self)


class EventType(StrEnum):
    INVALID_LOGINS = "InvalidLogins"
    IP_BLACKLISTED = "IpBlacklisted"
    IP_BLACKLIST_REMOVED = "IpBlacklistRemoved"
    JWKS_ROTATED = "JwksRotated"
    NEW_USER_REGISTERED = "NewUserRegistered"
    NEW_ADMINISTRATOR = "NewAdministrator"
    POSSIBLE_BRUTE_FORCE = "PossibleBruteForce"
    SECRETS_MIGRATED = "SecretsMigrated"
    USER_EMAIL_CHANGE = "UserEmailChange"
    USER_PASSWORD_RESET = "UserPasswordReset"  # noqa: S105  # a kind of event
    TEST = "Test"
    BACK_CHANNEL_LOGOUT_FAILED = "BackchannelLogoutFailed"
    FORCED_LOGOUT = "ForcedLogout"
    USER_LOGIN_REVOKE = "UserLoginRevoke"
    LOGIN_NEW_LOCATION = "LoginNewLocation"
    TOKEN_ISSUED = "TokenIssued"  # noqa: S105  # a kind of event
    EMAIL_SEND_ERROR = "EmailSendError"
    CREDENTIAL_STUFFING = "CredentialStuffing"
    REFRESH_TOKEN_REUSE = "RefreshTokenReuse"  # noqa: S105  # a kind of event
    CODE_REPLAY = "CodeReplay"
    LOGIN_SUCCEEDED = "LoginSucceeded"
    TENANT_CREATED = "TenantCreated"
    TENANT_CHANGED = "TenantChanged"
    TENANT_DELETED = "TenantDeleted"
    DOMAIN_VERIFIED = "DomainVerified"
    LOGIN_REFUSED = "LoginRefused"
    LOGGED_OUT = "LoggedOut"
    USER_PASSWORD_CHANGED = "UserPasswordChanged"  # noqa: S105  # a kind of event
    USER_REMOVED_UNCONFIRMED = "UserRemovedUnconfirmed"
    PASSKEY_ADDED = "PasskeyAdded"
    PASSKEY_REMOVED = "PasskeyRemoved"
    ACCOUNT_CONVERTED_TO_PASSKEY = "AccountConvertedToPasskey"
    ONE_TIME_CODES_ADDED = "OneTimeCodesAdded"
    ONE_TIME_CODES_REMOVED = "OneTimeCodesRemoved"
    ONE_TIME_CODES_PAUSED = "OneTimeCodesPaused"
    RECOVERY_CODES_MADE = "RecoveryCodesMade"
    RECOVERY_CODES_REMOVED = "RecoveryCodesRemoved"
    RECOVERY_CODE_USED = "RecoveryCodeUsed"
    CREATED = "Created"
    CHANGED = "Changed"
    DELETED = "Deleted"
    CONSENT_GRANTED = "ConsentGranted"
    CONSENT_WITHDRAWN = "ConsentWithdrawn"
    USER_CONFIRMED = "UserConfirmed"
    USER_CONFIRMATION_SENT = "UserConfirmationSent"
    UPSTREAM_RESPONSE_REFUSED = "UpstreamResponseRefused"
    PROVIDER_LINKED = "ProviderLinked"
    PROVIDER_UNLINKED = "ProviderUnlinked"
    TERMS_PUBLISHED = "TermsPublished"
    TERMS_WITHDRAWN = "TermsWithdrawn"
    TERMS_ACCEPTED = "TermsAccepted"
    TERMS_DECLINED = "TermsDeclined"
    LOGIN_NEW_DEVICE = "LoginNewDevice"
    SUPPORT_ACCESS_ALLOWED = "SupportAccessAllowed"
    SUPPORT_ACCESS_WITHDRAWN = "SupportAccessWithdrawn"
    IMPERSONATION_STARTED = "ImpersonationStarted"
    IMPERSONATION_ENDED = "ImpersonationEnded"
    IMPERSONATION_REFUSED = "ImpersonationRefused"
    NETWORK_REFUSED = "NetworkRefused"


@dataclass(frozen=True, slots=True)
class EventKind:
    """`number` represents the type in lists; `level` is its default level."""

    number: int
    type: EventType
    level: Level


# `Created`, `Changed` and `Deleted` are changes by administrators; their text names the object, like `client app`.
EVENT_KINDS = {
    kind.type: kind
    for kind in (
        EventKind(0, EventType.INVALID_LOGINS, Level.INFO),
        EventKind(1, EventType.IP_BLACKLISTED, Level.WARNING),
        EventKind(2, EventType.IP_BLACKLIST_REMOVED, Level.NOTICE),
        EventKind(3, EventType.JWKS_ROTATED, Level.NOTICE),
        EventKind(4, EventType.NEW_USER_REGISTERED, Level.INFO),
        EventKind(5, EventType.NEW_ADMINISTRATOR, Level.NOTICE),
        EventKind(7, EventType.POSSIBLE_BRUTE_FORCE, Level.CRITICAL),
        EventKind(11, EventType.SECRETS_MIGRATED, Level.NOTICE),
        EventKind(12, EventType.USER_EMAIL_CHANGE, Level.NOTICE),
        EventKind(13, EventType.USER_PASSWORD_RESET, Level.NOTICE),
        EventKind(14, EventType.TEST, Level.INFO),
        EventKind(15, EventType.BACK_CHANNEL_LOGOUT_FAILED, Level.CRITICAL),
        EventKind(17, EventType.FORCED_LOGOUT, Level.NOTICE),
        EventKind(18, EventType.USER_LOGIN_REVOKE, Level.WARNING),
        EventKind(20, EventType.LOGIN_NEW_LOCATION, Level.NOTICE),
        EventKind(21, EventType.TOKEN_ISSUED, Level.INFO),
        EventKind(22, EventType.CREDENTIAL_STUFFING, Level.WARNING),
        EventKind(23, EventType.EMAIL_SEND_ERROR, Level.CRITICAL),
        EventKind(30, EventType.REFRESH_TOKEN_REUSE, Level.WARNING),
        EventKind(31, EventType.CODE_REPLAY, Level.WARNING),
        EventKind(32, EventType.LOGIN_SUCCEEDED, Level.INFO),
        EventKind(33, EventType.TENANT_CREATED, Level.NOTICE),
        EventKind(34, EventType.TENANT_CHANGED, Level.NOTICE),
        EventKind(35, EventType.TENANT_DELETED, Level.WARNING),
        EventKind(36, EventType.DOMAIN_VERIFIED, Level.NOTICE),
        EventKind(37, EventType.USER_PASSWORD_CHANGED, Level.NOTICE),
        EventKind(38, EventType.LOGIN_REFUSED, Level.INFO),
        EventKind(39, EventType.LOGGED_OUT, Level.INFO),
        EventKind(54, EventType.PASSKEY_ADDED, Level.NOTICE),
        EventKind(55, EventType.PASSKEY_REMOVED, Level.NOTICE),
        EventKind(56, EventType.ACCOUNT_CONVERTED_TO_PASSKEY, Level.NOTICE),
        EventKind(60, EventType.ONE_TIME_CODES_ADDED, Level.NOTICE),
        EventKind(61, EventType.ONE_TIME_CODES_REMOVED, Level.NOTICE),
        EventKind(62, EventType.ONE_TIME_CODES_PAUSED, Level.WARNING),
        EventKind(63, EventType.RECOVERY_CODES_MADE, Level.NOTICE),
        EventKind(64, EventType.RECOVERY_CODES_REMOVED, Level.NOTICE),
        EventKind(65, EventType.RECOVERY_CODE_USED, Level.WARNING),
        EventKind(40, EventType.CREATED, Level.INFO),
        EventKind(41, EventType.CHANGED, Level.INFO),
        EventKind(42, EventType.DELETED, Level.NOTICE),
        EventKind(43, EventType.USER_REMOVED_UNCONFIRMED, Level.NOTICE),
        EventKind(50, EventType.CONSENT_GRANTED, Level.INFO),
        EventKind(51, EventType.CONSENT_WITHDRAWN, Level.NOTICE),
        EventKind(44, EventType.USER_CONFIRMED, Level.INFO),
        EventKind(45, EventType.USER_CONFIRMATION_SENT, Level.INFO),
        EventKind(66, EventType.UPSTREAM_RESPONSE_REFUSED, Level.WARNING),
        EventKind(67, EventType.PROVIDER_LINKED, Level.NOTICE),
        EventKind(68, EventType.PROVIDER_UNLINKED, Level.NOTICE),
        EventKind(69, EventType.TERMS_PUBLISHED, Level.NOTICE),
        EventKind(70, EventType.TERMS_WITHDRAWN, Level.NOTICE),
        EventKind(71, EventType.TERMS_ACCEPTED, Level.INFO),
        EventKind(72, EventType.TERMS_DECLINED, Level.NOTICE),
        EventKind(73, EventType.LOGIN_NEW_DEVICE, Level.NOTICE),
        EventKind(74, EventType.SUPPORT_ACCESS_ALLOWED, Level.NOTICE),
        EventKind(75, EventType.SUPPORT_ACCESS_WITHDRAWN, Level.NOTICE),
        EventKind(76, EventType.IMPERSONATION_STARTED, Level.WARNING),
        EventKind(77, EventType.IMPERSONATION_ENDED, Level.NOTICE),
        EventKind(78, EventType.IMPERSONATION_REFUSED, Level.WARNING),
        EventKind(79, EventType.NETWORK_REFUSED, Level.INFO),
    )
}
