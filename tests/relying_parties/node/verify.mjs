// Verifies tokens with an independent library: `node verify.mjs JWKS TOKEN...` prints each one's algorithm and claims.
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'

const [jwks, ...tokens] = process.argv.slice(2)
const keys = createLocalJWKSet(JSON.parse(jwks))
const verified = []
for (const token of tokens) {
  const { payload } = await jwtVerify(token, keys)
  const octets = Buffer.from(token.split('.')[2], 'base64url').length
  verified.push({ alg: decodeProtectedHeader(token).alg, octets, claims: payload })
}
process.stdout.write(JSON.stringify(verified))
