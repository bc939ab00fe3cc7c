// Works with a Gnomon server as users of @camunda8/sdk do, over gRPC.
//
// Arguments: host and port of its gRPC listener, its token endpoint, and the folder of the examples.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { Camunda8 } from '@camunda8/sdk'

import { check, eventually, refused, same } from './checks.mjs'

const [address, tokenUrl, examples] = process.argv.slice(2)
const PROCESS = 'order-fulfilment'
const NUMBER = 50
const UNKNOWN = '1099511627776'
const INVALID_ARGUMENT = 3
const NOT_FOUND = 5
const ALREADY_EXISTS = 6

const camunda = new Camunda8({
  ZEEBE_GRPC_ADDRESS: `grpc://${address}`,
  CAMUNDA_AUTH_STRATEGY: 'OAUTH',
  CAMUNDA_OAUTH_URL: tokenUrl,
  CAMUNDA_TOKEN_DISK_CACHE_DISABLE: true,
  CAMUNDA_LOG_LEVEL: 'none',
  ZEEBE_CLIENT_ID: 'demo',
  ZEEBE_CLIENT_SECRET: 'demo-secret',
  ZEEBE_TOKEN_AUDIENCE: 'gnomon',
})
const zeebe = camunda.getZeebeGrpcApiClient({
  ZEEBE_CLIENT_LOG_LEVEL: 'NONE',
  ZEEBE_GRPC_CLIENT_RETRY: false,
})

function order(number) {
  const items = [{ article: 'book', quantity: number + 2, price: 1 }]
  const priority = number % 2 === 0 ? 'express' : 'normal'
  return { number, priority, order: { customer: `c-${number}`, items } }
}

function file(name) {
  return { process: readFileSync(join(examples, name)), name }
}

function decision(name) {
  return { decision: readFileSync(join(examples, name)), name }
}

// Workers for orders; `done` counts what they have done.
function shop(done) {
  const types = {
    'check-stock': (job) => job.complete({ inStock: job.variables.number % 5 !== 4 }),
    'charge-card': (job) => job.complete({ transactionId: `t-${job.variables.number}` }),
    'ship-order': (job) => {
      same('post', job.customHeaders.carrier)
      done.shipped += 1
      return job.complete()
    },
    'notify-customer': (job) => {
      done.notified += 1
      return job.complete()
    },
  }
  return Object.entries(types).map(([taskType, taskHandler]) =>
    zeebe.createWorker({ taskType, taskHandler, timeout: 60_000, loglevel: 'NONE' })
  )
}

async function created(processId = 'invoice-payment') {
  const variables = { invoice: { account: 'a-1', amount: 20 } }
  const instance = await zeebe.createProcessInstance({ bpmnProcessId: processId, variables })
  return instance.processInstanceKey
}

async function activated(type = 'transfer-money') {
  const jobs = await zeebe.activateJobs({
    type, worker: 'by hand', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 20_000,
  })
  return jobs[0]
}

await check('each partition has a healthy leader', async () => {
  const topology = await zeebe.topology()
  const partitions = topology.brokers.flatMap((broker) => broker.partitions)
  same(topology.partitionsCount, partitions.length)
  same([], partitions.filter(({ role, health }) => role !== 'LEADER' || health !== 'HEALTHY'))
})

await check('processes and decisions are deployed', async () => {
  const answer = await zeebe.deployResources([
    file(`${PROCESS}.bpmn`), file('invoice-payment.bpmn'), decision('pricing.dmn'),
  ])
  same(
    ['process', 'process', 'decision', 'decision', 'decisionRequirements'],
    answer.deployments.map((deployment) => deployment.Metadata)
  )
  same(PROCESS, answer.deployments[0].process.bpmnProcessId)
})

await check('workers work off fifty orders, and a result is awaited', async () => {
  const done = { shipped: 0, notified: 0 }
  const workers = shop(done)
  const keys = new Set()
  for (let number = 0; number < NUMBER; number += 1) {
    const variables = order(number)
    keys.add((await zeebe.createProcessInstance({ bpmnProcessId: PROCESS, variables })).processInstanceKey)
  }
  same(NUMBER, keys.size)
  await eventually(NUMBER, () => done.shipped + done.notified)
  const answer = await zeebe.createProcessInstanceWithResult({
    bpmnProcessId: PROCESS, variables: order(1), requestTimeout: 20_000, fetchVariables: ['payment'],
  })
  same({ payment: { transactionId: 't-1', amount: 3 } }, answer.variables)
  same({ shipped: 41, notified: 10 }, done)
  await Promise.all(workers.map((worker) => worker.close()))
})

await check('a job is failed, activated again and completed', async () => {
  await created()
  const first = await activated()
  await zeebe.failJob({ jobKey: first.key, retries: 2, errorMessage: 'again', retryBackOff: 50 })
  const second = await activated()
  same([first.key, 2], [second.key, second.retries])
  await zeebe.updateJobTimeout({ jobKey: second.key, timeout: 300_000 })
  await zeebe.updateJobRetries({ jobKey: second.key, retries: 5 })
  await zeebe.completeJob({ jobKey: second.key, variables: {} })
  await refused(NOT_FOUND, () => zeebe.completeJob({ jobKey: second.key, variables: {} }))
})

await check('an instance is cancelled, once', async () => {
  const key = await created()
  await zeebe.setVariables({ elementInstanceKey: key, variables: { checked: true }, local: true })
  await zeebe.cancelProcessInstance(key)
  await refused(NOT_FOUND, () => zeebe.cancelProcessInstance(key))
})

await check('jobs are pushed', async () => {
  const pushed = []
  const stream = await zeebe.streamJobs({
    type: 'transfer-money',
    worker: 'stream',
    timeout: 60_000,
    taskHandler: (job) => {
      pushed.push(job.processInstanceKey)
      return job.complete()
    },
  })
  const key = await created()
  await eventually(key, () => pushed[0])
  stream.close()
})

await check('a message is published once, and a signal is broadcast', async () => {
  const message = { name: 'paid', correlationKey: 'o-1', messageId: 'm-1', timeToLive: 60_000, variables: {} }
  same('default', (await zeebe.publishMessage(message)).tenantId)
  await refused(ALREADY_EXISTS, () => zeebe.publishMessage(message))
  same('default', (await zeebe.broadcastSignal({ signalName: 'alarm', variables: { floor: 2 } })).tenantId)
})

await check('a decision is evaluated', async () => {
  const variables = { customer: 'regular', amount: 120 }
  same('10', (await zeebe.evaluateDecision({ decisionId: 'discount', variables })).decisionOutput)
  await refused(NOT_FOUND, () => zeebe.evaluateDecision({ decisionId: 'none', variables: {} }))
})

await check('what is unknown or faulty is refused', async () => {
  await refused(NOT_FOUND, () => zeebe.createProcessInstance({ bpmnProcessId: 'none', variables: {} }))
  await refused(NOT_FOUND, () => zeebe.completeJob({ jobKey: UNKNOWN, variables: {} }))
  const broken = { process: Buffer.from('<bpmn:definitions'), name: 'broken.bpmn' }
  await refused(INVALID_ARGUMENT, () => zeebe.deployResource(broken))
})

await zeebe.close()
process.exit(0)
