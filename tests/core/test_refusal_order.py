"""Of two faults, the one that stands first in the contract's table is told; Q before K before V."""

import numpy as np
import pytest

from tests.core.refusing import refused

GOOD = (1, 2, 2)
COMPLEX = np.ones(GOOD, dtype=complex)
ONES = np.ones(GOOD)
NAN = np.full(GOOD, np.nan)
HUGE = np.full(GOOD, 1e200)


def ones(*shape):
    return np.ones(shape)


# The earlier fault sits on a later operand where it can, so that a check that finishes one
# operand before it looks at the next is caught.
TWO_FAULTS = [
    ("input-dtype", "input-rank", [ones(2, 2), ONES, COMPLEX], {}),
    ("input-rank", "batch-mismatch", [ones(1, 2, 2), ones(2, 2, 2), ones(2, 2)], {}),
    ("batch-mismatch", "token-mismatch", [ones(1, 2, 2), ones(1, 3, 2), ones(2, 2, 2)], {}),
    ("token-mismatch", "empty-token-axis", [ones(1, 0, 2), ones(1, 0, 2), ones(1, 2, 2)], {}),
    ("empty-token-axis", "empty-feature-width", [ones(1, 0, 0), ones(1, 0, 2), ones(1, 0, 2)], {}),
    (
        "empty-feature-width",
        "query-key-width-mismatch",
        [ones(1, 2, 2), ones(1, 2, 3), ones(1, 2, 0)],
        {},
    ),
    ("query-key-width-mismatch", "non-finite-input", [NAN, ones(1, 2, 3), ONES], {}),
    ("non-finite-input", "non-finite-stage", [HUGE, HUGE, NAN], {}),
    ("non-finite-input", "too-large", [ONES, ONES, NAN], {"memory_limit": 1}),
    ("too-large", "non-finite-stage", [HUGE, HUGE, ONES], {"memory_limit": 1}),
]


@pytest.mark.parametrize(
    ("first", "second", "inputs", "options"),
    TWO_FAULTS,
    ids=[f"{first} before {second}" for first, second, *_ in TWO_FAULTS],
)
def test_of_two_faults_the_first_in_the_table_is_told(first, second, inputs, options):
    assert refused(*inputs, **options).kind == first


@pytest.mark.parametrize("fault", [COMPLEX, ones(2, 2), ones(1, 2, 0), NAN])
def test_of_two_faulty_operands_the_query_is_told_before_the_key_before_the_value(fault):
    assert refused(fault, fault, fault).evidence["operand"] == "query"
    assert refused(ones(1, 2, 2), fault, fault).evidence["operand"] == "key"
    assert refused(ones(1, 2, 2), ones(1, 2, 2), fault).evidence["operand"] == "value"
