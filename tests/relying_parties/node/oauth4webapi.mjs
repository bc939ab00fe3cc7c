// Every step by itself, as its user writes it, with every check that the library has.
import * as oauth from 'oauth4webapi'

const insecure = { [oauth.allowInsecureRequests]: true }

async function discovered(issuer, algorithm = 'oidc') {
  const url = new URL(issuer)
  const answer = await oauth.discoveryRequest(url, { algorithm, ...insecure })
  return oauth.processDiscoveryResponse(url, answer)
}

async function signedIn(config, visit, { algorithm = 'oidc', DPoP } = {}) {
  const provider = await discovered(config.issuer, algorithm)
  const client = { client_id: config.clientId }
  const authentication = config.clientSecret ? oauth.ClientSecretPost(config.clientSecret) : oauth.None()
  const verifier = oauth.generateRandomCodeVerifier()
  const nonce = oauth.generateRandomNonce()
  const state = oauth.generateRandomState()
  const url = new URL(provider.authorization_endpoint)
  url.search = new URLSearchParams({
    client_id: config.clientId,
    redirect_uri: config.redirectUri,
    response_type: 'code',
    scope: 'openid profile email offline_access',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
    state,
  })
  const parameters = oauth.validateAuthResponse(provider, client, await visit(url), state)
  const exchange = () => oauth.authorizationCodeGrantRequest(
    provider, client, authentication, parameters, config.redirectUri, verifier, { DPoP, ...insecure })
  const process = async (answer) => oauth.processAuthorizationCodeResponse(
    provider, client, answer, { expectedNonce: nonce, requireIdToken: true })
  const tokens = await retried(exchange, process, DPoP)
  return { provider, client, authentication, tokens }
}

async function retried(request, process, DPoP) {
  try {
    return await process(await request())
  } catch (error) {
    if (!DPoP || !oauth.isDPoPNonceError(error)) throw error
    return process(await request())
  }
}

async function userinfoOf(provider, client, tokens, sub, DPoP) {
  const answer = await oauth.userInfoRequest(provider, client, tokens.access_token, { DPoP, ...insecure })
  return oauth.processUserInfoResponse(provider, client, sub, answer)
}

export async function code(config, visit) {
  const { provider, client, tokens } = await signedIn(config, visit)
  const claims = oauth.getValidatedIdTokenClaims(tokens)
  return { claims, userinfo: await userinfoOf(provider, client, tokens, claims.sub) }
}

export async function plain(config, visit) {
  const { tokens } = await signedIn(config, visit, { algorithm: 'oauth2' })
  return { claims: oauth.getValidatedIdTokenClaims(tokens) }
}

export async function refresh(config, visit) {
  const { provider, client, authentication, tokens } = await signedIn(config, visit)
  const answer = await oauth.refreshTokenGrantRequest(provider, client, authentication, tokens.refresh_token, insecure)
  const again = await oauth.processRefreshTokenResponse(provider, client, answer)
  return {
    before: oauth.getValidatedIdTokenClaims(tokens),
    after: oauth.getValidatedIdTokenClaims(again),
    rotated: again.refresh_token !== tokens.refresh_token,
  }
}

export async function dpop(config, visit) {
  const DPoP = oauth.DPoP({ client_id: config.clientId }, await oauth.generateKeyPair('ES256'))
  const { provider, client, tokens } = await signedIn(config, visit, { DPoP })
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)
  const userinfo = await retried(
    () => oauth.userInfoRequest(provider, client, tokens.access_token, { DPoP, ...insecure }),
    (answer) => oauth.processUserInfoResponse(provider, client, sub, answer),
    DPoP,
  )
  return { type: tokens.token_type, userinfo }
}

export async function revocation(config, visit) {
  const { provider, client, authentication, tokens } = await signedIn(config, visit)
  const introspected = async () => oauth.processIntrospectionResponse(provider, client,
    await oauth.introspectionRequest(provider, client, authentication, tokens.access_token, insecure))
  const before = await introspected()
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(provider, client, authentication, tokens.access_token, insecure))
  return { before, after: await introspected() }
}

export async function machine(config) {
  const provider = await discovered(config.issuer)
  const client = { client_id: config.clientId }
  const answer = await oauth.clientCredentialsGrantRequest(
    provider, client, oauth.ClientSecretBasic(config.clientSecret), {}, insecure)
  const tokens = await oauth.processClientCredentialsResponse(provider, client, answer)
  return { type: tokens.token_type, refresh: tokens.refresh_token ?? null, id: tokens.id_token ?? null }
}

export async function device(config, visit) {
  const provider = await discovered(config.issuer)
  const client = { client_id: config.clientId }
  const authentication = config.clientSecret ? oauth.ClientSecretPost(config.clientSecret) : oauth.None()
  const started = await oauth.processDeviceAuthorizationResponse(provider, client,
    await oauth.deviceAuthorizationRequest(provider, client, authentication, { scope: 'openid offline_access' }, insecure))
  await visit(started.verification_uri_complete)
  const answer = await oauth.deviceCodeGrantRequest(provider, client, authentication, started.device_code, insecure)
  const tokens = await oauth.processDeviceCodeResponse(provider, client, answer)
  return { claims: oauth.getValidatedIdTokenClaims(tokens), refresh: typeof tokens.refresh_token }
}
