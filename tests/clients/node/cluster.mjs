// Works with a Gnomon server as users of @camunda8/orchestration-cluster-api do.
//
// Arguments: the address of its HTTP listener, its token endpoint, and the folder of the models.

import { join } from 'node:path'

import { createCamundaClient } from '@camunda8/orchestration-cluster-api'

import { check, reached, same } from './checks.mjs'
import { scenario } from './scenario.mjs'

const [address, tokenUrl, models] = process.argv.slice(2)
const own = (name) => `${name}-cluster`
const camunda = createCamundaClient({
  config: {
    CAMUNDA_REST_ADDRESS: address,
    CAMUNDA_AUTH_STRATEGY: 'OAUTH',
    CAMUNDA_CLIENT_ID: 'demo',
    CAMUNDA_CLIENT_SECRET: 'demo-secret',
    CAMUNDA_OAUTH_URL: tokenUrl,
    CAMUNDA_TOKEN_AUDIENCE: 'gnomon',
    CAMUNDA_SDK_LOG_LEVEL: 'silent',
    // Answers are held against the schemas of Camunda's document. Its check of requests drops cursors: with a `limit`,
    // `after` and `before` are not sent.
    CAMUNDA_SDK_VALIDATION: 'req:none,res:strict',
  },
})
const NOW = { consistency: { waitUpToMs: 0 } }

await scenario({
  topology: () => camunda.getTopology(),
  deploy: (...names) => camunda.deployResourcesFromFiles(names.map((name) => join(models, `${name}.bpmn`))),
  create: (processDefinitionId, variables = {}) => camunda.createProcessInstance({ processDefinitionId, variables }),
  worker: (jobType, jobHandler) => {
    const worker = camunda.createJobWorker({
      jobType, jobHandler, maxParallelJobs: 20, jobTimeoutMs: 60_000, workerName: 'node', pollIntervalMs: 10,
    })
    return () => worker.stop()
  },
  activate: async (type) => {
    const request = { type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 20_000, worker: 'hand' }
    return (await camunda.activateJobs(request)).jobs[0]
  },
  fail: (jobKey) => camunda.failJob({ jobKey, retries: 0, errorMessage: 'no stock' }),
  retry: (jobKey) => camunda.updateJob({ jobKey, changeset: { retries: 1 } }),
  incidents: (query) => camunda.searchIncidents(query, NOW),
  resolve: (incidentKey) => camunda.resolveIncident({ incidentKey }),
  instances: (query) => camunda.searchProcessInstances(query, NOW),
  tasks: (query) => camunda.searchUserTasks(query, NOW),
  assign: (userTaskKey, assignee) => camunda.assignUserTask({ userTaskKey, assignee }),
  complete: (userTaskKey, variables) => camunda.completeUserTask({ userTaskKey, variables }),
  publish: (message) => camunda.publishMessage(message),
  broadcast: (signalName) => camunda.broadcastSignal({ signalName }),
  set: (elementInstanceKey, variables) =>
    camunda.createElementInstanceVariables({ elementInstanceKey, variables }),
  variables: (query) => camunda.searchVariables(query, NOW),
  modify: (processInstanceKey, activate, terminate) =>
    camunda.modifyProcessInstance({
      processInstanceKey,
      activateInstructions: [{ elementId: activate }],
      terminateInstructions: [{ elementInstanceKey: terminate }],
    }),
  migrate: (processInstanceKey, targetProcessDefinitionKey, mappingInstructions) =>
    camunda.migrateProcessInstance({ processInstanceKey, targetProcessDefinitionKey, mappingInstructions }),
}, own)

await check('process instances are cancelled by a filter', async () => {
  const filter = { processDefinitionId: own('route'), state: 'ACTIVE' }
  const { page } = await camunda.searchProcessInstances({ filter }, NOW)
  const { batchOperationKey } = await camunda.cancelProcessInstancesBatchOperation({ filter })
  const batch = await reached(
    () => camunda.getBatchOperation({ batchOperationKey }, NOW),
    ({ state }) => state === 'COMPLETED'
  )
  same([page.totalItems, 0], [batch.operationsCompletedCount, batch.operationsFailedCount])
})

process.exit(0)
