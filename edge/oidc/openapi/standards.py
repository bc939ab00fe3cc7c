"""Schemas of documents whose members a standard defines, as this provider writes them."""

from edge.oidc.openapi.schemas import (
    BOOLEAN,
    INTEGER,
    OBJECT,
    STRING,
    STRINGS,
    Schema,
    an_object,
    array,
    choice,
    nullable,
    published,
    titled,
    with_any,
)
from gnomon.identity.v1 import key_set_service_pb2 as key_pb

# RFC 7517 §4.
JWK: Schema = published(key_pb.GetKeyResponse, "key")

# OpenID Connect Core 1.0 §5.1, by the scopes of the token; scopes of the tenant and custom claims add others.
USER_INFO: Schema = titled(
    "UserInfo",
    with_any(
        an_object(sub=STRING),
        name=STRING,
        given_name=STRING,
        family_name=STRING,
        preferred_username=STRING,
        email=STRING,
        email_verified=BOOLEAN,
        locale=STRING,
        zoneinfo=STRING,
        birthdate=STRING,
        phone_number=STRING,
        phone_number_verified=BOOLEAN,
        picture=STRING,
        updated_at=INTEGER,
        address=with_any(
            OBJECT,
            formatted=STRING,
            street_address=STRING,
            locality=STRING,
            postal_code=STRING,
            country=STRING,
        ),
        id=STRING,
        mfa_enabled=BOOLEAN,
        roles=STRINGS,
        groups=STRINGS,
    ),
)

# RFC 7662 §2.2, RFC 8693 §4.1, RFC 9449 §6. Of a token that is not active nothing else is said.
INTROSPECTION: Schema = titled(
    "Introspection",
    with_any(
        an_object(active=BOOLEAN),
        token_type=STRING,
        iss=STRING,
        sub=STRING,
        aud={"anyOf": [STRING, STRINGS]},
        client_id=STRING,
        username=STRING,
        scope=STRING,
        iat=INTEGER,
        nbf=INTEGER,
        exp=INTEGER,
        jti=STRING,
        sid=STRING,
        roles=STRINGS,
        cnf=OBJECT,
        act=OBJECT,
        authorization_details=array(OBJECT),
    ),
)

# FedCM §3.3: IdentityProviderAccount.
ACCOUNT: Schema = titled(
    "FedCmAccount",
    with_any(
        an_object(id=STRING, approved_clients=STRINGS, login_hints=STRINGS, domain_hints=STRINGS),
        name=STRING,
        email=STRING,
        given_name=STRING,
        picture=STRING,
    ),
)
CLIENT_METADATA: Schema = with_any(OBJECT, privacy_policy_url=STRING, terms_of_service_url=STRING)

# WebAuthn Level 3 §5.10.3; ids and challenges are base64url.
_CREDENTIAL = with_any(an_object(id=STRING, type=choice("public-key")), transports=nullable(STRINGS))
_VERIFICATION = choice("required", "preferred", "discouraged")
CREATION_OPTIONS: Schema = titled(
    "PasskeyCreationOptions",
    an_object(
        publicKey=with_any(
            an_object(
                rp=with_any(an_object(name=STRING), id=STRING),
                user=an_object(id=STRING, name=STRING, displayName=STRING),
                challenge=STRING,
                pubKeyCredParams=array(an_object(type=choice("public-key"), alg=INTEGER)),
            ),
            timeout=INTEGER,
            excludeCredentials=array(_CREDENTIAL),
            authenticatorSelection=with_any(
                OBJECT,
                authenticatorAttachment=STRING,
                residentKey=STRING,
                requireResidentKey=BOOLEAN,
                userVerification=_VERIFICATION,
            ),
            attestation=STRING,
            hints=STRINGS,
        )
    ),
)
REQUEST_OPTIONS: Schema = titled(
    "PasskeyRequestOptions",
    an_object(
        publicKey=with_any(
            an_object(challenge=STRING),
            timeout=INTEGER,
            rpId=STRING,
            allowCredentials=array(_CREDENTIAL),
            userVerification=_VERIFICATION,
        )
    ),
)
