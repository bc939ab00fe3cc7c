// Works with a Gnomon server as users of @camunda8/sdk do, over HTTP. It has no batch operations.
//
// Arguments: the address of its HTTP listener, its token endpoint, and the folder of the models.

import { join } from 'node:path'

import { Camunda8 } from '@camunda8/sdk'

import { scenario } from './scenario.mjs'

const [address, tokenUrl, models] = process.argv.slice(2)
const own = (name) => `${name}-rest`
const camunda = new Camunda8({
  ZEEBE_REST_ADDRESS: address,
  CAMUNDA_AUTH_STRATEGY: 'OAUTH',
  CAMUNDA_OAUTH_URL: tokenUrl,
  CAMUNDA_TOKEN_DISK_CACHE_DISABLE: true,
  CAMUNDA_LOG_LEVEL: 'none',
  ZEEBE_CLIENT_ID: 'demo',
  ZEEBE_CLIENT_SECRET: 'demo-secret',
  ZEEBE_TOKEN_AUDIENCE: 'gnomon',
}).getCamundaRestClient()

await scenario({
  topology: () => camunda.getTopology(),
  deploy: (...names) => camunda.deployResourcesFromFiles(names.map((name) => join(models, `${name}.bpmn`))),
  create: (processDefinitionId, variables = {}) => camunda.createProcessInstance({ processDefinitionId, variables }),
  worker: (type, jobHandler) => {
    const worker = camunda.createJobWorker({
      type, jobHandler, maxJobsToActivate: 20, timeout: 60_000, worker: 'node', pollIntervalMs: 10,
    })
    return () => worker.stop()
  },
  activate: async (type) => {
    const request = { type, timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 20_000, worker: 'hand' }
    return (await camunda.activateJobs(request))[0]
  },
  fail: (jobKey) => camunda.failJob({ jobKey, retries: 0, errorMessage: 'no stock', retryBackOff: 0 }),
  retry: (jobKey) => camunda.updateJob({ jobKey, retries: 1 }),
  incidents: (query) => camunda.searchIncidents(query),
  resolve: (incidentKey) => camunda.resolveIncident(incidentKey),
  instances: (query) => camunda.searchProcessInstances(query),
  tasks: (query) => camunda.searchUserTasks(query),
  assign: (userTaskKey, assignee) => camunda.assignUserTask({ userTaskKey, assignee }),
  complete: (userTaskKey, variables) => camunda.completeUserTask({ userTaskKey, variables }),
  publish: (message) => camunda.publishMessage(message),
  broadcast: (signalName) => camunda.broadcastSignal({ signalName, variables: {} }),
  set: (elementInstanceKey, variables) => camunda.updateElementInstanceVariables({ elementInstanceKey, variables }),
  variables: (query) => camunda.searchVariables(query),
  modify: (processInstanceKey, activate, terminate) =>
    camunda.modifyProcessInstance({
      processInstanceKey,
      activateInstructions: [{ elementId: activate }],
      terminateInstructions: [{ elementInstanceKey: terminate }],
    }),
  migrate: (processInstanceKey, targetProcessDefinitionKey, mappingInstructions) =>
    camunda.migrateProcessInstance({ processInstanceKey, targetProcessDefinitionKey, mappingInstructions }),
}, own)

process.exit(0)
