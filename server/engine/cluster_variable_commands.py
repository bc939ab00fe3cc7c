"""Commands about cluster variables."""

from dataclasses import dataclass

from server.engine.addresses import FIRST, HERE, Address
from server.engine.cluster_variable_events import ClusterVariableSet


@dataclass(frozen=True, slots=True)
class CreateClusterVariable:
    """Create a cluster variable with a JSON text, for all tenants if `is_global`, else for the caller's tenant."""

    tenant_id: str
    name: str
    value: str
    is_global: bool = False

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class UpdateClusterVariable:
    tenant_id: str
    name: str
    value: str
    is_global: bool = False

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class DeleteClusterVariable:
    tenant_id: str
    name: str
    is_global: bool = False

    @property
    def address(self) -> Address:
        return FIRST


@dataclass(frozen=True, slots=True)
class AdoptClusterVariable:
    """Set a cluster variable that another partition set."""

    tenant_id: str
    variable: ClusterVariableSet

    @property
    def address(self) -> Address:
        return HERE


@dataclass(frozen=True, slots=True)
class AdoptClusterVariableDeletion:
    """Delete a cluster variable that another partition deleted."""

    tenant_id: str
    variable: ClusterVariableSet

    @property
    def address(self) -> Address:
        return HERE
