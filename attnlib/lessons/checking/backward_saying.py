"""Verdicts on a way back, put into words."""

from dataclasses import replace

import numpy as np

from attnlib.lessons.checking import backward_naming, comparing, describing
from attnlib.lessons.checking.backward_laws import SYMBOLS, broken_laws, regular
from attnlib.lessons.checking.backward_trials import ORDER, right_gradients
from attnlib.lessons.checking.fixtures import FIXTURES, part
from attnlib.lessons.checking.verdicts import TITLES, Counterexample, Verdict, naming
from attnlib.lessons.mistakes import load

ARGUMENTS = ("query", "key", "value", "grad_output")
# From the smallest: items, tokens, d_k, d_v.
PARTS = ((1, 1, 1, 1), (1, 2, 1, 1), (2, 1, 1, 1), (1, 2, 2, 1), (2, 2, 1, 1), (1, 2, 2, 2))
WHY_RANDOM = (
    "grad_output was drawn at random. All ones, with values whose rows have equal sums, would make "
    "dQ and dK 0, and a wrong scale, sign or product in them would pass."
)


def right(trials):
    """Say that all is right, and what was compared."""
    return Verdict(
        True,
        f"Right: dQ, dK and dV agree with the closed form on {len(trials)} different inputs.",
        remarks=(WHY_RANDOM,) if trials[0].fixture in FIXTURES else (),
    )


def named(name, failed, call):
    """Make the verdict of a mistake that was found."""
    verdict = known(name.id, name.stage, failed, call, more=name.more, remarks=name.remarks)
    here = f" Here: {name.how}." if name.how else ""
    return replace(verdict, message=verdict.message + here)


def known(id, stage, trials, call, **said):
    """Make the verdict that names a mistake of the catalogue."""
    mistake = load(id)
    where = f"{SYMBOLS.get(stage, 'The call')} departs on {_places(trials, stage)}."
    example = smallest(trials, stage, call)
    return naming(mistake, stage, f"{where} {mistake.signature}", example, **said)


def half_precision(trials, call):
    """Say that too few digits come back, be it few enough to depart or not."""
    stage = next((name for trial in trials for name in trial.departing), "value")
    verdict = known("half-precision", stage, trials, call)
    words = "The gradients hold no more digits than half precision does: about three."
    return replace(verdict, message=words)


def scaled_forward(factor, first, failed, call):
    """Say by what the scores were multiplied on the way forward, as far as dV tells."""
    verdict = known("scale-wrong-width", "value", failed, call)
    words = describing.scale_in_words(factor, first.fixture.query.shape[2])
    return replace(verdict, message=f"dV is made with the weights of other scores. {words}")


def raised(trial):
    """Say on which input it raises what."""
    mistake = load("raises")
    name = trial.fixture.name
    example = Counterexample(name, _inputs(trial), "call", None, None, said=trial.error)
    return Verdict(
        False,
        f"On the input '{name}' it raises {trial.error}.",
        mistake=mistake.id,
        stage="call",
        title=mistake.title,
        question=mistake.question,
        paragraph=mistake.paragraph,
        counterexample=example,
        hints=("Look at the call itself.", mistake.question),
    )


def unknown(failed, call):
    """Say honestly that the mistake is not known, where it shows, and what is regular about it."""
    found = {name for trial in failed for name in trial.departing}
    stage = next(name for name in ORDER if name in found)
    seen = [trial for trial in failed if stage in trial.departing]
    first = seen[0]
    got, due = first.gradients[stage], right_gradients(first.fixture)[stage]
    where = describing.where(stage, got, due)
    regularity = regular(seen, stage)
    laws = broken_laws(first)
    question = _question(stage, laws)
    said = {}
    if got.shape != due.shape:
        mistake = load("wrong-shape")
        question = "What shape should each gradient have, axis by axis, and what has yours?"
        said = {"mistake": mistake.id, "title": "A gradient has another shape"}
    later = backward_naming.beside_the_first(failed)
    beside = () if later is None else (f"{SYMBOLS[later.stage]} is that of {later.id}.",)
    lead = "" if said else "No mistake of the catalogue gives these numbers. "
    return Verdict(
        False,
        f"{lead}On the input '{first.fixture.name}': {where} {regularity}".strip(),
        stage=stage,
        question=question,
        counterexample=smallest(seen, stage, call),
        hints=(f"Look at the {TITLES[stage]}.", *laws, *filter(None, [regularity])),
        remarks=(*beside, *laws),
        more=stage == "value" and len(found) > 1,
        **said,
    )


