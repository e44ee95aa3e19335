"""What the catalogue keeps of one mistake: its name, its words and a head that makes it."""

from collections.abc import Callable
from dataclasses import dataclass

STAGES = ("raw_scores", "scaled_scores", "weights", "output")


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong attention head that people write, with what to say to who wrote it.

    Attributes
    ----------
    id : str
        Its short name, such as ``"scale-missing"``.
    title : str
        What is wrong, in a few words.
    paragraph : str
        What happens, why it is easy to make, and the mend.
    question : str
        What to ask oneself; it does not give the mend away.
    signature : str
        The cheap sign that gives the mistake away.
    stage : str
        The first stage that departs: one of ``STAGES``, or ``"call"`` where the call itself goes
        wrong; of a backward pass ``"query"``, ``"key"`` or ``"value"``.
    head : callable
        Runnable and wrong; some change their arguments, so hand it copies. Forward:
        ``(query, key, value)`` to a dict of stages. Backward: ``(query, key, value, grad_output)``
        to ``(dQ, dK, dV)``.
    direction : str
        ``"forward"`` or ``"backward"``.
    variants : tuple of (str, callable)
        Other heads that make the same mistake, each with a name that says how.
    """

    id: str
    title: str
    paragraph: str
    question: str
    signature: str
    stage: str
    head: Callable
    direction: str = "forward"
    variants: tuple = ()

    def __repr__(self):
        return f"Mistake({self.id!r}: {self.title})"
