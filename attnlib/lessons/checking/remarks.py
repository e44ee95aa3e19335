"""What is worth knowing about a forward hand-in and decides nothing."""

import numpy as np

from attnlib.lessons.checking import comparing, describing
from attnlib.lessons.checking.fixtures import EMPTY_BATCH, INTEGERS
from attnlib.lessons.checking.smallest import ARGUMENTS
from attnlib.lessons.checking.verdicts import TITLES


def remarks(attempts, verdict):
    """Return the remarks on a hand-in.

    Parameters
    ----------
    attempts : sequence of Attempt
        One a fixture.
    verdict : Verdict
        What was decided.

    Returns
    -------
    list of str
        One sentence each.
    """
    found = [*_forms(attempts[0]), *_views(attempts[0])]
    if verdict.passed:
        found += [*_rounded(attempts), *_not_run(attempts)]
    elif verdict.mistake != "input-modified":
        modified = next((a for a in attempts if a.outcome.modified), None)
        if modified is not None:
            found.append(f"It also changes its inputs: {changed(modified)}.")
    return found


def _forms(attempt):
    for name in attempt.stages:
        form = attempt.other_form(name)
        if form and not comparing.alike(attempt.stages[name], attempt.expected(name)):
            harmless = ", which is no mistake" if attempt.passed or attempt.fits[name] else ""
            yield f"{form[0].upper()}{form[1:]}{harmless}."
        elif attempt.passed and not attempt.fits[name]:
            regular = describing.regularity(name, attempt.stages[name], attempt.expected(name))
            words = f"The {TITLES[name]} handed in differ from the head's; the result does not."
            yield f"{words} {regular}".strip()


def _views(attempt):
    returned = attempt.outcome.value.returned if attempt.stages else {}
    for stage, array in returned.items():
        for name, given in zip(ARGUMENTS, attempt.outcome.handed, strict=True):
            if np.may_share_memory(array, given):
                yield (
                    f"The {TITLES[stage]} handed in shares its memory with {name}: whoever changes "
                    "the one changes the other."
                )


def _rounded(attempts):
    for attempt in attempts:
        if not attempt.stages or not attempt.double(attempt.final):
            continue
        got, expected = attempt.stages[attempt.final], attempt.expected(attempt.final)
        if comparing.DOUBLE < comparing.error(got, expected) < comparing.ROUNDED:
            yield (
                "It agrees to about seven digits only, although its type holds sixteen: somewhere "
                "it computes in single precision, or adds a small number."
            )
            return


def _not_run(attempts):
    for attempt in attempts:
        if attempt.passed:
            continue
        if attempt.fixture is EMPTY_BATCH:
            came = f"raises {attempt.error}" if attempt.error else "gives something else"
            yield (
                f"On an empty batch it {came}; the head gives an empty output of the shape "
                f"{attempt.expected('output').shape}."
            )
        elif attempt.fixture is INTEGERS and attempt.error:
            yield f"On whole numbers it raises {attempt.error}."


def changed(attempt):
    """Name the arguments that an attempt changed."""
    return " and ".join(ARGUMENTS[position] for position in attempt.outcome.modified)
