"""Templates of pages in each language."""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from server.platform.languages import Language

OfLanguage = Callable[[Language], Mapping[str, Any]]


def none(_language: Language) -> Mapping[str, Any]:
    return {}


class Templates:
    """Templates of a package. A language gets compiled templates of its own at its first page.

    A template finds its language as `language`, `values` by their names, and translates what a variable contains by
    the filter `translated`.
    """

    def __init__(self, package: str, *, values: OfLanguage = none, filters: OfLanguage = none) -> None:
        self._package = package
        self._values = values
        self._filters = filters
        self._environments: dict[str, Environment] = {}

    def of(self, language: Language, name: str) -> Template:
        environment = self._environments.get(language.tag)
        if environment is None:
            environment = self._environments[language.tag] = self._environment(language)
        return environment.get_template(name)

    def _environment(self, language: Language) -> Environment:
        environment = Environment(
            loader=PackageLoader(self._package),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            extensions=("jinja2.ext.i18n",),
        )
        environment.policies["ext.i18n.trimmed"] = True
        environment.install_gettext_translations(language.catalogue, newstyle=True)  # type: ignore[attr-defined]
        environment.globals |= {"language": language, **self._values(language)}
        environment.filters |= {"translated": language.translated, **self._filters(language)}
        return environment
