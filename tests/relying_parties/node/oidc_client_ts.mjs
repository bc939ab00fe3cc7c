// What single-page applications use; its core needs no window.
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts'

function created(config) {
  return new OidcClient({
    authority: config.issuer,
    client_id: config.clientId,
    redirect_uri: config.redirectUri,
    post_logout_redirect_uri: config.postLogoutRedirectUri,
    scope: 'openid profile email offline_access',
    loadUserInfo: true,
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  })
}

async function signedIn(config, visit) {
  const client = created(config)
  const { url } = await client.createSigninRequest({})
  const answer = await client.processSigninResponse(String(await visit(url)))
  return { client, answer }
}

export async function code(config, visit) {
  const { answer } = await signedIn(config, visit)
  return { claims: answer.profile, userinfo: answer.profile }
}

export async function refresh(config, visit) {
  const { client, answer } = await signedIn(config, visit)
  const state = { ...answer, data: undefined }
  const again = await client.useRefreshToken({ state })
  return { before: answer.profile, after: again.profile, rotated: again.refresh_token !== answer.refresh_token }
}

export async function logout(config, visit) {
  const { client, answer } = await signedIn(config, visit)
  const { url } = await client.createSignoutRequest({ id_token_hint: answer.id_token, state: 'bye' })
  const back = await visit(url)
  const { userState } = await client.processSignoutResponse(String(back))
  return { back: back.origin + back.pathname, state: userState }
}
