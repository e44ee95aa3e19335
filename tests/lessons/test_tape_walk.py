"""The account of the tape: every node's value and gradient, held to the slow head."""

import json
from pathlib import Path

import numpy as np
import pytest

from attnlib import SelfAttentionError
from attnlib.core import tape
from attnlib.lessons.tape_walk import RULES, tape_walk
from tests.authority import FIXTURES, RECTANGULAR, WORKED, assert_near, slow_head

EXACT = Path(__file__).parents[1] / "data" / "heads.json"
CASES = json.loads(EXACT.read_text(encoding="utf-8"))["cases"]
INPUTS = ("query", "key", "value", "grad_output")


@pytest.fixture(params=FIXTURES)
def inputs(request):
    return FIXTURES[request.param]


def by_symbol(inputs):
    return {node.symbol: node for node in tape_walk(*inputs)}


def test_the_nodes_stand_in_the_order_in_which_they_ran(inputs):
    nodes = tape_walk(*inputs)
    assert [node.symbol for node in nodes] == ["Q", "K", "V", "Kᵀ", "R", "S", "log A", "A", "O"]
    seen = {}
    for node in nodes:
        assert {name: seen[name] for name in node.arguments} == node.arguments
        seen[node.symbol] = node.shape


def test_every_value_is_that_of_the_slow_head(inputs):
    nodes, slow = by_symbol(inputs), slow_head(*inputs)
    expected = {
        **dict(zip("QKV", inputs, strict=False)),
        "Kᵀ": inputs[1].swapaxes(1, 2),
        "R": slow.raw_scores,
        "S": slow.scaled_scores,
        "log A": np.log(slow.weights),
        "A": slow.weights,
        "O": slow.output,
    }
    for symbol, array in expected.items():
        np.testing.assert_allclose(nodes[symbol].value, array, rtol=0, atol=1e-12, strict=True)


def test_both_gradients_of_every_node_are_those_of_the_slow_head(inputs):
    nodes, slow = by_symbol(inputs), slow_head(*inputs)
    expected = {
        "Q": slow.grad_query,
        "K": slow.grad_key,
        "V": slow.grad_value,
        "Kᵀ": slow.grad_key.swapaxes(1, 2),
        "R": slow.grad_raw_scores,
        "S": slow.grad_scaled_scores,
        "log A": slow.grad_weights * slow.weights,
        "A": slow.grad_weights,
        "O": inputs[3],
    }
    for symbol, array in expected.items():
        for gradient in (nodes[symbol].gradient, nodes[symbol].closed_form):
            np.testing.assert_allclose(gradient, array, rtol=0, atol=1e-12, strict=True)
        assert nodes[symbol].difference < 1e-14


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_tape_gives_the_exact_gradients_of_sixty_digits(case):
    inputs = [np.array(case[name], dtype=float)[None] for name in INPUTS]
    nodes = by_symbol(inputs)
    for symbol, name in (("Q", "grad_query"), ("K", "grad_key"), ("V", "grad_value")):
        exact = np.array(case["expected"][name], dtype=float)
        assert_near(nodes[symbol].gradient[0], exact, 1e-12)


def test_a_wrong_derivative_on_the_tape_would_show(monkeypatch):
    wrong = (lambda grad, out, x: grad,)
    monkeypatch.setitem(tape.DERIVATIVES, tape.exp, wrong)
    nodes = by_symbol(RECTANGULAR)
    assert nodes["A"].difference == 0
    for symbol in ("log A", "S", "R", "Q", "K"):
        assert nodes[symbol].difference > 1e-3


def test_every_operation_has_a_rule_and_the_inputs_have_none():
    nodes = tape_walk(*WORKED)
    assert {node.symbol for node in nodes if node.operation} == set(RULES)
    assert [node.symbol for node in nodes if node.operation is None] == ["Q", "K", "V"]
    assert [node.operation for node in nodes[3:]] == [
        *("transpose", "matmul", "multiply", "log_softmax", "exp", "matmul"),
    ]


def test_what_the_core_refuses_is_refused_here():
    with pytest.raises(SelfAttentionError):
        tape_walk(*WORKED[:3], WORKED[3][:, :1])
