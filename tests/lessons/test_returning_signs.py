"""The cheap sign of each mistake of the way back is what its signature says."""

from dataclasses import replace

import numpy as np
import pytest

from attnlib.lessons.checking.fixtures import INTEGERS, MAIN, OVERFLOW, SQUARE, part
from attnlib.lessons.mistakes import CATALOGUE, load
from tests.authority import slow_gradients
from tests.lessons.ways_back import stages

BACKWARD = [mistake for mistake in CATALOGUE.values() if mistake.direction == "backward"]


def on(fixture, id):
    """The wrong gradients and the right ones."""
    inputs = [x.copy() for x in (*fixture.inputs, fixture.grad_output)]
    return load(id).head(*inputs), slow_gradients(*fixture.inputs, fixture.grad_output)


def same(left, right):
    return np.shape(left) == np.shape(right) and np.allclose(left, right, atol=1e-12)


def times(factor, *places):
    """Whether the gradients at these places are a multiple of the right ones, the others right."""

    def sign(id):
        grads, right = on(MAIN, id)
        return all(
            same(grad, due * (factor if place in places else 1))
            for place, (grad, due) in enumerate(zip(grads, right, strict=True))
        )

    return sign


def value_is_right(id):
    grads, right = on(MAIN, id)
    return same(grads[2], right[2])


def keys_sum_to_zero(id):
    return np.allclose(on(MAIN, id)[0][1].sum(axis=1), 0)


def far_from_zero_when_sure(id):
    grads, right = on(OVERFLOW, id)
    return np.allclose(right[0], 0) and max(np.abs(grads[0]).max(), np.abs(grads[1]).max()) > 0.1


def values_sum_to_grad_output(id):
    return same(on(MAIN, id)[0][2].sum(axis=1), MAIN.grad_output.sum(axis=1))


def item_sums(id):
    grads, _ = on(MAIN, id)
    return [(x * grad).sum() for x, grad in zip(MAIN.inputs[:2], grads[:2], strict=True)]


def with_equal_keys(id):
    fixture = replace(MAIN, key=np.broadcast_to(MAIN.key[:, :1], MAIN.key.shape).copy())
    grads, right = on(fixture, id)
    return np.allclose(right[0], 0) and not np.allclose(grads[0], 0)


def last_share_only(id):
    grads, _ = on(MAIN, id)
    _, weights, *_ = stages(*MAIN.inputs, MAIN.grad_output)
    one, due = on(part(MAIN, 2, 1, 5, 4), id)
    share = weights[:, -1, :, None] * MAIN.grad_output[:, -1:]
    return same(grads[2], share) and all(map(same, one, due))


def fails_where_sizes_differ(id):
    with pytest.raises(ValueError, match="matmul"):
        on(MAIN, id)
    grads, right = on(SQUARE, id)
    return same(grads[2], right[2])


def the_batch_is_gone(id):
    grads, _ = on(MAIN, id)
    one, due = on(part(MAIN, 1, 3, 5, 4), id)
    return all(g.ndim == 2 for g in grads) and all(
        same(grad, right[0]) for grad, right in zip(one, due, strict=True)
    )


def right_for_one_item(id):
    grads, right = on(MAIN, id)
    return all(same(grad, due[-1]) for grad, due in zip(grads, right, strict=True))


def blind_to_grad_output(id):
    grads, _ = on(MAIN, id)
    moved, _ = on(replace(MAIN, grad_output=MAIN.grad_output * 2), id)
    return all(map(same, grads, moved)) and same(grads[2], grads[2][:, :, :1] + np.zeros(4))


def cut_for_whole_numbers(id):
    grads, right = on(INTEGERS, id)
    return times(1)(id) and all(
        same(grad, np.trunc(due)) for grad, due in zip(grads, right, strict=True)
    )


def each_is_of_another(id):
    grads, right = on(MAIN, id)
    return all(any(same(grad, due) for due in right) for grad in grads)


SIGNS = {
    "value-gradient-not-transposed": lambda id: not values_sum_to_grad_output(id),
    "value-gradient-from-scores": lambda id: not values_sum_to_grad_output(id),
    "value-gradient-scaled": times(5**-0.5, 2),
    "value-not-transposed-on-the-way-back": fails_where_sizes_differ,
    "softmax-gradient-skipped": lambda id: value_is_right(id) and far_from_zero_when_sure(id),
    "row-sum-missing": lambda id: value_is_right(id) and not keys_sum_to_zero(id),
    "diagonal-only": lambda id: value_is_right(id) and not keys_sum_to_zero(id),
    "row-term-wrong": value_is_right,
    "log-softmax-gradient": lambda id: (
        value_is_right(id) and keys_sum_to_zero(id) and far_from_zero_when_sure(id)
    ),
    "gradient-scale-missing": times(5**0.5, 0, 1),
    "gradient-scaled-twice": times(5**-0.5, 0, 1),
    "gradient-scale-inverted": times(5, 0, 1),
    "gradient-scale-wrong-width": times((5 / 4) ** 0.5, 0, 1),
    "query-key-gradients-exchanged": lambda id: (
        value_is_right(id) and np.allclose(on(MAIN, id)[0][0].sum(axis=1), 0)
    ),
    "query-key-gradients-added": lambda id: value_is_right(id) and same(*on(MAIN, id)[0][:2]),
    "gradients-in-another-order": each_is_of_another,
    "gradient-from-own-operand": lambda id: value_is_right(id) and with_equal_keys(id),
    "query-gradient-transposed": lambda id: value_is_right(id) and not same(*item_sums(id)),
    "key-gradient-not-transposed": lambda id: (
        (value_is_right(id) and same(on(MAIN, id)[0][0], on(MAIN, id)[1][0]))
        and not keys_sum_to_zero(id)
    ),
    "gradient-overwritten-not-added": last_share_only,
    "gradient-summed-over-batch": the_batch_is_gone,
    "gradient-of-one-item": right_for_one_item,
    "gradient-averaged": times(1 / 2, 0, 1, 2),
    "gradient-sign-flipped": times(-1, 0, 1, 2),
    "grad-output-ignored": blind_to_grad_output,
    "gradient-integer-buffer": cut_for_whole_numbers,
}


class TestSignatures:
    def test_every_mistake_has_its_sign_tested(self):
        assert SIGNS.keys() == {mistake.id for mistake in BACKWARD}

    @pytest.mark.parametrize("id", SIGNS)
    def test_the_cheap_sign_is_what_the_signature_says(self, id):
        assert SIGNS[id](id), load(id).signature
