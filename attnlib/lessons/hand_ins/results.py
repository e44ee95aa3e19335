"""What became of one hand-in, in a form that fits into a table, and the exit status of many."""

from dataclasses import asdict, dataclass
from pathlib import Path

from attnlib.lessons.checker import check_backward, check_forward
from attnlib.lessons.checking.verdicts import TITLES
from attnlib.lessons.hand_ins import opening

RIGHT, WRONG, NOT_ATTEMPTED, NOT_RUN = "right", "wrong", "not attempted", "not run"
LONGEST = 300


@dataclass(frozen=True)
class Result:
    """One hand-in and what its check found.

    Attributes
    ----------
    file : str
        Its name, as the table shows it.
    result : str
        ``"right"``, ``"wrong"``, ``"not attempted"`` or ``"not run"``.
    mistake, title : str
        The id and the name of its mistake; empty where there is none, or no known one.
    stage : str
        The first stage that departs, in words; empty where none does.
    said : str
        What shows, or why it could not be run; one line.
    """

    file: str
    result: str
    mistake: str = ""
    title: str = ""
    stage: str = ""
    said: str = ""

    def as_plain(self):
        """Return it as a dict of texts, in the order of a table's columns."""
        return asdict(self)


def check(address, backward=False, neighbours=True):
    """Run one hand-in in this process, and check it.

    Parameters
    ----------
    address : str
        As `opening.opened` takes it.
    backward : bool, default False
        Whether it computes gradients.
    neighbours : bool, default True
        Whether it may import the other files in its folder.

    Returns
    -------
    Result
        Under the name of its file.
    """
    file = address.rpartition(":")[0]
    judge = check_backward if backward else check_forward
    try:
        with opening.opened(address, neighbours) as function:
            return of_verdict(file, judge(function))
    except opening.HandInError as refusal:
        said = str(refusal).removeprefix(f"{file} ").replace(file, Path(file).name)
        return Result(file, NOT_RUN, said=one_line(said))


def of_verdict(file, verdict):
    """Make the result of a hand-in from the verdict on it."""
    said = one_line(verdict.message)
    if verdict.passed:
        return Result(file, RIGHT, said=said)
    if not verdict.attempted:
        return Result(file, NOT_ATTEMPTED, said=said)
    stage = TITLES.get(verdict.stage, "")
    return Result(file, WRONG, verdict.mistake or "", verdict.title, stage, said)


def one_line(text):
    """Return a text in one line, cut where it is long, with no character that moves a cursor."""
    text = " ".join(text.split())
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return "".join(x if x.isprintable() else x.encode("unicode_escape").decode() for x in text)


def exit_status(results):
    """Return 0 if all are right, 2 if any could not be run, else 1.

    Parameters
    ----------
    results : sequence of Result
    """
    outcomes = {each.result for each in results}
    return 2 if NOT_RUN in outcomes else int(outcomes != {RIGHT})