def remembering():
    """Say that a second call gave something else."""
    return Verdict(
        False,
        "The first call was right, and another one with the same inputs gave other numbers: "
        "something is kept from call to call and added to, or drawn at random.",
        stage="call",
        question="What do your gradients hold before the call begins, and is it 0 in every call?",
    )


def modifying(trials):
    """Say which argument the hand-in writes to, with the argument before and after."""
    trial = next(trial for trial in trials if trial.outcome.modified)
    mistake = load("input-modified")
    place = trial.outcome.modified[0]
    before, after = _inputs(trial)[ARGUMENTS[place]], trial.outcome.handed[place]
    return Verdict(
        False,
        f"The gradients are right, and after the call {_changed(trial)} is no longer what it was.",
        mistake=mistake.id,
        stage="call",
        title=mistake.title,
        question=mistake.question,
        paragraph=mistake.paragraph,
        counterexample=Counterexample(
            trial.fixture.name,
            _inputs(trial),
            f"{ARGUMENTS[place]} after the call",
            before,
            after,
            comparing.worst(after, before),
        ),
        hints=("Look at the call itself.", mistake.question, mistake.title, mistake.paragraph),
    )


def remarks(trials, verdict):
    """Return what is worth knowing and decides nothing."""
    found = []
    if verdict.passed:
        for trial in trials:
            if trial.failed:
                came = f"raises {trial.error}" if trial.outcome.error else "gives none"
                found.append(
                    f"On the input '{trial.fixture.name}' it {came}; the gradients exist there "
                    "and have the shapes of the inputs."
                )
    elif verdict.mistake != "input-modified":
        modified = next((trial for trial in trials if trial.outcome.modified), None)
        if modified is not None:
            found.append(f"It also changes its inputs: {_changed(modified)}.")
    return found


def smallest(failed, stage, call):
    """Return the smallest input on which the same gradient departs, of those tried."""
    seen = [trial for trial in failed if stage in trial.departing] or failed
    for sizes in PARTS:
        trial = call.on(part(seen[0].fixture, *sizes))
        if trial.outcome.timed_out:
            break
        if stage in trial.departing:
            return _example(trial, stage)
    return _example(min(seen, key=lambda trial: trial.fixture.size), stage)


def _example(trial, stage):
    due, got = right_gradients(trial.fixture).get(stage), trial.gradients.get(stage)
    index = None if got is None or due is None else comparing.worst(got, due)
    name = trial.fixture.name
    return Counterexample(name, _inputs(trial), stage, due, got, index, trial.error)


def _places(trials, stage):
    names = [trial.fixture.name for trial in trials if stage in trial.departing]
    names = names or [trial.fixture.name for trial in trials]
    more = "" if len(names) == 1 else f" and {len(names) - 1} more"
    return f"the input '{names[0]}'{more}"


def _question(stage, laws):
    if stage == "value":
        return "Which grid multiplied the values on the way forward, and over what did it sum?"
    if any("summed over the keys" in law for law in laws):
        return "What do your scores' gradients add up to for one query, and what should they?"
    return "Which factor and which product lie between the scores and this input?"


def _inputs(trial):
    arrays = (*trial.fixture.inputs, trial.fixture.grad_output)
    return {name: np.asarray(array) for name, array in zip(ARGUMENTS, arrays, strict=True)}


def _changed(trial):
    return " and ".join(ARGUMENTS[place] for place in trial.outcome.modified)
