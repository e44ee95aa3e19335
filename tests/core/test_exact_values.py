"""The head gives the values that 60-digit arithmetic gives, and the chapter's printed figures."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from tests.authority import WORKED

CASES = json.loads((Path(__file__).parents[1] / "data" / "heads.json").read_text())["cases"]
FORWARD = ("raw_scores", "scaled_scores", "weights", "output")
BACKWARD = ("query", "key", "value", "weights", "scaled_scores")

# The large-logits case has entries near 1e-29000, which no double can hold.
BELOW_EVERY_DOUBLE = Fraction(2) ** -1022


def run(case):
    query, key, value, grad_output = (
        np.array([case[name]], dtype=float) for name in ("query", "key", "value", "grad_output")
    )
    head = scaled_dot_product_self_attention(query, key, value)
    return head, head.backward(grad_output)


def agrees(actual, expected, error):
    """Compare doubles with decimal strings in fractions, so that neither side is rounded."""
    texts = np.array(expected)
    assert actual.shape == (1, *texts.shape)
    exact = [Fraction(text) for text in texts.ravel().tolist()]
    worst = max(
        abs(Fraction(number) - truth)
        for number, truth in zip(actual.ravel().tolist(), exact, strict=True)
    )
    return worst <= Fraction(error) * max(map(abs, exact)) + BELOW_EVERY_DOUBLE


@pytest.fixture(params=CASES, ids=lambda case: case["name"])
def case(request):
    return request.param


@pytest.mark.parametrize("name", FORWARD)
def test_every_forward_value_is_exact_to_thirteen_digits(case, name):
    head, _ = run(case)
    assert agrees(getattr(head, name), case["expected"][name], "1e-13")


@pytest.mark.parametrize("name", BACKWARD)
def test_every_gradient_is_exact_to_twelve_digits(case, name):
    _, gradients = run(case)
    assert agrees(getattr(gradients, name), case["expected"][f"grad_{name}"], "1e-12")


def test_the_scale_is_one_over_the_root_of_the_key_width(case):
    head, _ = run(case)
    exact = Fraction(case["expected"]["scale"])
    assert abs(Fraction(float(head.scale)) - exact) <= exact * Fraction("1e-15")


def test_a_value_wrong_in_the_thirteenth_digit_is_noticed():
    rectangular = next(case for case in CASES if case["name"] == "rectangular")
    head, _ = run(rectangular)
    nudged = head.output.copy()
    nudged[0, 1, 2] += 2e-13 * np.abs(head.output).max()
    assert not agrees(nudged, rectangular["expected"]["output"], "1e-13")


def printed(array):
    return " ".join(f"{number:.6f}" for number in np.ravel(array))


def test_the_worked_example_gives_the_figures_printed_in_the_chapter():
    query, key, value, grad_output = WORKED
    head = scaled_dot_product_self_attention(query, key, value)
    gradients = head.backward(grad_output)
    terms = head.weights[..., None] * head.value[:, None]
    assert {
        "raw scores": printed(head.raw_scores),
        "scale": printed(head.scale),
        "scaled scores": printed(head.scaled_scores),
        "weights": printed(head.weights),
        "weighted values of query 0": printed(terms[0, 0]),
        "weighted values of query 1": printed(terms[0, 1]),
        "output": printed(head.output),
        "objective": printed(np.sum(head.output * grad_output)),
        "grad query": printed(gradients.query),
        "grad key": printed(gradients.key),
        "grad value": printed(gradients.value),
    } == {
        "raw scores": "0.000000 6.000000 6.000000 -4.000000",
        "scale": "0.707107",
        "scaled scores": "0.000000 4.242641 4.242641 -2.828427",
        "weights": "0.014166 0.985834 0.999151 0.000849",
        "weighted values of query 0": "0.042498 -0.042498 0.985834 2.957502",
        "weighted values of query 1": "2.997454 -2.997454 0.000849 0.002546",
        "output": "1.028332 2.915004 2.998303 -2.994908",
        "objective": "-1.966576",
        "grad query": "0.079000 -0.039500 -0.014389 0.007195",
        "grad key": "-0.007195 0.062847 0.007195 -0.062847",
        "grad value": "0.014166 0.999151 0.985834 0.000849",
    }


@pytest.mark.parametrize(("padding", "favored"), [([], "0.731059"), ([0], "0.669762")])
def test_the_scores_one_and_zero_are_softened_by_a_second_feature(padding, favored):
    key = np.array([[[1, *padding], [0, *padding]]])
    query = np.array([[[1, *padding], [1, *padding]]])
    head = scaled_dot_product_self_attention(query, key, key)
    assert head.raw_scores[0, 0].tolist() == [1, 0]
    assert printed(head.weights[0, 0, 0]) == favored


def test_a_replay_gives_the_same_bits(case):
    (head, gradients), (again, gradients_again) = run(case), run(case)
    for name in FORWARD:
        assert getattr(head, name).tobytes() == getattr(again, name).tobytes()
    for name in BACKWARD:
        assert getattr(gradients, name).tobytes() == getattr(gradients_again, name).tobytes()
