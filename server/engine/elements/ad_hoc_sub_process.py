"""Ad-hoc sub-process: activates the elements that it is given, each in an inner instance with a scope of its own."""

from server.engine import ad_hoc
from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit
from server.engine.work import Enter


class AdHocSubProcess(Behaviour):
    """Completes when its completion condition holds, or its worker says so; without both when nothing is active inside.

    One that nothing was activated in waits.
    """

    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        """Raises Incident."""
        ad_hoc.begin(step, visit)

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True

    def emptied(self, step: Step, visit: Visit) -> bool:  # noqa: ARG002  # for elements that begin again
        return ad_hoc.is_complete(visit)


class AdHocInnerInstance(Behaviour):
    """Completes when nothing is active any more on the path that its element began."""

    is_migratable = True

    def activated(self, step: Step, visit: Visit) -> None:
        step.defer(visit.process_instance, Enter(visit.instance.key, visit.instance.begins_at))

    def waits(self, visit: Visit) -> bool:  # noqa: ARG002  # for elements that look at themselves
        return True
