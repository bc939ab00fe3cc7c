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

export async function logout(config, visit) {
  const { provider, tokens } = await signedIn(config, visit)
  const parameters = { post_logout_redirect_uri: config.postLogoutRedirectUri, id_token_hint: tokens.id_token, state: 'bye' }
  const back = await visit(client.buildEndSessionUrl(provider, parameters))
  return { back: back.origin + back.pathname, state: back.searchParams.get('state') }
}
