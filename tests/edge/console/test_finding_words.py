"""Findings of models have words in the catalogues."""

import pytest

from edge.console.finding_words import FINDING_WORDS, finding_words_in
from server.lint.catalogue import RULES
from server.lint.rule import Family
from server.platform.languages import ENGLISH, languages

OTHERS = {Family.DEPLOYMENT, Family.RESOURCE}


@pytest.mark.parametrize(
    ("kind", "family"), [("process", Family.BPMN), ("decision", Family.DMN), ("form", Family.FORM)]
)
def test_the_words_are_those_of_the_rules_for_the_kind_of_model(kind: str, family: Family) -> None:
    assert {rule.message for rule in RULES if rule.family in {family, *OTHERS}} == {*FINDING_WORDS[kind]}


@pytest.mark.parametrize("words", FINDING_WORDS.values())
def test_no_rule_has_the_mark_that_ends_its_words_in_a_finding(words: tuple[str, ...]) -> None:
    assert [each for each in words if ": " in each] == []


@pytest.mark.parametrize("kind", FINDING_WORDS)
def test_a_german_page_has_words_for_every_rule_and_an_english_page_has_none(kind: str) -> None:
    german = finding_words_in(languages().of("de"), kind)

    assert {*FINDING_WORDS[kind]} - german.keys() == set()
    assert finding_words_in(ENGLISH, kind) == {}
