"""Learners who drag at the same moment: everybody's last picture is that of their last step."""

import pytest
from class_parts import lesson


@pytest.fixture(scope="module")
def learner(trying_out):
    """One who has dragged five steps."""
    one = lesson.Learner(trying_out.url, "alone")
    one.arrive()
    one.drag(5)
    yield one
    one.visitor.close()


class TestDragging:
    def test_nobodys_last_picture_is_wrong_or_missing(self, trying_out):
        held = lesson.held(trying_out.url, 3, 30)
        assert held["wrong"] == 0

    def test_a_picture_that_never_came_would_be_seen(self, learner):
        learner.look()
        assert learner.right
        picture = learner.kernel.states[learner.pictures[0]]
        kept, picture["value"] = picture["value"], b"the picture before the last"
        learner.look()
        assert not learner.right
        picture["value"] = kept

    def test_a_step_that_never_arrived_would_be_seen(self, learner):
        learner.wanted[0][1] += 1
        learner.look()
        assert not learner.right
        learner.wanted[0][1] -= 1
