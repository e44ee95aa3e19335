"""One lesson: learners arrive, run chapter 2, drag at the same time, and look at their pictures."""

import hashlib
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from class_parts.visitor import PATIENCE, Visitor

CHAPTER = "notebooks/02_scale_normalize_and_mix.ipynb"
PANEL = "MixtureExplorer()"
FRAME = 1 / 60
"""Seconds between two steps of a drag: as often as a browser hears of the mouse."""
TRUTH = """
import hashlib
panel = Out[{count}]
fresh = type(panel)(panel.head.query, panel.head.key, panel.head.value)
print(panel.head.query[0].tolist() == {wanted})
for shown, anew in zip(panel.pictures.values(), fresh.pictures.values(), strict=True):
    print(*(hashlib.sha256(bytes(each.value)).hexdigest() for each in (shown, anew)))
"""
"""What the kernel itself says: the setting, and each picture as it stands and as drawn anew."""


class Learner:
    """One learner of the class.

    Parameters
    ----------
    hub : str
        The hub's address.
    name : str
        Who signs in.

    Attributes
    ----------
    server, panel : float
        Seconds from the sign-in form to JupyterLab's page, and to the first panel's picture.
    steps : list of float
        Milliseconds from each step of the drag to the last that the kernel has to say of it.
    right : bool
        Whether the last pictures that came are those of the last step.
    """

    def __init__(self, hub, name):
        self.visitor = Visitor(hub, name)
        self.server, self.panel, self.steps, self.right = None, None, [], False

    def arrive(self):
        """Sign in, start server and kernel, and run the chapter as *Run all* does."""
        began = time.monotonic()
        if not self.visitor.sign_in("any"):
            raise PermissionError(f"{self.visitor.name} was not let in")
        self.visitor.start_server()
        self.server = time.monotonic() - began
        answer = self.visitor.ask(f"api/contents/{CHAPTER}")
        answer.raise_for_status()
        self.kernel = self.visitor.start_kernel(CHAPTER)
        for cell in answer.json()["content"]["cells"]:
            if cell["cell_type"] == "code":
                _, count = self.kernel.run(cell["source"])
                if cell["source"].rstrip().endswith(PANEL):
                    self.panel, self.count = time.monotonic() - began, count
        states = self.kernel.states.items()
        (self.desk,) = [comm for comm, state in states if "kinds" in state]
        self.pictures = [comm for comm, state in states if isinstance(state.get("value"), bytes)]

    def drag(self, steps):
        """Move one slider step by step; a step waits for the one before, as in the browser."""
        values = self.kernel.states[self.desk]["kinds"]["Q"]["state"]["values"]
        self.wanted = [list(row) for row in values]
        for step in range(1, steps + 1):
            began = time.perf_counter()
            self.wanted[0][1] = round(-3 + 6 * step / steps, 12)
            self._move({"values": self.wanted})
            took = time.perf_counter() - began
            self.steps.append(1000 * took)
            time.sleep(max(0, FRAME - took))

    def _move(self, state):
        """What the desk in the browser sends, until it hears that it was received."""
        content = {"sent": [{"name": "Q", "state": state}]}
        message = {"comm_id": self.desk, "data": {"method": "custom", "content": content}}
        self.kernel.tell("comm_msg", message)
        received = False
        while not received:
            kind, _, told, _ = self.kernel.hear()
            received = (
                kind == "comm_msg"
                and told["comm_id"] == self.desk
                and told["data"].get("content") == {"received": True}
            )

    def look(self):
        """Hold the last pictures that came against those of the kernel, and one drawn anew."""
        came = {
            hashlib.sha256(self.kernel.states[comm]["value"]).hexdigest() for comm in self.pictures
        }
        code = TRUTH.format(count=self.count, wanted=self.wanted)
        setting, *pictures = self.kernel.run(code)[0].split("\n", 1)
        shown, anew = zip(*(line.split() for line in pictures[0].splitlines()), strict=True)
        self.right = setting == "True" and came == set(shown) == set(anew)


def held(hub, count, steps):
    """Hold one lesson.

    Returns
    -------
    dict
        ``server`` (seconds: median), ``panel`` (seconds: median and last), ``step`` (milliseconds:
        median and p95), ``rate`` (steps of all in a second) and ``wrong``, how many last pictures
        were.
    """
    learners = [Learner(hub, f"learner{number}") for number in range(count)]
    together = threading.Barrier(count)

    def attend(learner):
        try:
            learner.arrive()
            # All move at the same time, or the class would be smaller than it says.
            together.wait(PATIENCE)
            began = time.monotonic()
            learner.drag(steps)
            ended = time.monotonic()
            together.wait(PATIENCE)
            learner.look()
            return began, ended
        except BaseException:
            together.abort()
            raise

    try:
        with ThreadPoolExecutor(count) as pool:
            times = list(pool.map(attend, learners))
    finally:
        for learner in learners:
            learner.visitor.close()
    took = max(ended for _, ended in times) - min(began for began, _ in times)
    return {**_figures(learners, took), "wrong": sum(not each.right for each in learners)}


def _figures(learners, took):
    panels = [each.panel for each in learners]
    steps = sorted(step for each in learners for step in each.steps)
    return {
        "server": statistics.median(each.server for each in learners),
        "panel": {"median": statistics.median(panels), "last": max(panels)},
        "step": {"median": statistics.median(steps), "p95": steps[int(0.95 * (len(steps) - 1))]},
        "rate": len(steps) / took,
    }
