"""The check of a way back: run it, find the first gradient that departs, and name the mistake."""

from dataclasses import replace
from time import monotonic

from attnlib.lessons.checking import backward_naming, backward_saying, saying, seeing
from attnlib.lessons.checking.asking import check_arguments
from attnlib.lessons.checking.backward_laws import score_factor
from attnlib.lessons.checking.backward_trials import try_on
from attnlib.lessons.checking.fixtures import FIXTURES, INTEGERS, Fixture
from attnlib.lessons.checking.running import SECONDS


def check_backward(function, adapter=None, fixtures=None, seconds=SECONDS):
    """Check a way back of one's own, and name the mistake that it holds.

    Parameters
    ----------
    function : callable
        Takes query and key, shape [batch, tokens, d_k], and value and grad_output, shape [batch,
        tokens, d_v]. Returns the three gradients (dQ, dK, dV), each in the shape of its input.
    adapter : callable, optional
        Applied to each input first, for instance ``torch.from_numpy``. Whole numbers are then
        not tried.
    fixtures : sequence of Fixture, optional
        Inputs of your own in place of `FIXTURES`.
    seconds : float, default 2.0
        The time limit of one call.

    Returns
    -------
    Verdict
        Whether it is right; if not, the first gradient that departs, in the order value, query,
        key, and the id of the mistake in `attnlib.lessons.mistakes.CATALOGUE`, or None.

    Raises
    ------
    ValueError
        If `function` or `adapter` can't be called, `seconds` is no positive number, or a known
        mistake would pass unseen on the `fixtures` given: such a check would prove nothing.

    Notes
    -----
    Each gradient is held against the closed form within 1e-6 (single precision: 1e-4) of the
    largest entry, its terms counted before they cancel: central differences pass. grad_output is
    random. With all ones, and values whose rows have equal sums, dQ and dK are 0, and a wrong
    scale, sign or product in them shows nowhere; `seeing.unseen` tells what an input hides.
    """
    seconds = check_arguments(function, "query, key, value and grad_output", adapter, seconds)
    call = Call(function, adapter, seconds)
    trials = call.on_all(_chosen(fixtures, adapter))
    verdict = _judged(trials, call)
    printed = next((t.outcome.printed for t in trials if t.outcome.printed), "")
    remarks = (*verdict.remarks, *backward_saying.remarks(trials, verdict))
    return replace(verdict, printed=printed, remarks=remarks)


class Call:
    """A hand-in and how it is called."""

    def __init__(self, function, adapter, seconds):
        self.function, self.adapter, self.seconds = function, adapter, seconds

    def on(self, fixture):
        """Run it on one fixture, whatever it does."""
        return try_on(self.function, fixture, self.adapter, self.seconds)

    def on_all(self, fixtures):
        """Run it on fixtures, up to one that stops the check or four times the limit of one."""
        trials = []
        start = monotonic()
        for fixture in fixtures:
            trials.append(self.on(fixture))
            over = monotonic() - start > 4 * self.seconds
            if over or trials[-1].outcome.timed_out or trials[-1].unwritten:
                break
        return trials


def _judged(trials, call):
    last = trials[-1]
    if last.outcome.timed_out:
        return saying.timed_out(last)
    if last.unwritten:
        return saying.unreadable(last)
    failed = [trial for trial in trials if trial.failed and not _excused(trial)]
    if not failed:
        return _right(trials, call)
    named = backward_naming.name(trials)
    if named is not None:
        return backward_saying.named(named, failed, call)
    if _remembers(trials, call):
        return backward_saying.remembering()
    first = failed[0]
    if first.problem is not None:
        return saying.unreadable(first)
    if not first.gradients:
        return backward_saying.raised(first)
    if first.half_precision and not first.fixture.extreme:
        return backward_saying.half_precision(failed, call)
    factor = score_factor(first)
    if factor is not None:
        return backward_saying.scaled_forward(factor, first, failed, call)
    return backward_saying.unknown(failed, call)


def _right(trials, call):
    """What may still be wrong where every gradient is right."""
    if _remembers(trials, call):
        return backward_saying.remembering()
    if any(trial.outcome.modified for trial in trials):
        return backward_saying.modifying(trials)
    if trials[0].half_precision:
        return backward_saying.half_precision(trials[:1], call)
    return backward_saying.right(trials)


def _remembers(trials, call):
    """Whether a call that was right is wrong when it is made again."""
    return not trials[0].failed and call.on(trials[0].fixture).failed


def _excused(trial):
    """Whether it gave nothing where many right functions stop: without items, on whole numbers."""
    if trial.gradients:
        return False
    return not len(trial.fixture.query) or (
        trial.fixture is INTEGERS and trial.outcome.error is not None
    )


def _chosen(fixtures, adapter):
    if fixtures is not None:
        fixtures = tuple(fixtures)
        strangers = [type(f).__name__ for f in fixtures if not isinstance(f, Fixture)]
        if strangers:
            raise ValueError(
                f"fixtures must be a sequence of Fixture, got {', '.join(strangers)}: make each by "
                "Fixture(name, query, key, value, grad_output)"
            )
        seeing.demand_proof(fixtures)
        return fixtures
    # Many libraries compute with whole numbers in single precision or not at all.
    return tuple(fixture for fixture in FIXTURES if adapter is None or fixture is not INTEGERS)
