// Runs one flow of one library: `node driver.mjs LIBRARY FLOW CONFIG`. Where a person has to act it prints
// {"visit": URL} and goes on with the line it is then given; at the end it prints {"result": ...} or {"error": ...}.
import { createInterface } from 'node:readline'

const [library, flow, config] = process.argv.slice(2)
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

async function visit(url) {
  say({ visit: String(url) })
  const { value } = await lines.next()
  return new URL(JSON.parse(value))
}

try {
  const flows = await import(`./${library}.mjs`)
  say({ result: await flows[flow](JSON.parse(config), visit) })
} catch (error) {
  say({ error: { name: error.name, message: error.message, code: error.code, oauth: error.error, cause: String(error.cause ?? '') } })
}
process.exit(0)
