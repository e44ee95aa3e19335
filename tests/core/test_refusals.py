"""Each refusal says what is wrong, where, what came, and how to mend it."""

import pickle

import numpy as np
import pytest

from attnlib import scaled_dot_product_self_attention
from tests.authority import RECTANGULAR
from tests.core.refusing import facts, refusal_of, refused

NAMES = ("query", "key", "value")


def shaped(*shapes):
    return [np.ones(shape) for shape in shapes]


def with_entry(field, index, entry):
    inputs = [array.copy() for array in RECTANGULAR[:3]]
    inputs[field][index] = entry
    return inputs


def replaced(field, array):
    inputs = list(RECTANGULAR[:3])
    inputs[field] = array
    return inputs


def on_each(field_to_case):
    return [field_to_case(field, name) for field, name in enumerate(NAMES)]


REFUSALS = [
    *on_each(
        lambda field, name: (
            replaced(field, RECTANGULAR[field].astype(complex)),
            ("input-dtype", f"operand={name}|dtype=complex128"),
            [name, "real numbers", "complex128", "x.real"],
        )
    ),
    *on_each(
        lambda field, name: (
            replaced(field, RECTANGULAR[field][0]),
            ("input-rank", f"operand={name}|rank=2"),
            [name, "[batch, tokens, features]", "got 2", f"{name}[None]"],
        )
    ),
    *on_each(
        lambda field, name: (
            replaced(field, RECTANGULAR[field][None]),
            ("input-rank", f"operand={name}|rank=4"),
            [name, "got 4", "reshape"],
        )
    ),
    *on_each(
        lambda field, name: (
            replaced(field, 7.0),
            ("input-rank", f"operand={name}|rank=0"),
            [name, "got 0", "tokens by features"],
        )
    ),
    (
        shaped((1, 2, 2), (2, 2, 2), (1, 2, 2)),
        ("batch-mismatch", "query=1|key=2|value=1"),
        ["same batch size", "got 1, 2 and 1", "np.repeat"],
    ),
    (
        shaped((2, 2, 2), (2, 2, 2), (0, 2, 2)),
        ("batch-mismatch", "query=2|key=2|value=0"),
        ["same batch size", "got 2, 2 and 0"],
    ),
    (
        shaped((1, 2, 2), (1, 3, 2), (1, 2, 2)),
        ("token-mismatch", "query=2|key=3|value=2"),
        ["same number of tokens", "got 2, 3 and 2", "transpose(0, 2, 1)"],
    ),
    (
        shaped((1, 2, 2), (1, 2, 2), (1, 1, 2)),
        ("token-mismatch", "query=2|key=2|value=1"),
        ["got 2, 2 and 1"],
    ),
    (
        shaped((1, 0, 2), (1, 0, 2), (1, 0, 2)),
        ("empty-token-axis", "tokens=0"),
        ["token axis", "at least one token", "got 0", "leave the item out"],
    ),
    *on_each(
        lambda field, name: (
            replaced(field, np.ones((2, 3, 0))),
            ("empty-feature-width", f"operand={name}"),
            [name, "at least one feature", "width 0", "slice"],
        )
    ),
    (
        shaped((1, 2, 2), (1, 2, 3), (1, 2, 2)),
        ("query-key-width-mismatch", "query=2|key=3"),
        ["query and key", "one feature width d_k", "got 2 and 3", "project"],
    ),
    *on_each(
        lambda field, name: (
            with_entry(field, (0, 1, 2), np.nan),
            ("non-finite-input", f"operand={name}|index=(0, 1, 2)"),
            [name, "finite", "got nan at index (0, 1, 2)", f"np.nan_to_num({name})"],
        )
    ),
    (
        with_entry(1, (1, 0, 3), -np.inf),
        ("non-finite-input", "operand=key|index=(1, 0, 3)"),
        ["key", "got -inf", "no mask"],
    ),
    (
        [np.full((1, 2, 2), 1e200)] * 3,
        ("non-finite-stage", "stage=raw query-key scores|index=(0, 0, 0)"),
        ["raw query-key scores", "finite", "got inf", "float64", "scale the inputs down"],
    ),
]


