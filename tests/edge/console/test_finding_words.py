"""Findings of models have words in the catalogues."""

from edge.console.finding_words import FINDING_WORDS, finding_words_in
from server.lint.catalogue import RULES
from server.platform.languages import ENGLISH, languages


def test_the_words_are_those_of_the_rules() -> None:
    assert {rule.message for rule in RULES} == {*FINDING_WORDS}


def test_no_rule_has_the_mark_that_ends_its_words_in_a_finding() -> None:
    assert [words for words in FINDING_WORDS if ": " in words] == []


def test_a_german_page_has_words_for_every_rule_and_an_english_page_has_none() -> None:
    german = finding_words_in(languages().of("de"))

    assert {*FINDING_WORDS} - german.keys() == set()
    assert finding_words_in(ENGLISH) == {}
