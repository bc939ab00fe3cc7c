// The certified relying party of Node.
import * as client from 'openid-client'

const options = { execute: [client.allowInsecureRequests] }

function discovered({ issuer, clientId, clientSecret }, authentication) {
  const method = authentication ?? (clientSecret ? client.ClientSecretBasic(clientSecret) : client.None())
  return client.discovery(new URL(issuer), clientId, clientSecret, method, options)
}

async function signedIn(config, visit, { parameters = {}, pushed = false, dpop = false } = {}) {
  const provider = await discovered(config)
  const verifier = client.randomPKCECodeVerifier()
  const nonce = client.randomNonce()
  const state = client.randomState()
  const DPoP = dpop ? client.getDPoPHandle(provider, await client.randomDPoPKeyPair('ES256')) : undefined
  const asked = {
    redirect_uri: config.redirectUri,
    scope: 'openid profile email offline_access',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
    state,
    ...parameters,
  }
  const url = pushed
    ? await client.buildAuthorizationUrlWithPAR(provider, asked, { DPoP })
    : client.buildAuthorizationUrl(provider, asked)
  const callback = await visit(url)
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, idTokenExpected: true }
  const tokens = await client.authorizationCodeGrant(provider, callback, checks, undefined, { DPoP })
  return { provider, tokens, DPoP }
}

export async function code(config, visit) {
  const { provider, tokens } = await signedIn(config, visit)
  const claims = tokens.claims()
  return { claims, userinfo: await client.fetchUserInfo(provider, tokens.access_token, claims.sub) }
}

export async function pushed(config, visit) {
  const { tokens } = await signedIn(config, visit, { pushed: true })
  return { claims: tokens.claims() }
}

export async function refresh(config, visit) {
  const { provider, tokens } = await signedIn(config, visit)
  const again = await client.refreshTokenGrant(provider, tokens.refresh_token)
  return { before: tokens.claims(), after: again.claims(), rotated: again.refresh_token !== tokens.refresh_token }
}

export async function dpop(config, visit) {
  const { provider, tokens, DPoP } = await signedIn(config, visit, { dpop: true })
  const { sub } = tokens.claims()
  const userinfo = await client.fetchUserInfo(provider, tokens.access_token, sub, { DPoP })
  const again = await client.refreshTokenGrant(provider, tokens.refresh_token, undefined, { DPoP })
  return { type: tokens.token_type, userinfo, again: again.token_type }
}

export async function revocation(config, visit) {
  const { provider, tokens } = await signedIn(config, visit)
  const before = await client.tokenIntrospection(provider, tokens.access_token)
  await client.tokenRevocation(provider, tokens.refresh_token)
  const after = await client.tokenIntrospection(provider, tokens.access_token)
  return { before, after }
}

export async function machine(config) {
  const provider = await discovered(config, client.ClientSecretPost(config.clientSecret))
  const tokens = await client.clientCredentialsGrant(provider, {})
  return { type: tokens.token_type, refresh: tokens.refresh_token ?? null, id: tokens.id_token ?? null }
}

export async function device(config, visit) {
  const provider = await discovered(config)
  const started = await client.initiateDeviceAuthorization(provider, { scope: 'openid offline_access' })
  await visit(started.verification_uri_complete)
  const tokens = await client.pollDeviceAuthorizationGrant(provider, started)
  return { claims: tokens.claims(), refresh: typeof tokens.refresh_token }
}

export async function backchannel(config, visit) {
  const provider = await discovered(config)
  const started = await client.initiateBackchannelAuthentication(provider, {
    scope: 'openid email', login_hint: 'alice@example.com', binding_message: 'XQ-17',
  })
  await visit(new URL('sign-in-requests', config.issuer))
  const tokens = await client.pollBackchannelAuthenticationGrant(provider, started)
  const claims = tokens.claims()
  return { claims, userinfo: await client.fetchUserInfo(provider, tokens.access_token, claims.sub) }
}

