#!/usr/bin/env python3
"""A worker in Python: charges cards for examples/order-fulfilment.bpmn.

Run it beside a server: python examples/worker.py [HOST:PORT]
"""

import asyncio
import sys

from gnomon.client import Client, ClientCredentials, Job, Variables

# What a server without credentials of its own takes.
CREDENTIALS = ClientCredentials("demo", "demo-secret")


async def charge(job: Job) -> Variables:
    amount, customer = job.variables["amount"], job.variables["customer"]
    sys.stdout.write(f"charged {amount} to {customer}\n")
    sys.stdout.flush()
    return {"transactionId": f"{customer}-{job.key}"}


async def main(address: str) -> None:
    async with (
        Client(address, CREDENTIALS) as client,
        client.worker("charge-card", charge, name="example", max_jobs=10),
    ):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "localhost:26500"))
