"""Each refusal can be provoked, and what provokes it provokes it alone."""

import pytest

from attnlib.core.errors import SelfAttentionError
from attnlib.lessons import refusals

EVIDENCE = {
    "input-dtype": "operand=query|dtype=<U1",
    "input-rank": "operand=query|rank=2",
    "batch-mismatch": "query=1|key=2|value=1",
    "token-mismatch": "query=2|key=3|value=2",
    "empty-token-axis": "tokens=0",
    "empty-feature-width": "operand=value",
    "query-key-width-mismatch": "query=2|key=3",
    "non-finite-input": "operand=key|index=(0, 1, 0)",
    "non-finite-stage": "stage=raw query-key scores|index=(0, 0, 0)",
    "too-large": "bytes=6442975232|limit=1073741824",
    "gradient-shape": "expected=(1, 2, 3)|got=(1, 2, 2)",
}


def test_the_kinds_are_all_there_in_the_order_of_the_checks():
    assert list(EVIDENCE) == list(refusals.KINDS)


@pytest.mark.parametrize("kind", refusals.KINDS)
def test_a_bad_input_gets_the_refusal_it_was_made_for(kind):
    refusal = refusals.provoke(kind)
    assert isinstance(refusal, SelfAttentionError)
    assert refusal.kind == kind
    assert refusal.evidence_text == EVIDENCE[kind]


@pytest.mark.parametrize("kind", refusals.KINDS)
def test_a_refusal_says_what_came_and_what_to_do(kind):
    message = str(refusals.provoke(kind))
    assert " got " in message
    assert ": " in message


def test_an_accepted_input_gives_no_refusal(monkeypatch):
    good = refusals.BAD_INPUTS["input-rank"]()[1:] * 2
    monkeypatch.setitem(refusals.BAD_INPUTS, "input-rank", lambda: good[:3])
    assert refusals.provoke("input-rank") is None


def test_bad_inputs_are_fresh_each_time():
    first, second = (refusals.BAD_INPUTS["non-finite-input"]() for _ in range(2))
    assert not any(one is other for one, other in zip(first, second, strict=True))
