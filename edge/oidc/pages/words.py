"""Descriptions of scopes for users."""

from collections.abc import Mapping

from server.platform.languages import Language, marked

_WORDS = {
    "openid": marked("Know who you are"),
    "profile": marked("See your name, username, birthdate, picture and language"),
    "email": marked("See your email address"),
    "address": marked("See your postal address"),
    "phone": marked("See your telephone number"),
    "groups": marked("See the groups you belong to"),
    "offline_access": marked("Keep access while you are signed out"),
    "process:deploy": marked("Deploy processes on your behalf"),
    "process:delete": marked("Delete deployed processes on your behalf"),
    "instance:create": marked("Start processes on your behalf"),
    "instance:cancel": marked("Cancel processes on your behalf"),
    "instance:delete": marked("Delete the history of processes on your behalf"),
    "instance:migrate": marked("Migrate processes on your behalf"),
    "instance:modify": marked("Modify processes on your behalf"),
    "job:work": marked("Work on jobs on your behalf"),
    "task:work": marked("Work on user tasks on your behalf"),
    "incident:resolve": marked("Resolve incidents on your behalf"),
    "message:publish": marked("Publish messages to processes on your behalf"),
    "signal:broadcast": marked("Broadcast signals to processes on your behalf"),
    "variable:write": marked("Change the variables of processes on your behalf"),
    "variable:erase": marked("Erase the variables of processes on your behalf"),
    "document:write": marked("Store and delete documents on your behalf"),
    "document:read": marked("Read stored documents on your behalf"),
    "history:read": marked("See the history of processes"),
    "operations:read": marked("See running processes"),
    "audit:read": marked("See the audit log"),
    "clock:write": marked("Set the clock of the engine on your behalf"),
    "identity:read": marked("See accounts, clients and settings"),
    "identity:write": marked("Change accounts, clients and settings on your behalf"),
}


def words_of(scope: str, language: Language) -> str:
    """Return the description of a scope; a custom scope is described by its name."""
    if scope in _WORDS:
        return language.translated(_WORDS[scope])
    return language.translated("Use “%(scope)s”", scope=scope)


def all_words(language: Language) -> Mapping[str, str]:
    """Return the descriptions by their scopes."""
    return {scope: language.translated(words) for scope, words in _WORDS.items()}
