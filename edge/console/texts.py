"""Sentences of pages that are in no template: reports of changes, causes of incidents, and kinds of refusals."""

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from server.platform.errors import ServiceError
from server.platform.languages import ENGLISH, Language, marked

# By the parameter `done` of the page that follows a change.
DONE: Final[Mapping[str, str]] = {
    "tried": marked("The directory was tested."),
    "assigned": marked("The task is assigned."),
    "cancelled": marked("The instance is canceled."),
    "claimed": marked("The task is yours."),
    "completed": marked("The task is completed."),
    "fired": marked("The timer fired before it was due."),
    "migrated": marked("The instance is migrated."),
    "modified": marked("The instance is modified."),
    "resolved": marked("The incident is resolved."),
    "retries": marked("The job has new retries."),
    "returned": marked("The task has no assignee any more."),
    "started": marked("The instance is started."),
    "variable": marked("The variable is saved."),
    "suspended": marked("The batch operation is suspended."),
    "resumed": marked("The batch operation is resumed."),
    "stopped": marked("The batch operation is canceled."),
    "created": marked("It is created."),
    "saved": marked("The changes are saved."),
    "deleted": marked("It is deleted."),
    "password-set": marked("The password is set."),
    "signed-out": marked("The sessions of the user are ended."),
    "session-ended": marked("The session is ended."),
    "device-revoked": marked("The device is signed out."),
    "passkey-removed": marked("The passkey is removed."),
    "sessions-ended": marked("All sessions of the tenant are ended."),
    "rotated": marked("There is a new secret."),
    "keys-rotated": marked("New keys sign from now on."),
    "blocked": marked("The address is blocked."),
    "unblocked": marked("The address is not blocked any more."),
    "verified": marked("The domain is verified."),
    "published": marked("The version is published."),
    "translation-added": marked("The translation is added."),
    "terms-withdrawn": marked("The version is withdrawn."),
    "consent-withdrawn": marked("The access is withdrawn."),
}

# By the error type of an incident.
CAUSES: Final[Mapping[str, str]] = {
    "CALLED_DECISION_ERROR": marked(
        "The engine cannot call the decision. Deploy it, then resolve the incident."
    ),
    "CALLED_ELEMENT_ERROR": marked(
        "The engine cannot call the process. Deploy it, then resolve the incident."
    ),
    "CONDITION_ERROR": marked(
        "No condition holds, or one has no result. Correct the variables, then resolve the incident."
    ),
    "DECISION_EVALUATION_ERROR": marked(
        "The decision has no result. Correct the variables, then resolve the incident."
    ),
    "EXTRACT_VALUE_ERROR": marked(
        "An expression has no usable result. Correct the variables, then resolve the incident."
    ),
    "FORM_NOT_FOUND": marked("The form of the task is not deployed. Deploy it, then resolve the incident."),
    "IO_MAPPING_ERROR": marked(
        "A mapping of variables fails. Correct the variables, then resolve the incident."
    ),
    "JOB_NO_RETRIES": marked(
        "A worker failed the job, and no retries are left. Resolving gives the job one retry."
    ),
    "MESSAGE_SIZE_EXCEEDED": marked(
        "The variables are too large for one message. Make them smaller, then resolve the incident."
    ),
    "RESOURCE_NOT_FOUND": marked("A resource is not deployed. Deploy it, then resolve the incident."),
    "UNHANDLED_ERROR_EVENT": marked(
        "A worker threw an error that no event catches. Move the token, or change the model and migrate."
    ),
}

# By the title of a problem.
REFUSALS: Final[Mapping[str, str]] = {
    "ALREADY_EXISTS": marked("There is one already."),
    "DEADLINE_EXCEEDED": marked("The server did not answer in time. Try again."),
    "FORBIDDEN": marked("You do not have the permission."),
    "INTERNAL": marked("The server has an error."),
    "INVALID_ARGUMENT": marked("Something in the form is not valid."),
    "INVALID_STATE": marked("The current state does not allow it."),
    "MODE_NOT_SUPPORTED": marked("This server does not offer it."),
    "NOT_FOUND": marked("It does not exist."),
    "PAYLOAD_TOO_LARGE": marked("It is too large."),
    "QUOTA_EXHAUSTED": marked("The tenant has used its quota."),
    "RESOURCE_EXHAUSTED": marked("The server has too much to do. Try again."),
    "UNAUTHORIZED": marked("Your session has ended."),
    "UNAVAILABLE": marked("The server has too much to do. Try again."),
}


def reason_of(error: ServiceError, language: Language) -> str:
    """Return the reason of a refusal.

    Services write reasons with their facts in English: another language has the kind of the refusal in front, and the
    reason is marked as English for programs that read pages aloud.
    """
    text = language.translated(error.detail)
    if language.tag == ENGLISH.tag or text != error.detail:
        return text
    kind = language.translated(REFUSALS.get(error.problem.title, ""))
    return Markup('{} <span lang="en">{}</span>').format(kind, text)
