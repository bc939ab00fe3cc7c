"""Statements that a process sends to the database while nothing happens: the larger part of its idle CPU time.

Each loop is listed with its statements a pass; tests of the loops hold these numbers.
"""

from identity.access.sessions.logout_config import LogoutConfig
from identity.crypto.keys import key_maintenance
from identity.directory import version
from identity.directory.tenants import tenant_directory
from server.partition import removal_watch
from server.partition.config import ClusterConfig

# What a pass of the key maintenance reads for each tenant: key set, providers, generators, letters, root secret.
_KEY_MAINTENANCE = 8


def test_an_idle_process_sends_twelve_statements_a_second_at_most() -> None:
    cluster = ClusterConfig()

    survey, beat, renewal = (1 / cluster.poll_seconds,) * 3
    of_partitions = survey + beat + renewal
    of_identity = (
        1 / version.PASS_SECONDS
        + 1 / tenant_directory.PASS_SECONDS
        # Tenants in each phase of their removal; without one, the provider's own loop reads nothing.
        + 2 / removal_watch.IDLE_SECONDS
        + 1 / LogoutConfig().poll_interval_secs
        + _KEY_MAINTENANCE / key_maintenance.PASS_SECONDS
    )

    assert of_partitions + of_identity <= 12
