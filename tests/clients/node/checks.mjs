// Checks one after the other, a line for each: its result, its name and what went wrong.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

const PATIENCE_MILLISECONDS = 60_000
const PAUSE_MILLISECONDS = 50

// A failed check does not keep the next ones from running.
export async function check(name, run) {
  try {
    await run()
    report('passed', name, '')
  } catch (failure) {
    report('failed', name, String(failure.message ?? failure))
  }
}

function report(...words) {
  process.stdout.write(`${words.map((word) => word.replaceAll(/\s+/g, ' ')).join('\t')}\n`)
}

export function same(expected, found) {
  assert.deepEqual(found, expected)
}

// The call ends with this status code, whose number gRPC gives.
export async function refused(code, call) {
  try {
    await call()
  } catch (refusal) {
    same(code, refusal.code)
    return
  }
  throw new Error(`expected status code ${code}, found an answer`)
}

export async function eventually(expected, question) {
  const end = Date.now() + PATIENCE_MILLISECONDS
  while (question() !== expected && Date.now() < end) {
    await sleep(PAUSE_MILLISECONDS)
  }
  same(expected, question())
}

// The first answer that `fits`; the last one when none does in time.
export async function reached(question, fits) {
  const end = Date.now() + PATIENCE_MILLISECONDS
  let answer = await question()
  while (!fits(answer)) {
    if (Date.now() > end) {
      throw new Error(`expected another answer than ${JSON.stringify(answer)}`)
    }
    await sleep(PAUSE_MILLISECONDS)
    answer = await question()
  }
  return answer
}
