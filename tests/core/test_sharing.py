"""Tasks shared among threads: each done once, BLAS's setting put back, an end that is an end."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from attnlib import scaled_dot_product_self_attention, streaming_self_attention
from attnlib.core import parts, sharing, tiles
from tests.authority import seeded

ROOT = Path(__file__).resolve().parents[2]


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


CONTROLLED = pytest.mark.skipif(
    not ThreadpoolController().select(user_api="blas").lib_controllers,
    reason="this NumPy's BLAS does not tell of its threads",
)


@CONTROLLED
class TestShare:
    @pytest.mark.parametrize("threads", [1, 2, 5])
    def test_every_task_is_done_once_on_as_many_threads_as_blas_had(self, threads):
        done, waiting = [], threading.Barrier(threads, timeout=30)

        def work(task):
            if task < threads:
                waiting.wait()
            done.append((task, threading.get_ident()))

        with threadpool_limits(threads, user_api="blas"):
            sharing.share(range(20), work)
        assert sorted(task for task, _ in done) == list(range(20))
        assert len({thread for _, thread in done}) == threads

    def test_blas_keeps_to_one_thread_meanwhile_and_has_its_own_back_after(self):
        seen = []
        with threadpool_limits(3, user_api="blas"):
            sharing.share([0, 1], lambda task: seen.append(blas_threads()))
            sharing.share([0], lambda task: seen.append(blas_threads()), 0)
            assert set(blas_threads()) == {3}
        assert {number for each in seen for number in each} == {1}

    def test_no_more_threads_are_started_than_there_are_tasks(self, monkeypatch):
        started = []
        start = threading.Thread.start
        monkeypatch.setattr(
            threading.Thread, "start", lambda self: (started.append(self), start(self))
        )
        with threadpool_limits(8, user_api="blas"):
            sharing.share([0, 1, 2], lambda task: None)
            assert len(started) == 2
            sharing.share([0], lambda task: None)
            sharing.share([0, 1, 2], lambda task: None, sharing.WORTH - 1)
        assert len(started) == 2

    @pytest.mark.parametrize("failing", [0, 7])
    @pytest.mark.parametrize("threads", [1, 4])
    def test_the_first_failure_is_raised_and_nothing_more_is_begun(self, failing, threads):
        begun = []

        def work(task):
            begun.append(task)
            if task == failing:
                raise RuntimeError(f"task {task}")

        with threadpool_limits(threads, user_api="blas"):
            with pytest.raises(RuntimeError, match=f"task {failing}"):
                sharing.share(range(1000), work)
            assert set(blas_threads()) == {threads}
        assert len(begun) < 1000
        assert _crew_threads() == []

    def test_one_that_waits_for_its_turn_does_not_wait_for_a_failed_one(self):
        crew = sharing.Crew()

        def work(rank):
            if rank == 0:
                raise RuntimeError("the first has failed")
            with crew.turn("place", rank):
                pytest.fail("its turn has come without the first")

        with (
            threadpool_limits(3, user_api="blas"),
            pytest.raises(RuntimeError, match="the first has failed"),
        ):
            crew.share(range(3), work)

    def test_turns_come_in_the_order_of_the_ranks(self):
        crew, order = sharing.Crew(), []

        def work(rank):
            # The later ones come first to the place.
            threading.Event().wait(0.01 * (4 - rank % 4))
            with crew.turn("place", rank):
                order.append(rank)

        with threadpool_limits(4, user_api="blas"):
            crew.share(range(12), work)
        assert order == list(range(12))


def _crew_threads():
    return [each for each in threading.enumerate() if "_help" in each.name]


@CONTROLLED
class TestCallersSideBySide:
    def test_each_gets_its_own_result_and_blas_its_setting(self):
        inputs = [seeded(2, 300, 8, 6, seed=seed) for seed in range(6)]
        expected = [run(*each) for each in inputs]
        found = [None] * len(inputs)

        def call(i):
            found[i] = run(*inputs[i])

        with threadpool_limits(3, user_api="blas"):
            callers = [threading.Thread(target=call, args=(i,)) for i in range(len(inputs))]
            for each in callers:
                each.start()
            for each in callers:
                each.join()
            assert set(blas_threads()) == {3}
        for here, there in zip(found, expected, strict=True):
            assert here == there

    def test_a_caller_in_a_thread_keeps_blas_to_one_as_well(self):
        seen = []
        caller = threading.Thread(
            target=sharing.share, args=([0, 1, 2], lambda task: seen.append(blas_threads()))
        )
        with threadpool_limits(3, user_api="blas"):
            caller.start()
            caller.join()
            assert set(blas_threads()) == {3}
        assert {number for each in seen for number in each} == {1}

    def test_the_setting_can_be_changed_from_any_thread_afterwards(self):
        sharing.share([0], lambda task: None)
        seen = []

        def limit():
            with threadpool_limits(2, user_api="blas"):
                seen.extend(blas_threads())

        caller = threading.Thread(target=limit)
        caller.start()
        caller.join()
        assert set(seen) == {2}

    def test_the_last_to_leave_puts_back_what_the_first_has_found(self):
        first_is_in, first_may_go = threading.Event(), threading.Event()

        def first():
            with sharing.one_blas_thread():
                first_is_in.set()
                first_may_go.wait(30)

        with threadpool_limits(3, user_api="blas"):
            caller = threading.Thread(target=first)
            caller.start()
            first_is_in.wait(30)
            with sharing.one_blas_thread() as threads:
                first_may_go.set()
                caller.join()
                assert threads == 3
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {3}


def run(query, key, value, grad_output):
    """The bits of everything that both heads give."""
    grid = scaled_dot_product_self_attention(query, key, value)
    streamed = streaming_self_attention(query, key, value)
    there, here = grid.backward(grad_output), streamed.backward(grad_output)
    arrays = [grid.weights, grid.output, streamed.output, streamed.log_sum_exp]
    arrays += [there.raw_scores, there.query, there.key, there.value]
    arrays += [here.query, here.key, here.value]
    return [array.tobytes() for array in arrays]


@CONTROLLED
@pytest.mark.parametrize(
    "shape", [(1, 40, 16, 8), (9, 100, 16, 8), (1, 700, 16, 8), (2, 1100, 8, 5)]
)
def test_the_bits_are_the_same_for_any_number_of_threads(shape, monkeypatch):
    monkeypatch.setattr(sharing, "WORTH", 1)
    query, *others = seeded(*shape, seed=5)
    told = []
    for threads in (1, 2, 3, 7):
        with threadpool_limits(threads, user_api="blas"):
            told.append(run(6 * query, *others))
    assert all(each == told[0] for each in told)


@CONTROLLED
def test_a_change_of_order_would_be_seen_in_the_bits(monkeypatch):
    query, *others = seeded(1, 700, 16, 8, seed=5)
    before = run(query, *others)
    monkeypatch.setattr(tiles, "QUERIES", 64)
    assert run(query, *others) != before


INTERRUPTED = textwrap.dedent(
    """
    import threading
    import numpy as np
    from threadpoolctl import threadpool_info, threadpool_limits
    from attnlib import streaming_self_attention

    threadpool_limits(3, user_api="blas")
    operands = np.random.default_rng(0).standard_normal((4, 1, 24000, 64))
    print("begun", flush=True)
    try:
        while True:
            streaming_self_attention(*operands[:3]).backward(operands[3])
    except KeyboardInterrupt:
        left = threading.active_count()
        blas = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
        print("ended", left, *blas, flush=True)
        streaming_self_attention(*operands[:3, :, :500])
        print("usable", flush=True)
    """
)


@CONTROLLED
@pytest.mark.skipif(os.name == "nt", reason="an interrupt is sent in another way there")
@pytest.mark.parametrize("seconds", [0.3, 1.1])
def test_an_interrupt_ends_all_tiles_and_leaves_blas_as_it_was(seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "begun\n"
        threading.Event().wait(seconds)
        process.send_signal(signal.SIGINT)
        # A whole run takes far longer than this waits.
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert output.split("\n")[:2] == ["ended 1 3", "usable"]


def test_the_parts_of_a_head_cover_it_once_for_any_shape():
    for batch, tokens in [(1, 1), (0, 5), (3, 2), (70, 33), (2, 255), (1, 256), (2, 257), (1, 999)]:
        counted = np.zeros((batch, tokens), int)
        for part in parts.cut(batch, tokens):
            counted[part] += 1
        assert (counted == 1).all()
