"""Verdicts on a forward hand-in, put into words."""

from dataclasses import replace

from attnlib.lessons.checking import comparing, describing
from attnlib.lessons.checking.answers import STAGES
from attnlib.lessons.checking.remarks import changed
from attnlib.lessons.checking.smallest import ARGUMENTS, counterexample, shown
from attnlib.lessons.checking.verdicts import TITLES, Counterexample, Verdict, naming
from attnlib.lessons.mistakes import load

VARIES = (
    "The same inputs give another answer from one call to the next: something random is still "
    "active, or an array is made (np.empty) and not filled."
)


def right(attempts):
    """Say that all is right, and what was compared."""
    main = attempts[0]
    *names, last = (TITLES[name] for name in main.stages if main.fits[name])
    seen = f"what you handed in ({', '.join(names)} and {last})" if names else f"the {last}"
    count = sum(attempt.passed for attempt in attempts)
    return Verdict(True, f"Right: {seen} agrees with the head on {count} different inputs.")


def timed_out(attempt):
    """Say that the time limit was passed."""
    seconds = attempt.outcome.seconds
    left = (
        " It could not be stopped and is left in its own thread; restart the kernel to end it."
        if attempt.outcome.left_running
        else " It was stopped."
    )
    return Verdict(
        False,
        f"On {_sizes(attempt)} it was still running after the time limit of {seconds:g} s for one "
        f"call.{left}",
        stage="call",
        question="Which loop never ends, and what does it wait for?",
        limit=seconds,
    )


def unreadable(attempt):
    """Say why there is nothing to compare, or that nothing is written yet."""
    if attempt.unwritten and attempt.error:
        mistake = load("raises")
        return Verdict(
            False,
            f"Not attempted yet: it raised {attempt.error}.",
            mistake=mistake.id,
            stage="call",
            title=mistake.title,
            attempted=False,
        )
    if attempt.problem.kind == "not-attempted":
        return Verdict(False, "Not attempted yet.", stage="call", attempted=False)
    return Verdict(
        False,
        f"Nothing can be compared: {attempt.problem.message}.",
        stage="call",
        question="What does the function return, and in which form?",
    )


def matched(found, hand_in, attempts):
    """Make the verdict of the best match; the others that fit as well are told."""
    best = found[0]
    message = best.mistake.signature
    if best.variant:
        message += f" Here: {best.variant}."
    main = attempts[0]
    if main.error:
        message += f" On {_sizes(main)} it raises {main.error}."
    verdict = known(best.mistake.id, hand_in, attempts, message)
    also = tuple(m.mistake.id for m in found[1:] if m.agreeing == best.agreeing)
    remarks = ()
    if best.then is not None:
        remarks = (f"Together with {best.then.id} it explains all the numbers.",)
        also = ()
    return replace(verdict, also=also, more=best.partly, remarks=remarks)


def known(id, hand_in, attempts, message=""):
    """Make the verdict that names a mistake of the catalogue."""
    mistake = load(id)
    stage = _departing(mistake.stage, attempts)
    example = counterexample(hand_in, attempts, stage)
    return naming(mistake, stage, message or mistake.signature, example)


def _departing(stage, attempts):
    """Return where a hand-in departs, or, if it left that stage out, where its mistake does."""
    shown = [a for a in attempts if a.departs is not None]
    if stage == "call" or not shown:
        return stage
    first = shown[0]
    earlier = STAGES.index(first.departs) < STAGES.index(stage)
    return first.departs if earlier or stage in first.stages else stage


def unknown(hand_in, attempts, first, order=None):
    """Say honestly that the mistake is not known, where it shows, and what is regular about it."""
    stage = first.departs
    regular = describing.regularity(stage, first.stages[stage], first.expected(stage))
    if order is not None:
        regular = in_order(order)
    elif stage == "output" and not regular:
        regular = describing.mixture(first.stages[stage], first.fixture.value)
    message = f"No mistake of the catalogue gives these numbers. {departure(first)} {regular}"
    return Verdict(
        False,
        message.strip(),
        stage=stage,
        question=f"Which line makes the {TITLES[stage]}, and over which axis does each step go?",
        counterexample=counterexample(hand_in, attempts, stage),
        hints=(f"Look at the {TITLES[stage]}.", *filter(None, [regular])),
    )


def input_modified(attempts):
    """Say which argument the hand-in writes to, with the argument before and after."""
    attempt = next(a for a in attempts if a.outcome.modified)
    smallest = min((a for a in attempts if a.outcome.modified), key=lambda a: a.fixture.size)
    position = smallest.outcome.modified[0]
    before, after = smallest.fixture.inputs[position], smallest.outcome.handed[position]
    name = ARGUMENTS[position]
    inputs = dict(zip(ARGUMENTS, smallest.fixture.inputs, strict=True))
    mistake = load("input-modified")
    return Verdict(
        False,
        f"The answer is right, and after the call {changed(attempt)} is no longer what it was.",
        mistake=mistake.id,
        stage=mistake.stage,
        title=mistake.title,
        question=mistake.question,
        paragraph=mistake.paragraph,
        counterexample=Counterexample(
            smallest.fixture.name,
            inputs,
            f"{name} after the call",
            before,
            after,
            comparing.worst(after, before),
        ),
        hints=("Look at the call itself.", mistake.question, mistake.title, mistake.paragraph),
    )


def integer_buffer(attempt):
    """Say that only whole numbers go wrong."""
    verdict = known("integer-buffer", None, [attempt])
    return replace(verdict, counterexample=shown(attempt, verdict.stage))


def departure(attempt):
    """Say where an attempt departs."""
    stage = attempt.departs
    words = describing.where(stage, attempt.stages[stage], attempt.expected(stage))
    return f"On {_sizes(attempt)}: {words}"


def ignoring(names, attempt):
    """Say which arguments make no difference."""
    final = attempt.final
    stays = "stays" if final == "output" else "stay"
    words = f"The {TITLES[final]} {stays} the same whatever is in {' and '.join(names)}."
    got, expected = attempt.stages[attempt.final], attempt.expected(attempt.final)
    return words if got.shape == expected.shape else f"{words} {departure(attempt)}"


def raising(attempts, first, order=None):
    """Say on which inputs it raises what, and that it runs on others where it does."""
    words = f"On {_sizes(first)} it raises {first.error}."
    fitting = [a for a in attempts if a.passed and not a.fixture.extreme and a.fixture.size]
    if fitting:
        words += f" On {_sizes(fitting[0])} it is right: is a size taken from the wrong axis?"
    return words if order is None else f"{words} {in_order(order)}"


def in_order(order):
    """Say for which order of the arguments the answer would be right."""
    return f"On the square input it is the right answer to the arguments {', '.join(order)}."


def scale_in_words(factor, attempt):
    """Say by what the raw scores are multiplied."""
    return describing.scale_in_words(factor, attempt.fixture.query.shape[2])


def _sizes(attempt):
    batch, tokens, width = attempt.fixture.query.shape
    value_width = attempt.fixture.value.shape[2]
    return (
        f"the input '{attempt.fixture.name}' (B={batch}, T={tokens}, d_k={width}, "
        f"d_v={value_width})"
    )
