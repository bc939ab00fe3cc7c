"""Python client of Gnomon over gRPC: `Client` for asyncio, `SyncClient` for threads.

It needs the generated stubs, grpcio and protobuf, and no part of the server, the identity provider or the edge.
"""

from gnomon.client.client import Client
from gnomon.client.credentials import ClientCredentials
from gnomon.client.errors import BpmnError, DeadlineExceeded, GnomonError, JobFailure, RequestFailed
from gnomon.client.jobs import Job, Variables
from gnomon.client.sync import SyncClient

__all__ = [
    "BpmnError",
    "Client",
    "ClientCredentials",
    "DeadlineExceeded",
    "GnomonError",
    "Job",
    "JobFailure",
    "RequestFailed",
    "SyncClient",
    "Variables",
]
