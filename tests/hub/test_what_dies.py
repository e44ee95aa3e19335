"""What dies of one learner's, or between them, is there again; the other one never notices."""

import os
import signal
import time
from contextlib import contextmanager

from class_parts.visitor import Kernel

from tests.hub.test_two_learners import read, written

CHAPTER = "03_choose_the_scale.ipynb"
PATIENCE = 60


def soon(question):
    """Ask again until the answer is yes."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            answer = question()
        except Exception as error:
            answer, last = None, error
        else:
            last = answer
        if answer:
            return answer
        time.sleep(0.3)
    raise AssertionError(f"still not after {PATIENCE} s: {last!r}")


def process_of(kernel, whose="os.getpid()"):
    """The process of a kernel, or of its server."""
    return int(kernel.run(f"import os; print({whose})")[0])


def has_ended(process):
    """Whether a process is gone, or only its parent still knows it."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@contextmanager
def unnoticed(ben):
    """What happens in this block must leave the other learner's kernel as it is."""
    ben.kernel.run("marked = 6 * 7")
    before = process_of(ben.kernel)
    yield
    assert ben.kernel.run("print(marked)")[0].strip() == "42"
    assert process_of(ben.kernel) == before


class TestMishaps:
    def test_a_killed_kernel_is_started_anew(self, ada, ben):
        written(ada.visitor, CHAPTER, "Saved before the kernel died.")
        with unnoticed(ben):
            old = process_of(ada.kernel)
            os.kill(old, signal.SIGKILL)
            ada.kernel = soon(lambda: _new_kernel(ada, old))
        assert read(ada.visitor, CHAPTER) == "Saved before the kernel died."

    def test_a_killed_server_is_started_anew_at_the_next_visit(self, ada, ben):
        written(ada.visitor, CHAPTER, "Saved before the server died.")
        with unnoticed(ben):
            server, old = process_of(ada.kernel, "os.getppid()"), process_of(ada.kernel)
            os.kill(server, signal.SIGKILL)
            soon(lambda: has_ended(server))
            ada.visitor.start_server()
            assert read(ada.visitor, CHAPTER) == "Saved before the server died."
            ada.kernel = ada.visitor.start_kernel()
            assert ada.kernel.run("print(1 + 1)")[0].strip() == "2"
            # A kernel without a server ends by itself, and holds no memory for nobody.
            soon(lambda: has_ended(old))

    def test_a_killed_proxy_is_started_anew_and_nobody_loses_a_kernel(self, hub, ada, ben):
        written(ada.visitor, CHAPTER, "Saved before the proxy died.")
        for learner in (ada, ben):
            learner.kernel.run("kept = 'before'")
        os.kill(int((hub.state / "proxy.pid").read_text().splitlines()[0]), signal.SIGKILL)
        for learner in (ada, ben):
            learner.kernel = soon(lambda who=learner: Kernel(who.visitor, who.kernel.id))
            assert learner.kernel.run("print(kept)")[0].strip() == "before"
        assert read(ada.visitor, CHAPTER) == "Saved before the proxy died."


def _new_kernel(learner, old):
    """The same kernel by name, in another process."""
    kernel = Kernel(learner.visitor, learner.kernel.id)
    kernel.socket.settimeout(5)
    new = process_of(kernel)
    kernel.socket.settimeout(PATIENCE)
    return kernel if new != old else None
