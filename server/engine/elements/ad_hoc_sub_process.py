"""Ad-hoc sub-process: activates given elements, each in an inner instance with its own scope."""

from server.engine import ad_hoc
from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit
from server.engine.work import Enter


class AdHocSubProcess(Behaviour):
    """Completes when its completion condition is true or its worker ends it; with neither, when nothing is active inside.

    While no element was activated, it waits.
    """

    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        ad_hoc.begin(step, visit)

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True

    def emptied(self, step: Step, visit: Visit) -> bool:  # noqa: ARG002  # for elements that begin again
        return ad_hoc.is_complete(visit)


class AdHocInnerInstance(Behaviour):
    """Completes when nothing is active on the path of its element."""

    is_migratable = True

    def activated(self, step: Step, visit: Visit) -> None:
        step.defer(visit.process_instance, Enter(visit.instance.key, visit.instance.begins_at))

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True
