"""Multi-instance body: one instance of the activity for each item of the input collection, parallel or sequential."""

from server.engine import multi_instance
from server.engine.behaviour import Behaviour
from server.engine.step import Step, Visit
from server.engine.work import CreateInstance


class MultiInstanceBody(Behaviour):
    """Completes when all of its instances have completed, or when its completion condition is true after one of them."""

    is_migratable = True

    def activate(self, step: Step, visit: Visit) -> None:
        multi_instance.begin(step, visit)

    def activated(self, step: Step, visit: Visit) -> None:
        if self.waits(visit):
            step.defer(visit.process_instance, CreateInstance(visit.instance.key))

    def waits(self, visit: Visit) -> bool:
        return multi_instance.progress_of(visit.instance).items > 0

    def complete(self, step: Step, visit: Visit) -> None:
        multi_instance.collect(step, visit)

    def emptied(self, step: Step, visit: Visit) -> bool:
        progress = multi_instance.progress_of(visit.instance)
        if progress.is_done or progress.created == progress.items:
            return True
        if multi_instance.is_sequential(visit):
            step.defer(visit.process_instance, CreateInstance(visit.instance.key))
        return False
