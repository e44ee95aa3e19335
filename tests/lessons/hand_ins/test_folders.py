"""A folder of hand-ins: one row for each, and none that stops, sees or waits for another."""

import os
import sys
import time

import pytest

from attnlib.lessons.hand_ins import folders
from attnlib.lessons.hand_ins.opening import HandInError
from attnlib.lessons.hand_ins.results import (
    NOT_ATTEMPTED,
    NOT_RUN,
    RIGHT,
    WRONG,
    Result,
    exit_status,
    one_line,
)

HEAD = """
import numpy as np

def softmax(scores, axis=2):
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)

def attention(query, key, value):
    return softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2])) @ value
"""
BACK = """
def back(query, key, value, grad_output):
    weights = softmax(query @ key.swapaxes(1, 2) / np.sqrt(query.shape[2]))
    dA = grad_output @ value.swapaxes(1, 2)
    dS = weights * (dA - (weights * dA).sum(axis=2, keepdims=True))
    dR = dS / np.sqrt(query.shape[2])
    return dR @ key, dR.swapaxes(1, 2) @ query, weights.swapaxes(1, 2) @ grad_output
"""
CALL = "def attention(query, key, value):\n    "
CASES = {
    "a_right.py": (HEAD, RIGHT, ""),
    "b_no_scale.py": (HEAD.replace("/ np.sqrt(query.shape[2])", ""), WRONG, "scale-missing"),
    "c_axis.py": (HEAD.replace("axis=2", "axis=1"), WRONG, "softmax-over-queries"),
    "d_stub.py": (f"{CALL}return ...\n", NOT_ATTEMPTED, ""),
    "e_fails.py": ("import no_such_library\n", NOT_RUN, "line 1, ModuleNotFoundError"),
    "f_hangs.py": ("while True:\n    pass\n", NOT_RUN, "not done after 8 s"),
    "g_leaves.py": (f"{CALL}import os; os._exit(0)\n", NOT_RUN, "(exit status 0)"),
    "h_crashes.py": (f"{CALL}import os; os.abort()\n", NOT_RUN, "(signal 6)"),
    "i_misnamed.py": ("def atention():\n    pass\n", NOT_RUN, "did you mean atention?"),
    "j_calls_for_ever.py": (f"{CALL}while True: pass\n", WRONG, "the time limit of 2 s"),
    "k_aloud.py": (f"import os, sys\nos.system('echo hi')\nprint('{{')\n{HEAD}", RIGHT, ""),
    "l_peeks.py": ("from a_right import attention\n", NOT_RUN, "No module named 'a_right'"),
    "m_waits.py": (f"input()\n{HEAD}", NOT_RUN, "EOFError"),
    "n_leaves_a_thread.py": (
        f"import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n{HEAD}",
        RIGHT,
        "",
    ),
    "o_asks_at_exit.py": (
        f"import atexit, time\natexit.register(time.sleep, 99)\n{HEAD}",
        RIGHT,
        "",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("class")
    for name, (text, _, _) in CASES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def results(folder):
    return {x.file: x for x in folders.check(f"{folder}:attention", seconds=8)}


class TestAClass:
    def test_there_is_a_row_for_each_in_the_order_of_their_names(self, results):
        assert list(results) == sorted(CASES)

    @pytest.mark.parametrize("name", CASES)
    def test_each_gets_its_own_result_whatever_the_others_do(self, results, name):
        _, expected, words = CASES[name]
        found = results[name]
        assert found.result == expected, found
        assert words in f"{found.mistake} {found.said}"
        assert found.said == one_line(found.said)

    def test_a_wrong_one_has_the_name_of_its_mistake_in_words_too(self, results):
        assert results["b_no_scale.py"].title == "The scale is missing"
        assert results["c_axis.py"].stage == "weights"

    def test_nothing_is_left_in_the_folder(self, folder, results):
        assert sorted(path.name for path in folder.iterdir()) == sorted(CASES)

    def test_no_row_tells_where_the_folder_lies(self, folder, results):
        assert not any(str(folder) in repr(each) for each in results.values())


def one(folder, text, name="attention", backward=False, **options):
    (folder / "one.py").write_text(text, encoding="utf-8")
    (found,) = folders.check(f"{folder}:{name}", backward, **options)
    return found


class TestOneHandIn:
    def test_a_backward_is_checked_as_one(self, tmp_path):
        assert one(tmp_path, HEAD + BACK, "back", backward=True).result == RIGHT
        wrong = (HEAD + BACK).replace("return dR @ key", "return 2 * dR @ key")
        assert one(tmp_path, wrong, "back", backward=True).result == WRONG

    def test_a_file_of_its_own_is_checked_too_and_keeps_its_neighbours(self, tmp_path):
        (tmp_path / "helper.py").write_text(HEAD)
        (tmp_path / "mine.py").write_text("from helper import attention\n")
        (found,) = folders.check(f"{tmp_path}/mine.py:attention")
        assert (found.result, found.file) == (RIGHT, f"{tmp_path}/mine.py")

    def test_a_fault_of_the_check_is_not_taken_for_one_of_the_learner_s(self, tmp_path):
        text = f"import attnlib.lessons.hand_ins.results as r\nr.of_verdict = None\n{HEAD}"
        found = one(tmp_path, text)
        assert found.result == NOT_RUN
        assert found.said.startswith("the check itself failed: TypeError")

    def test_it_does_not_see_a_server_s_token(self, tmp_path, monkeypatch):
        monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
        text = "import os\nraise RuntimeError(os.environ.get('JUPYTERHUB_API_TOKEN', 'nothing'))\n"
        assert one(tmp_path, text).said.endswith("RuntimeError: nothing")

    def test_its_current_folder_is_an_empty_one_that_goes_away(self, tmp_path):
        text = "import os\nopen('mine', 'w').close()\nraise RuntimeError(os.getcwd(), os.listdir())"
        said = one(tmp_path, text).said
        assert "['mine']" in said
        assert not os.path.exists(said.split("'")[1])

    def test_what_it_starts_ends_with_it(self, tmp_path):
        beacon = tmp_path / "beacon"
        start = f"import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 1; touch {beacon}'])\n"
        began = time.monotonic()
        assert one(tmp_path, start + HEAD).result == RIGHT
        while time.monotonic() < began + 2:
            time.sleep(0.1)
        assert not beacon.exists()

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to this")
    def test_it_cannot_take_all_memory_nor_fill_the_disk(self, tmp_path):
        assert "MemoryError" in one(tmp_path, f"x = bytearray({5 * 2**30})\n{HEAD}").said
        text = f"open('big', 'wb').write(bytes({2**27}))\n{HEAD}"
        assert "signal 25" in (said := one(tmp_path, text).said) or "OSError" in said

    def test_what_it_says_stays_in_its_row(self, tmp_path):
        said = one(tmp_path, f"{CALL}raise ValueError('a\\n\\x1b[31mb' + 'c' * 999)\n").said
        assert "\\x1b[31mb" in said
        assert said.isprintable()
        assert len(said) < 350


class TestWhatIsAHandIn:
    def found(self, folder, *files):
        for file, text in files:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [x.relative_to(folder).as_posix() for x in folders.found(folder, "head.run")]

    def test_python_files_and_notebooks_in_the_folder_and_below(self, tmp_path):
        files = [("b.py", ""), ("A.ipynb", ""), ("c/d/e.py", ""), ("notes.txt", "head"), ("f", "")]
        assert self.found(tmp_path, *files) == ["A.ipynb", "b.py", "c/d/e.py"]

    def test_hidden_files_and_what_python_leaves_are_none(self, tmp_path):
        files = [(".x.py", ""), (".ipynb_checkpoints/x.ipynb", ""), ("__pycache__/x.py", "")]
        assert self.found(tmp_path, *files, ("a/.venv/y.py", "head"), ("a/b.py", "")) == ["a/b.py"]

    def test_what_helps_in_somebody_s_own_folder_is_none(self, tmp_path):
        files = [("ana/mine.py", "head = 1"), ("ana/tools/helper.py", "heads"), ("bo/other.py", "")]
        assert self.found(tmp_path, *files) == ["ana/mine.py", "bo/other.py"]

    def test_one_that_may_not_be_read_is_a_hand_in_still(self, tmp_path, monkeypatch):
        def refuse(self):
            raise PermissionError

        monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
        assert self.found(tmp_path, ("a/b.py", ""), ("c.py", "")) == ["a/b.py", "c.py"]

    def test_a_helper_there_can_be_imported(self, tmp_path):
        (tmp_path / "ana").mkdir()
        (tmp_path / "ana" / "helper.py").write_text(HEAD.replace("attention", "attend"))
        (tmp_path / "ana" / "mine.py").write_text("from helper import attend as attention\n")
        (found,) = folders.check(f"{tmp_path}:attention")
        assert (found.file, found.result) == ("ana/mine.py", RIGHT)

    def test_a_folder_without_any_is_refused(self, tmp_path):
        with pytest.raises(HandInError, match=r"holds no hand-in: no file in it ends in \.py"):
            folders.check(f"{tmp_path}:f")


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ([RIGHT, RIGHT], 0),
        ([RIGHT, WRONG], 1),
        ([RIGHT, NOT_ATTEMPTED], 1),
        ([WRONG, NOT_RUN, RIGHT], 2),
    ],
)
def test_the_exit_status_tells_the_worst(outcomes, status):
    assert exit_status([Result("a.py", each) for each in outcomes]) == status
