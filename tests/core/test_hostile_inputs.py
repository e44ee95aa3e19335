"""What is no array of real numbers is refused by its type, without a stray error from NumPy."""

import array
from datetime import datetime

import numpy as np
import pytest

from attnlib import Tensor, scaled_dot_product_self_attention
from tests.core.refusing import refusal_of, refused

GOOD = np.ones((1, 2, 2))


class RaisesAsAnArray:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array today")


class ReturnsNoArray:
    def __array__(self, dtype=None, copy=None):
        return "text"


class RaisesInLength:
    def __len__(self):
        raise OSError("no length today")

    def __getitem__(self, position):
        raise OSError("no item today")


HOSTILE = {
    "None": None,
    "text": "query",
    "bytes": b"query",
    "dict": {"query": 1},
    "set": {1.0, 2.0},
    "generator": (row for row in [[1.0]]),
    "function": len,
    "ragged rows": [[[1.0, 2.0], [3.0]]],
    "ragged items": [[[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]],
    "numbers and None": [[[1.0, None], [3.0, 4.0]]],
    "numbers and text": [[[1.0, "2.0"], [3.0, 4.0]]],
    "an integer beyond 64 bits": [[[10**400, 1], [1, 1]]],
    "object array": GOOD.astype(object),
    "text array": GOOD.astype(str),
    "bytes array": GOOD.astype("S3"),
    "complex array": GOOD.astype(np.complex64),
    "longdouble array": GOOD.astype(np.longdouble),
    "dates": np.full((1, 2, 2), datetime(2017, 6, 12), dtype="datetime64[D]"),
    "durations": GOOD.astype("timedelta64[s]"),
    "structured array": np.zeros((1, 2, 2), dtype=[("query", float)]),
    "masked array": np.ma.masked_array(GOOD, mask=GOOD > 0),
    "tape tensor": Tensor(GOOD),
    "raises as an array": RaisesAsAnArray(),
    "returns no array": ReturnsNoArray(),
    "raises in its length": RaisesInLength(),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("field", range(3), ids=["query", "key", "value"])
def test_what_is_no_array_of_real_numbers_is_refused_by_its_type(hostile, field):
    inputs = [GOOD, GOOD, GOOD]
    inputs[field] = hostile
    error = refused(*inputs)
    assert error.kind == "input-dtype"
    assert list(error.evidence) == ["operand", "dtype"]
    assert error.evidence["operand"] == ("query", "key", "value")[field]
    assert type(error.evidence["dtype"]) is str
    assert str(error).startswith(error.evidence["operand"])


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_a_gradient_that_is_no_array_of_real_numbers_is_refused_the_same_way(hostile):
    head = scaled_dot_product_self_attention(GOOD, GOOD, GOOD)
    error = refusal_of(head.backward, hostile)
    assert (error.kind, error.evidence["operand"]) == ("input-dtype", "grad_output")


@pytest.mark.parametrize(("empty", "rank"), [([], 1), ([[]], 2), ([[], []], 2)])
def test_an_empty_list_is_refused_by_its_rank(empty, rank):
    error = refused(empty, GOOD, GOOD)
    assert (error.kind, error.evidence["rank"]) == ("input-rank", rank)


def test_anything_that_numpy_reads_as_real_numbers_is_welcome():
    numbers = array.array("d", [1.0, 2.0, 3.0, 4.0])
    memory = memoryview(numbers).cast("B").cast("d", shape=[1, 2, 2])
    head = scaled_dot_product_self_attention(memory, [((1, 2), (3, 4))], memory)
    assert head.query.tolist() == head.key.tolist() == [[[1.0, 2.0], [3.0, 4.0]]]
