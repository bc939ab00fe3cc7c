"""Maps the elements of a process instance to the target of its migration, and refuses impossible mappings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from server.bpmn.executable import Element, ElementType, ExecutableProcess, Flow, Loop
from server.engine.elements import BEHAVIOURS
from server.engine.keys import Key
from server.engine.migration_commands import MappingInstruction
from server.engine.rejection import Rejected, RejectionType


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """A checked migration; `mapping` has the target ids of the source's elements and flows."""

    process_instance_key: Key
    source: ExecutableProcess
    target: ExecutableProcess
    mapping: Mapping[str, str]

    def counterpart(self, element: Element) -> Element:
        """The target element for an active element of the source; raises Rejected."""
        if element.flow_scope is None:
            return self.target.root
        if element.type is ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE:
            return self._inner_instance(element, element.flow_scope)
        return self._mapped(element, element.flow_scope)

    def _mapped(self, element: Element, flow_scope: Element) -> Element:
        if not BEHAVIOURS[element.type].is_migratable:
            raise self.invalid_state(
                f"active element '{element.id}' is a {element.type}, which is not supported"
            )
        if element.id not in self.mapping:
            raise self.invalid_state(f"there is no mapping instruction for active element '{element.id}'")
        target = self.target.elements[self.mapping[element.id]]
        if element.is_repeated and target.inner is not None:
            target = target.inner
        if target.type is not element.type:
            raise self.invalid_state(
                f"active element '{element.id}' is a {element.type}, target element '{target.id}' a {target.type}"
            )
        if element.loop is not None and target.loop is not None:
            self._check_loop(element, element.loop, target.loop)
        if element.ad_hoc is not None:
            self._check_implementation(element, target)
        if target.flow_scope is not self.counterpart(flow_scope):
            raise self.invalid_state(
                f"target element '{target.id}' is not in the flow scope that active element '{element.id}' has"
            )
        return target

    def _inner_instance(self, element: Element, flow_scope: Element) -> Element:
        """The target inner instance: the one of the ad-hoc sub-process's target, with or without a mapping instruction."""
        ad_hoc = self.counterpart(flow_scope)
        target = cast("Element", ad_hoc.inner_instance)
        if self.mapping.get(element.id, target.id) != target.id:
            raise self.invalid_state(
                f"active element '{element.id}' is mapped to '{self.mapping[element.id]}', its ad-hoc sub-process to"
                f" '{ad_hoc.id}'"
            )
        return target

    def _check_implementation(self, element: Element, target: Element) -> None:
        if (element.job is None) is not (target.job is None):
            raise self.invalid_state(
                f"active ad-hoc sub-process '{element.id}' and target '{target.id}' are not both done by job workers"
            )

    def _check_loop(self, element: Element, source: Loop, target: Loop) -> None:
        if source.is_sequential is not target.is_sequential:
            raise self.invalid_state(
                f"active element '{element.id}' would change between parallel and sequential"
            )

    def invalid_state(self, reason: str) -> Rejected:
        return Rejected(
            RejectionType.INVALID_STATE,
            f"process instance {self.process_instance_key} cannot be migrated: {reason}",
        )


def migration_plan(
    process_instance_key: Key,
    source: ExecutableProcess,
    target: ExecutableProcess,
    instructions: Iterable[MappingInstruction],
) -> MigrationPlan:
    """The plan for these instructions; raises Rejected.

    Each source is mapped once, and both ends exist: two elements, or two sequence flows.
    """
    mapping: dict[str, str] = {}
    for each in instructions:
        if each.source_element_id in mapping:
            raise _invalid_argument(
                f"several mapping instructions for source element '{each.source_element_id}'"
            )
        mapping[each.source_element_id] = each.target_element_id
    for source_id, target_id in mapping.items():
        targets: Mapping[str, Element] | Mapping[str, Flow]
        if source_id in source.elements:
            kind, targets = "element", target.elements
        elif source_id in source.flows:
            kind, targets = "sequence flow", target.flows
        else:
            raise _invalid_argument(f"process '{source.id}' has no source element '{source_id}'")
        if target_id not in targets:
            raise _invalid_argument(f"process '{target.id}' has no target {kind} '{target_id}'")
    return MigrationPlan(process_instance_key, source, target, mapping)


def _invalid_argument(reason: str) -> Rejected:
    return Rejected(RejectionType.INVALID_ARGUMENT, reason)
