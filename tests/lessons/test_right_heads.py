"""No false accusation: heads that are right, however they are written, pass the check."""

import numpy as np
import pytest

from attnlib.core.tape import Tensor
from attnlib.lessons.checker import check_forward
from tests import authority
from tests.lessons.right_heads import RIGHT_HEADS, softmax

INPUTS = {
    "rectangular": authority.RECTANGULAR,
    "square": authority.SQUARE,
    "worked": authority.WORKED,
    "one token": authority.seeded(batch=1, tokens=1, width=2, value_width=3, seed=29),
    "integers": tuple(np.rint(3 * x).astype(int) for x in authority.RECTANGULAR),
    "far apart": authority.seeded(batch=1, tokens=4, width=1, value_width=2, seed=30),
}


def handed_output(returned):
    """The output in whatever a right head returns."""
    if isinstance(returned, dict):
        returned = returned["output"]
    elif isinstance(returned, tuple):
        returned = returned[0]
    return np.asarray(returned.detach().numpy() if hasattr(returned, "detach") else returned)


def assert_no_fault(verdict):
    assert verdict.passed, str(verdict)
    assert verdict.mistake is None
    assert verdict.stage is None
    assert verdict.counterexample is None


def test_there_are_at_least_twenty_five():
    assert len({id(head) for head in RIGHT_HEADS.values()}) >= 25


@pytest.mark.filterwarnings("ignore:overflow encountered in exp")
@pytest.mark.parametrize("inputs", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("head", RIGHT_HEADS.values(), ids=RIGHT_HEADS)
def test_they_are_right_by_the_slow_reference(head, inputs):
    query, key, value, _ = inputs
    output = handed_output(head(query, key, value))
    error = 1e-5 if output.dtype == np.float32 else 1e-13
    authority.assert_near(output.astype(float), authority.slow_head(*inputs).output, error)


@pytest.mark.parametrize("head", RIGHT_HEADS.values(), ids=RIGHT_HEADS)
def test_a_right_head_passes(head):
    assert_no_fault(check_forward(head))


@pytest.mark.parametrize("head", RIGHT_HEADS.values(), ids=RIGHT_HEADS)
def test_a_right_head_that_is_moved_by_a_thousandth_does_not_pass(head):
    def moved(query, key, value):
        return 1.001 * handed_output(head(query, key, value))

    verdict = check_forward(moved)
    assert not verdict.passed
    assert verdict.mistake is None
    assert verdict.stage == "output"


@pytest.mark.parametrize("refusal", [TypeError("not implemented for 'Long'"), ValueError("floats")])
def test_a_right_head_need_not_take_integers(refusal):
    def head(query, key, value):
        if query.dtype.kind != "f":
            raise refusal
        return RIGHT_HEADS["einsum throughout"](query, key, value)

    assert_no_fault(check_forward(head))


def test_a_right_head_need_not_take_an_empty_batch_with_lists():
    """Lists of no item say nothing about the shape of an item."""
    verdict = check_forward(RIGHT_HEADS["nested lists and fsum"])
    assert verdict.passed


class TestTensorsInsteadOfArrays:
    def test_a_head_that_wants_its_own_kind_gets_it_from_the_adapter(self):
        def on_tensors(query, key, value):
            assert {type(x) for x in (query, key, value)} == {Tensor}
            scores = query.data @ key.data.mT / query.data.shape[-1] ** 0.5
            return softmax(scores) @ value.data

        assert_no_fault(check_forward(on_tensors, adapter=Tensor))

    def test_the_function_of_pytorch_passes(self):
        torch = pytest.importorskip("torch")
        attention = torch.nn.functional.scaled_dot_product_attention
        assert_no_fault(check_forward(attention, adapter=torch.from_numpy))

    def test_pytorch_step_by_step_passes_with_gradients_on(self):
        torch = pytest.importorskip("torch")

        def head(query, key, value):
            query = query.clone().requires_grad_()
            scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
            weights = torch.softmax(scores, dim=-1)
            return weights @ value, weights

        assert_no_fault(check_forward(head, adapter=torch.from_numpy))


@pytest.mark.parametrize("given", ["output", "output and weights", "all"])
def test_the_core_passes_with_whatever_stages_are_handed_in(given):
    from attnlib import scaled_dot_product_self_attention

    def head(query, key, value):
        record = scaled_dot_product_self_attention(query, key, value)
        stages = {
            name: getattr(record, name)
            for name in ("raw_scores", "scaled_scores", "weights", "output")
        }
        if given == "output":
            return stages["output"]
        if given == "output and weights":
            return stages["output"], stages["weights"]
        return stages

    assert_no_fault(check_forward(head))
