"""Every cell's equation, worked out as printed, gives the cell; its sources are all it needs."""

import re

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from attnlib.views import readings
from attnlib.views.layout import quantities
from tests.authority import WORKED, seeded

HEADS = {"worked": WORKED, "rectangular": seeded(1, 3, 5, 4, seed=8)}
GIVEN = {"Q", "K", "V", "doutput"}


def shown_of(query, key, value, grad_output):
    head = scaled_dot_product_self_attention(query, key, value)
    return quantities(head, head.backward(grad_output), grad_output)


def worked_out(equation):
    """Evaluate the middle of ``name = equation = value`` as Python."""
    _, middle, value = equation.split(" = ")
    plain = middle.replace("\N{NO-BREAK SPACE}", " ").replace("−", "-")
    plain = re.sub(r"√(\d+)", r"(\1 ** 0.5)", plain.replace("×", "*").replace("÷", "/"))
    return eval(plain, {"exp": np.exp}), float(value.replace("−", "-"))


@pytest.mark.parametrize("inputs", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("name", readings.RULES)
def test_an_equation_gives_the_value_that_it_shows(inputs, name):
    shown = shown_of(*inputs)
    for cell in np.ndindex(shown[name].shape):
        reading = readings.read(shown, name, *cell)
        result, value = worked_out(reading.equation)
        assert result == pytest.approx(value, abs=2e-5)
        assert value == pytest.approx(shown[name][cell], abs=5e-7)


@pytest.mark.parametrize("inputs", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("name", readings.RULES)
def test_the_sources_are_the_numbers_of_the_equation_and_no_others(inputs, name):
    shown = shown_of(*inputs)
    cell = (shown[name].shape[0] - 1, shown[name].shape[1] - 1)
    reading = readings.read(shown, name, *cell)
    assert len(set(reading.sources)) == len(reading.sources) > 0
    for source, row, column in reading.sources:
        moved = {**shown, source: shown[source].copy()}
        moved[source][row, column] += 0.5
        assert readings.read(moved, name, *cell).equation != reading.equation
    others = {
        (other, *place)
        for other in shown
        for place in np.ndindex(shown[other].shape)
        if other != name
    } - set(reading.sources)
    for source, row, column in others:
        moved = {**shown, source: shown[source].copy()}
        moved[source][row, column] += 0.5
        assert readings.read(moved, name, *cell).equation == reading.equation


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_what_is_given_is_read_as_its_value(name):
    reading = readings.read(shown_of(*WORKED), name, 1, 1)
    assert reading.sources == ()
    assert reading.equation.count(" = ") == 1


def test_every_quantity_has_a_rule_or_is_given():
    assert set(shown_of(*WORKED)) == {*readings.RULES, *GIVEN}
