// What both clients over HTTP go through, by the functions that each of them fills in.

import { check, eventually, reached, same } from './checks.mjs'

const NUMBER = 50

// `own` makes of a name the id of a process, or the type of a job.
export async function scenario(client, own) {
  const only = ({ items }) => {
    same(1, items.length)
    return items[0]
  }
  const ended = async (processInstanceKey) => {
    const found = await reached(
      () => client.instances({ filter: { processInstanceKey } }),
      ({ items }) => items.length === 1 && items[0].state !== 'ACTIVE'
    )
    return found.items[0].state
  }

  await check('each partition has a healthy leader', async () => {
    const topology = await client.topology()
    const partitions = topology.brokers.flatMap((broker) => broker.partitions)
    same(topology.partitionsCount, partitions.length)
    same([], partitions.filter(({ role, health }) => role !== 'leader' || health !== 'healthy'))
  })

  await check('processes are deployed', async () => {
    const deployed = await client.deploy('shop', 'approval', 'route')
    same(['shop', 'approval', 'route'].map(own), deployed.processes.map((each) => each.processDefinitionId))
  })

  await check('a worker works off fifty orders', async () => {
    let packed = 0
    const stop = client.worker(own('pack'), (job) => {
      packed += job.variables.weight
      return job.complete({ packed: true })
    })
    const keys = new Set()
    for (let number = 0; number < NUMBER; number += 1) {
      keys.add((await client.create(own('shop'), { number, weight: 2 })).processInstanceKey)
    }
    same(NUMBER, keys.size)
    await eventually(NUMBER * 2, () => packed)
    const filter = { processDefinitionId: own('shop'), state: { $in: ['COMPLETED'] } }
    await reached(() => client.instances({ filter }), ({ page }) => Number(page.totalItems) === NUMBER)
    await stop()
  })

  await check('a search is paged in both directions', async () => {
    const search = (page) =>
      client.instances({
        filter: { processDefinitionId: { $eq: own('shop') }, processDefinitionVersion: { $gte: 1 } },
        sort: [{ field: 'processInstanceKey', order: 'DESC' }],
        page: { limit: 20, ...page },
      })
    const keys = ({ items }) => items.map((item) => item.processInstanceKey)
    const first = await search({})
    const second = await search({ after: first.page.endCursor })
    const third = await search({ after: second.page.endCursor })
    const back = await search({ before: third.page.startCursor })
    const all = [first, second, third].flatMap(keys)
    same([20, 20, 10], [first, second, third].map(({ items }) => items.length))
    same(NUMBER, new Set(all).size)
    same([...all].sort((one, other) => Number(BigInt(other) - BigInt(one))), all)
    same(keys(second), keys(back))
  })

  await check('a failed job is an incident until it is resolved', async () => {
    const { processInstanceKey } = await client.create(own('shop'), { weight: 1 })
    const job = await client.activate(own('pack'))
    await client.fail(job.jobKey)
    const incident = only(await client.incidents({ filter: { processInstanceKey, state: 'ACTIVE' } }))
    same(['JOB_NO_RETRIES', 'no stock'], [incident.errorType, incident.errorMessage])
    await client.retry(job.jobKey)
    await client.resolve(incident.incidentKey)
    const again = await client.activate(own('pack'))
    same(job.jobKey, again.jobKey)
    await again.complete({})
    same('COMPLETED', await ended(processInstanceKey))
  })

  await check('a user task, a message and a signal lead to the end', async () => {
    const order = `o-${Date.now()}`
    const { processInstanceKey } = await client.create(own('approval'), { order })
    const filter = { processInstanceKey, state: 'CREATED' }
    const { userTaskKey, elementId } = only(await client.tasks({ filter }))
    await client.assign(userTaskKey, 'ada')
    same('ada', only(await client.tasks({ filter: { ...filter, assignee: 'ada' } })).assignee)
    await client.complete(userTaskKey, { approved: true })
    await client.set(processInstanceKey, { note: 'by hand' })
    await client.publish({ name: 'paid', correlationKey: order, timeToLive: 60_000, variables: { amount: 7 } })
    const variables = await reached(
      () => client.variables({ filter: { processInstanceKey }, sort: [{ field: 'name' }] }),
      ({ items }) => items.length === 4
    )
    await client.broadcast('released')
    same('approve', elementId)
    same(
      [['amount', '7'], ['approved', 'true'], ['note', '"by hand"'], ['order', `"${order}"`]],
      variables.items.map(({ name, value }) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
    )
    same('COMPLETED', await ended(processInstanceKey))
  })

  await check('a process instance is modified and migrated', async () => {
    const { processInstanceKey } = await client.create(own('route'))
    const first = await client.activate(own('first'))
    await client.modify(processInstanceKey, 'second', first.elementInstanceKey)
    same('second', (await client.activate(own('second'))).elementId)
    const next = (await client.deploy('route-next')).processes[0]
    await client.migrate(processInstanceKey, next.processDefinitionKey, [
      { sourceElementId: 'second', targetElementId: 'begin' },
    ])
    const found = only(await client.instances({ filter: { processInstanceKey } }))
    same(next.processDefinitionVersion, found.processDefinitionVersion)
  })
}