export async function logout(config, visit) {
  const { provider, tokens } = await signedIn(config, visit)
  const parameters = { post_logout_redirect_uri: config.postLogoutRedirectUri, id_token_hint: tokens.id_token, state: 'bye' }
  const back = await visit(client.buildEndSessionUrl(provider, parameters))
  return { back: back.origin + back.pathname, state: back.searchParams.get('state') }
}

// Registers itself, and signs what it asks for: in the address that the person visits, and pushed.
export async function registered(config, visit) {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])
  const jwk = { ...await crypto.subtle.exportKey('jwk', keys.publicKey), kid: 'k1', use: 'sig', alg: 'ES256' }
  const provider = await client.dynamicClientRegistration(new URL(config.issuer), {
    client_name: 'The Application That Came By Itself',
    redirect_uris: [config.redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'client_secret_basic',
    require_signed_request_object: true,
    request_object_signing_alg: 'ES256',
    jwks: { keys: [jwk] },
  }, client.ClientSecretBasic(), options)
  const metadata = provider.clientMetadata()
  const signingKey = { key: keys.privateKey, kid: 'k1' }
  const signed = await authorized(provider, config, visit, (asked) =>
    client.buildAuthorizationUrlWithJAR(provider, asked, signingKey))
  const pushed = await authorized(provider, config, visit, async (asked) => {
    const { searchParams } = await client.buildAuthorizationUrlWithJAR(provider, asked, signingKey)
    return client.buildAuthorizationUrlWithPAR(provider, { request: searchParams.get('request') })
  })
  const answer = await fetch(metadata.registration_client_uri, {
    headers: { authorization: `Bearer ${metadata.registration_access_token}` },
  })
  return { metadata, signed, pushed, read: await answer.json() }
}

async function authorized(provider, config, visit, addressOf) {
  const verifier = client.randomPKCECodeVerifier()
  const nonce = client.randomNonce()
  const state = client.randomState()
  const url = await addressOf({
    redirect_uri: config.redirectUri,
    scope: 'openid email',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
    state,
  })
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, idTokenExpected: true }
  const tokens = await client.authorizationCodeGrant(provider, await visit(url), checks)
  return tokens.claims()
}

// Registers itself, asks for signed responses, and decrypts these, the ID token and userinfo.
export async function sealed(config, visit) {
  const algorithm = { name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['encrypt', 'decrypt'])
  const jwk = { ...await crypto.subtle.exportKey('jwk', keys.publicKey), kid: 'e1', use: 'enc', alg: 'RSA-OAEP-256' }
  delete jwk.key_ops
  delete jwk.ext
  const encrypted = Object.fromEntries(['id_token', 'userinfo', 'authorization'].flatMap((each) => [
    [`${each}_encrypted_response_alg`, 'RSA-OAEP-256'],
    [`${each}_encrypted_response_enc`, 'A256GCM'],
  ]))
  const provider = await client.dynamicClientRegistration(new URL(config.issuer), {
    client_name: 'The Application That Came By Itself',
    redirect_uris: [config.redirectUri],
    token_endpoint_auth_method: 'client_secret_basic',
    userinfo_signed_response_alg: 'RS256',
    jwks: { keys: [jwk] },
    ...encrypted,
  }, client.ClientSecretBasic(), options)
  client.enableDecryptingResponses(provider, ['A256GCM'], { key: keys.privateKey, alg: 'RSA-OAEP-256', kid: 'e1' })
  client.useJwtResponseMode(provider)
  const verifier = client.randomPKCECodeVerifier()
  const nonce = client.randomNonce()
  const state = client.randomState()
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: config.redirectUri,
    scope: 'openid email',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
    state,
  })
  const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, expectedState: state, idTokenExpected: true }
  const callback = await visit(url)
  const tokens = await client.authorizationCodeGrant(provider, callback, checks)
  const claims = tokens.claims()
  const userinfo = await client.fetchUserInfo(provider, tokens.access_token, claims.sub)
  return { metadata: provider.clientMetadata(), claims, userinfo }
}
