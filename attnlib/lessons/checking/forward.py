"""The check of a forward hand-in: run it, find what departs, name it, and say so in words."""

from dataclasses import replace

from attnlib.lessons.checking import comparing, naming, pairs, probes, saying
from attnlib.lessons.checking.answers import STAGES
from attnlib.lessons.checking.asking import check_arguments
from attnlib.lessons.checking.attempts import OPTIONAL, HandIn
from attnlib.lessons.checking.fixtures import FIXTURES, INTEGERS
from attnlib.lessons.checking.remarks import remarks
from attnlib.lessons.checking.running import SECONDS


def check_forward(function, stages=None, adapter=None, seconds=SECONDS):
    """Check an attention head of one's own, and name the mistake that it holds.

    Parameters
    ----------
    function : callable
        Takes query and key, shape [batch, tokens, d_k], and value, shape [batch, tokens, d_v].
        Returns the output, shape [batch, tokens, d_v]; or (output, weights); or a dict with some of
        ``raw_scores``, ``scaled_scores``, ``weights`` and ``output``.
    stages : str or sequence of str, optional
        Which stages a bare array, or a tuple of arrays, is to be read as: ``"raw_scores"`` checks
        a function that stops at the raw scores.
    adapter : callable, optional
        Applied to each input first, for instance ``torch.from_numpy``.
    seconds : float, default 2.0
        The time limit of one call.

    Returns
    -------
    Verdict
        Whether it is right; if not, the first stage that departs and matters, and the id of the
        mistake in `attnlib.lessons.mistakes.CATALOGUE`, or None if it is not known.

    Raises
    ------
    ValueError
        If `function` or `adapter` can't be called, or `stages` or `seconds` is not as above. What
        the function itself does never raises.

    Notes
    -----
    The right answer is ``softmax(Q K^T / sqrt(d_k)) V``: Vaswani et al. 2017, eq. 1. An answer in
    single precision may differ by 1e-5 of the largest entry, another by 1e-6; by more than 1e-9 is
    told as a remark.
    """
    hand_in = HandIn(
        function,
        _stage_names(stages),
        adapter,
        check_arguments(function, "query, key and value", adapter, seconds),
    )
    # Many libraries compute with whole numbers in single precision or not at all.
    fixtures = [fixture for fixture in FIXTURES if adapter is None or fixture is not INTEGERS]
    attempts = hand_in.attempts(fixtures)
    verdict = _judged(hand_in, attempts)
    printed = next((a.outcome.printed for a in attempts if a.outcome.printed), "")
    said = (*verdict.remarks, *remarks(attempts, verdict))
    return replace(verdict, printed=printed, remarks=said)


def _judged(hand_in, attempts):
    last = attempts[-1]
    if last.outcome.timed_out:
        return saying.timed_out(last)
    if last.unreadable or last.unwritten:
        return saying.unreadable(last)
    if probes.varies(hand_in, attempts[0]):
        return saying.known("dropout-active", hand_in, attempts, saying.VARIES)
    wrong = [a for a in attempts if not a.passed and a.fixture not in OPTIONAL]
    if wrong:
        return _named(hand_in, attempts, wrong)
    if any(a.outcome.modified for a in attempts):
        return saying.input_modified(attempts)
    on_integers = probes.fails_on_integers(attempts)
    if on_integers is not None:
        return saying.integer_buffer(on_integers)
    return saying.right(attempts)


def _named(hand_in, attempts, wrong):
    """Name what departs: by the catalogue's heads, else by probes, else say what is regular."""
    found = naming.matches(attempts)
    if found:
        return saying.matched(found, hand_in, attempts)
    first = wrong[0]
    if not first.stages:
        return _raised(hand_in, attempts, first)
    if first.fixture.extreme:
        name = probes.overflowing(attempts)
        if name:
            return saying.known(name, hand_in, attempts, saying.departure(first))
    elif not comparing.broken(first.stages[first.final]):
        return _by_probes(hand_in, attempts, first)
    return saying.unknown(hand_in, attempts, first)


def _raised(hand_in, attempts, first):
    if first.fixture.extreme:
        name = probes.overflowing(attempts)
        return saying.known(name, hand_in, attempts, saying.raising(attempts, first))
    unread = probes.unread(hand_in.function)
    # What reads none of them, or a name that is not there, is not finished yet.
    if 0 < len(unread) < 3 and not isinstance(first.outcome.error, NameError):
        words = f"Its code never reads {' and '.join(unread)}. {saying.raising(attempts, first)}"
        return saying.known("argument-ignored", hand_in, attempts, words)
    order = probes.other_order(attempts)
    pair = pairs.two(attempts) if order is None else None
    if pair is not None:
        return saying.matched([pair], hand_in, attempts)
    return saying.known("raises", hand_in, attempts, saying.raising(attempts, first, order))


def _by_probes(hand_in, attempts, first):
    ignored = probes.ignored(hand_in, first)
    pair = pairs.two(attempts) if 0 < len(ignored) < 3 else None
    if ignored and pair is None:
        return saying.known("argument-ignored", hand_in, attempts, saying.ignoring(ignored, first))
    if pair is None:
        if first.stages[first.final].shape != first.expected(first.final).shape:
            return saying.known("wrong-shape", hand_in, attempts, saying.departure(first))
        if probes.half_precision(attempts):
            return saying.known("half-precision", hand_in, attempts)
        if probes.dropped(first):
            return saying.known("dropout-active", hand_in, attempts)
        factor = probes.score_factor(first)
        if factor is not None and factor > 0:
            words = saying.scale_in_words(factor, first)
            return saying.known("scale-wrong-width", hand_in, attempts, words)
    order = probes.other_order(attempts)
    if pair is None and order is None:
        pair = pairs.two(attempts)
    if pair is not None:
        return saying.matched([pair], hand_in, attempts)
    return saying.unknown(hand_in, attempts, first, order)


def _stage_names(stages):
    if stages is None:
        return None
    names = (stages,) if isinstance(stages, str) else tuple(stages)
    unknown = [name for name in names if name not in STAGES]
    if unknown or not names:
        raise ValueError(
            f"stages must name some of {', '.join(STAGES)}, in the order in which the function "
            f"returns them, got {stages!r}: leave it out for the output alone"
        )
    return names
