"""Decisions: deployed ones, their evaluations, and the rules of an evaluation that matched."""

import re
from typing import Final

from aiohttp import web

from edge.console.pages.live import saved
from edge.console.visit import Visit
from server.platform.errors import NotFound

# The key of an evaluation, and the number of the decision in it.
_EVALUATION_KEY: Final = re.compile(r"\d+-\d+")
_LIMIT: Final = 100
_EVALUATIONS: Final = 50


async def decisions(visit: Visit) -> web.Response:
    """The newest version of each decision."""
    wanted = {
        "filter": {"isLatestVersion": True},
        "sort": [{"field": "name"}],
        "page": visit.page_of(_LIMIT),
    }
    found = await visit.api("SearchDecisionDefinitions", wanted)
    return visit.page(
        "decisions.html",
        "decisions",
        found=found,
        has_more=await visit.has_more("SearchDecisionDefinitions", wanted, found),
    )


async def decision(visit: Visit) -> web.Response:
    """One version of a decision with its latest evaluations."""
    wanted = {
        "filter": {"decisionDefinitionKey": visit.key},
        "sort": [{"field": "evaluationDate", "order": "DESC"}],
        "page": visit.page_of(_EVALUATIONS),
    }
    definition, found = await visit.together(
        visit.api("GetDecisionDefinition", decision_definition_key=visit.key),
        visit.api("SearchDecisionInstances", wanted),
    )
    return visit.page(
        "decision.html",
        "decisions",
        definition=definition,
        found=found,
        has_more=await visit.has_more("SearchDecisionInstances", wanted, found),
    )


async def decision_model(visit: Visit) -> web.Response:
    """The DMN file of a decision, which browsers save and never display."""
    text = await visit.api("GetDecisionDefinitionXml", decision_definition_key=visit.key)
    return saved(text, f"{visit.key}.dmn")


async def evaluation(visit: Visit) -> web.Response:
    """One evaluation: its inputs, its result, and the rules that matched."""
    if not _EVALUATION_KEY.fullmatch(visit.key):
        raise NotFound("there is no evaluation with this key")
    shown = await visit.api("GetDecisionInstance", decision_evaluation_instance_key=visit.key)
    wanted = {
        "filter": {"decisionEvaluationKey": shown["decisionEvaluationKey"]},
        "page": {"limit": _LIMIT},
    }
    others = await visit.api("SearchDecisionInstances", wanted)
    return visit.page("evaluation.html", "decisions", evaluation=shown, others=others)
