"""Sentences of pages that no template has: reports of changes, and causes of incidents."""

from collections.abc import Mapping
from typing import Final

# By the parameter `done` of the page that follows a change.
DONE: Final[Mapping[str, str]] = {
    "assigned": "The task is assigned.",
    "cancelled": "The instance is canceled.",
    "claimed": "The task is yours.",
    "completed": "The task is completed.",
    "migrated": "The instance is migrated.",
    "modified": "The instance is modified.",
    "resolved": "The incident is resolved.",
    "retries": "The job has new retries.",
    "returned": "The task has no assignee any more.",
    "started": "The instance is started.",
    "variable": "The variable is saved.",
    "suspended": "The batch operation is suspended.",
    "resumed": "The batch operation goes on.",
    "stopped": "The batch operation is canceled.",
    "created": "It is created.",
    "saved": "The changes are saved.",
    "deleted": "It is deleted.",
    "password-set": "The password is set.",
    "signed-out": "The sessions of the user are ended.",
    "session-ended": "The session is ended.",
    "device-revoked": "The device is signed out.",
    "passkey-removed": "The passkey is removed.",
    "sessions-ended": "All sessions of the tenant are ended.",
    "rotated": "There is a new secret.",
    "keys-rotated": "New keys sign from now on.",
    "blocked": "The address is blocked.",
    "unblocked": "The address is not blocked any more.",
    "verified": "The domain is verified.",
    "consent-withdrawn": "The access is withdrawn.",
}

# By the error type of an incident.
CAUSES: Final[Mapping[str, str]] = {
    "CALLED_DECISION_ERROR": "The engine cannot call the decision. Deploy it, then resolve the incident.",
    "CALLED_ELEMENT_ERROR": "The engine cannot call the process. Deploy it, then resolve the incident.",
    "CONDITION_ERROR": "No condition holds, or one has no result. Correct the variables, then resolve the incident.",
    "DECISION_EVALUATION_ERROR": "The decision has no result. Correct the variables, then resolve the incident.",
    "EXTRACT_VALUE_ERROR": "An expression has no usable result. Correct the variables, then resolve the incident.",
    "FORM_NOT_FOUND": "The form of the task is not deployed. Deploy it, then resolve the incident.",
    "IO_MAPPING_ERROR": "A mapping of variables fails. Correct the variables, then resolve the incident.",
    "JOB_NO_RETRIES": "A worker failed the job, and no retries are left. Resolving gives the job one retry.",
    "MESSAGE_SIZE_EXCEEDED": "The variables are too large for one message. Make them smaller, then resolve the incident.",
    "RESOURCE_NOT_FOUND": "A resource is not deployed. Deploy it, then resolve the incident.",
    "UNHANDLED_ERROR_EVENT": "A worker threw an error that no event catches. Move the token, or change the model and migrate.",
}
