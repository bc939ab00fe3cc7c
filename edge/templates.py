"""Templates of pages in each language."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from edge.script_texts import ScriptTexts
from server.platform.languages import Language


class Templates:
    """Templates of a package. A language gets compiled templates of its own at its first page.

    A template finds its language as `language`, and translations of scripts in `scripts` by `texts_of`.
    """

    def __init__(self, package: str, scripts: Path) -> None:
        self._package = package
        self._texts = ScriptTexts(scripts)
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
        environment.globals |= {
            "language": language,
            "texts_of": lambda names: self._texts.of(language, names),
        }
        return environment
