"""Parameters of the standards, which several operations take."""

from edge.oidc.openapi.operation import may

# RFC 6749 §2.3.1, RFC 7523 §2.2.
CLIENT_FORM = (
    may("client_id", "The client, where no header has it."),
    may("client_secret", "Its secret, where no header has it."),
    may("client_assertion", "A signed assertion in place of the secret: RFC 7523."),
    may("client_assertion_type", "`urn:ietf:params:oauth:client-assertion-type:jwt-bearer`."),
)
# RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core 1.0 §3.1.2.1, RFC 9101, RFC 8707,
# RFC 9396 §3, RFC 9449 §10.
AUTHORIZATION = (
    may("response_type", "`code`."),
    may("client_id", "The client."),
    may("redirect_uri", "One of the client's redirect URIs."),
    may("scope", "Scopes, separated by spaces; `openid` among them for an ID token."),
    may("state", "Value that the response repeats."),
    may("nonce", "Value that the ID token repeats."),
    may("code_challenge", "The challenge that the token request proves."),
    may("code_challenge_method", "`S256`."),
    may("response_mode", "One of `response_modes_supported`."),
    may("prompt", "`none`, `login`, `consent` or `create`."),
    may("max_age", "Seconds since the user authenticated, at most."),
    may("login_hint", "The e-mail address of the user."),
    may("id_token_hint", "An ID token of the user."),
    may("acr_values", "Classes of authentication that the client prefers."),
    may("ui_locales", "Languages of the user."),
    may("claims", "Claims that the client asks for, as JSON."),
    may("resource", "Resource that the token is for: RFC 8707. It may occur more than once."),
    may("authorization_details", "What the client may do, as a JSON array of objects: RFC 9396."),
    may("request", "A signed request object: RFC 9101."),
    may("request_uri", "Reference to the request: RFC 9126, RFC 9101."),
    may("dpop_jkt", "Thumbprint of the key that the token is bound to: RFC 9449."),
)