@pytest.mark.parametrize(
    ("inputs", "expected", "words"),
    REFUSALS,
    ids=[f"{kind}: {evidence}" for _, (kind, evidence), _ in REFUSALS],
)
def test_a_refusal_names_the_argument_the_rule_what_came_and_the_mend(inputs, expected, words):
    error = refused(*inputs)
    assert facts(error) == expected
    for word in words:
        assert word in str(error)


def test_a_record_above_the_memory_limit_is_refused_with_both_sizes_and_the_mend():
    error = refused(*RECTANGULAR[:3], memory_limit=1000)
    # B=2, T=3: Q and K hold 5 features, V and output 4, and three grids hold 3 keys.
    needed = 2 * 3 * (2 * 5 + 2 * 4 + 3 * 3) * 8
    assert facts(error) == ("too-large", f"bytes={needed}|limit=1000")
    for word in ("memory_limit", "1.266 KiB", "1000 bytes", "streaming", "memory_limit=1296"):
        assert word in str(error)


def test_the_first_entry_that_is_not_finite_is_the_one_named():
    key = RECTANGULAR[1].copy()
    key[1, 2, 4], key[0, 2, 1], key[1, 0, 0] = np.inf, -np.inf, np.nan
    assert refused(*replaced(1, key)).evidence["index"] == (0, 2, 1)


@pytest.mark.parametrize(
    ("query", "key", "value", "evidence"),
    [
        ([0, 1e200], [1, 1e200], [1, 1], "stage=raw query-key scores|index=(0, 1, 1)"),
        ([0, 1], [1e308, -1e308], [1, 1], "stage=row log-softmax|index=(0, 1, 1)"),
    ],
)
def test_the_stage_that_overflowed_first_is_the_one_named(query, key, value, evidence):
    error = refused(*(np.reshape(column, (1, 2, 1)) for column in (query, key, value)))
    assert facts(error) == ("non-finite-stage", evidence)


def test_opposite_infinities_within_one_dot_product_are_an_overflow_too():
    tokens = np.full((1, 1, 2), 1e200)
    error = refused(tokens, tokens * [1, -1], tokens)
    assert facts(error) == ("non-finite-stage", "stage=raw query-key scores|index=(0, 0, 0)")


def test_single_precision_overflows_sooner_and_is_pointed_to_double_precision():
    tokens = np.full((1, 2, 2), 1e30)
    assert scaled_dot_product_self_attention(tokens, tokens, tokens).weights[0, 0, 0] == 0.5
    error = refused(*[tokens.astype(np.float32)] * 3)
    assert error.kind == "non-finite-stage"
    assert "use float64" in str(error)


def backward_refusal(grad_output):
    head = scaled_dot_product_self_attention(*RECTANGULAR[:3])
    return refusal_of(head.backward, grad_output)


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 3, 4), (2, 3), (3, 4), (), (0, 3, 4), (2, 3, 1)])
def test_a_gradient_of_another_shape_than_the_output_is_refused(shape):
    error = backward_refusal(np.ones(shape))
    assert facts(error) == ("gradient-shape", f"expected=(2, 3, 4)|got={shape}")
    for word in ("grad_output", "(2, 3, 4)", str(shape), "head.output"):
        assert word in str(error)


def test_a_gradient_is_held_to_the_type_and_finiteness_of_an_input():
    wrong = RECTANGULAR[3].copy()
    wrong[1, 2, 3] = np.inf
    error = backward_refusal(wrong)
    assert facts(error) == ("non-finite-input", "operand=grad_output|index=(1, 2, 3)")
    error = backward_refusal(wrong.astype(complex))
    assert facts(error) == ("input-dtype", "operand=grad_output|dtype=complex128")


def test_a_gradient_that_overflows_on_the_way_back_is_refused():
    query, key, value, grad_output = RECTANGULAR
    head = scaled_dot_product_self_attention(query, key, value * 1e200)
    error = refusal_of(head.backward, grad_output * 1e200)
    assert error.kind == "non-finite-stage"
    assert list(error.evidence) == ["stage", "index"]


def test_a_refusal_survives_the_way_between_processes():
    error = refused(*shaped((1, 2, 2), (2, 2, 2), (1, 2, 2)))
    copy = pickle.loads(pickle.dumps(error))
    assert facts(copy) == facts(error)
    assert str(copy) == str(error)
