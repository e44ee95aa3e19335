"""Whatever a hand-in does, it gets a plain verdict, and who called is as before."""

import random
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from attnlib.lessons.checker import check_forward
from attnlib.lessons.checking.fixtures import MAIN
from attnlib.lessons.checking.running import run

BRIEF = 0.2


def right(query, key, value):
    scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


def wait_for_hand_ins():
    """A hand-in that could not be stopped ends by itself in these tests, so that none stays."""
    for thread in threading.enumerate():
        if thread.name == "hand-in":
            thread.join(10)
            assert not thread.is_alive()


def never_returns(query, key, value):
    while True:
        pass


def prints_for_ever(query, key, value):
    while True:
        print("again")


def catches_one_interruption(query, key, value):
    try:
        while True:
            pass
    except BaseException:
        return right(query, key, value)


def never_yields(query, key, value):
    return right(query, key, value) if all(True for _ in iter(int, 1)) else None


class TestAHandInThatNeverReturns:
    @pytest.mark.parametrize(
        "hand_in", [never_returns, prints_for_ever, never_yields], ids=lambda f: f.__name__
    )
    def test_is_stopped_and_told_the_limit(self, hand_in):
        verdict = check_forward(hand_in, seconds=BRIEF)
        assert not verdict.passed
        assert verdict.stage == "call"
        assert verdict.mistake is None
        assert verdict.limit == BRIEF
        assert f"{BRIEF} s" in repr(verdict).replace("\n  ", " ")
        assert "stopped" in verdict.message
        wait_for_hand_ins()

    def test_is_told_the_limit_even_if_it_answers_when_interrupted(self):
        assert check_forward(catches_one_interruption, seconds=BRIEF).limit == BRIEF
        wait_for_hand_ins()

    def test_is_left_behind_where_it_waits_in_compiled_code(self):
        verdict = check_forward(lambda *_: time.sleep(4 * BRIEF + 1), seconds=BRIEF)
        assert verdict.limit == BRIEF
        assert "could not be stopped" in verdict.message
        assert check_forward(right).passed
        wait_for_hand_ins()

    def test_prints_nothing_later_either(self, capsys):
        def late(query, key, value):
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                try:
                    time.sleep(BRIEF)
                except BaseException:
                    continue
            print("late")

        verdict = check_forward(late, seconds=BRIEF)
        assert "could not be stopped" in verdict.message
        print("between")
        wait_for_hand_ins()
        assert capsys.readouterr().out == "between\n"
        # The next call finds the thread ended and puts the stream back.
        assert check_forward(right).passed
        assert type(sys.stdout).__name__ != "_Split"

    def test_leaves_no_thread_where_it_could_be_stopped(self):
        before = threading.active_count()
        check_forward(never_returns, seconds=BRIEF)
        wait_for_hand_ins()
        assert threading.active_count() == before

    def test_is_no_longer_waited_for_while_its_answer_is_read(self):
        class Slow:
            def __array__(self, dtype=None, copy=None):
                while True:
                    pass

        assert check_forward(lambda *_: Slow(), seconds=BRIEF).limit == BRIEF
        wait_for_hand_ins()


def exits(query, key, value):
    sys.exit(3)


def interrupts(query, key, value):
    raise KeyboardInterrupt


def recurses(query, key, value):
    return recurses(query, key, value)


def runs_out_of_memory(query, key, value):
    return np.zeros((10**9, 10**9))


class Odd(BaseException):
    def __str__(self):
        return "odd"


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError


def raises_what_cannot_be_printed(query, key, value):
    raise SpeechlessError


def raises_at_length(query, key, value):
    raise ValueError("long " * 10**6)


def raises_its_own(query, key, value):
    raise Odd


class TestAHandInThatRaises:
    @pytest.mark.parametrize(
        ("hand_in", "words"),
        [
            (exits, "SystemExit: 3"),
            (interrupts, "KeyboardInterrupt"),
            (recurses, "RecursionError"),
            (runs_out_of_memory, "MemoryError"),
            (raises_its_own, "Odd: odd"),
            (raises_what_cannot_be_printed, "SpeechlessError"),
            (raises_at_length, "ValueError: long"),
            (lambda query, key: key, "TypeError"),
        ],
        ids=[
            "exit",
            "interrupt",
            "recursion",
            "memory",
            "own kind",
            "unprintable",
            "long",
            "too few arguments",
        ],
    )
    def test_is_told_what_it_raised(self, hand_in, words):
        verdict = check_forward(hand_in)
        assert not verdict.passed
        assert verdict.mistake == "raises"
        assert verdict.stage == "call"
        assert words in verdict.message
        assert len(repr(verdict)) < 2000
        assert words.split(":")[0] in str(verdict.explain())

    def test_is_not_attempted_yet_if_it_says_so(self):
        def stub(query, key, value):
            raise NotImplementedError("write the scores here")

        verdict = check_forward(stub)
        assert not verdict.passed
        assert not verdict.attempted
        assert repr(verdict).startswith("Not attempted yet")
        assert repr(check_forward(lambda *_: ...)) == "Not attempted yet."


def a_generator(query, key, value):
    yield right(query, key, value)


async def a_coroutine(query, key, value):
    return right(query, key, value)


class BadArray:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array here")


class BadAttributes:
    def __getattr__(self, name):
        raise RuntimeError(f"{name} is not for you")


class TestAHandInThatReturnsNothingToCompare:
    @pytest.mark.parametrize(
        ("returned", "words"),
        [
            (None, "returned None"),
            ("0.5 0.5", "returned text"),
            (b"0.5", "returned text"),
            (right, "real numbers"),
            (np.float64, "real numbers"),
            ([[1.0], [1.0, 2.0]], "same length"),
            (np.zeros((2, 3, 4)) * 1j, "complex"),
            (np.full((2, 3, 4), None), "real numbers"),
            (np.full((2, 3, 4), "1.0"), "real numbers"),
            (np.zeros((2, 3, 4), dtype="datetime64[s]"), "real numbers"),
            ((), "0 items"),
            ((MAIN.value,) * 3, "3 items"),
            ({}, "nothing"),
            ({"out": MAIN.value}, "'out'"),
            ({"output": "text"}, "returned text"),
            ({"output": None}, "returned None"),
            ({1: MAIN.value}, "raw_scores"),
            (BadArray(), "no array here"),
        ],
    )
    def test_is_told_what_came(self, returned, words):
        verdict = check_forward(lambda *_: returned)
        assert not verdict.passed
        assert verdict.stage == "call"
        assert verdict.mistake is None
        assert words in verdict.message

    def test_a_generator_is_told_to_return(self):
        verdict = check_forward(a_generator)
        assert "generator" in verdict.message
        assert "`return`" in verdict.message

    def test_a_coroutine_is_told_to_be_a_function(self):
        verdict = check_forward(a_coroutine)
        assert "`async`" in verdict.message

    def test_an_object_that_refuses_to_be_looked_at_is_no_harm(self):
        verdict = check_forward(lambda *_: BadAttributes())
        assert not verdict.passed
        assert verdict.stage == "call"


class TestAHandInThatReturnsTheWrongThing:
    @pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf])
    def test_what_is_not_finite_is_said_where(self, entry):
        def spoiled(query, key, value):
            output = right(query, key, value)
            output[..., -1] = entry
            return output

        verdict = check_forward(spoiled)
        assert not verdict.passed
        assert verdict.stage == "output"
        assert f"{entry} at (0, 0, 3)" in verdict.message
        assert str(entry) in str(verdict.explain())

    @pytest.mark.parametrize(
        "reshaped",
        [
            lambda output: output[..., None],
            lambda output: output.reshape(-1),
            lambda output: output.sum(),
            lambda output: output[:, :-1],
        ],
        ids=["an axis more", "flat", "a number", "a token less"],
    )
    def test_a_wrong_shape_is_said(self, reshaped):
        verdict = check_forward(lambda *inputs: reshaped(right(*inputs)))
        assert not verdict.passed
        assert verdict.mistake == "wrong-shape"
        assert verdict.explain()

    def test_an_output_too_large_to_look_at_is_not_looked_at(self):
        def huge(query, key, value):
            output = right(query, key, value)
            return np.broadcast_to(output[..., None], (*output.shape, 10**9))

        verdict = check_forward(huge)
        assert not verdict.passed
        assert "1000000000" in verdict.message

    @pytest.mark.parametrize("dtype", [bool, int, np.float16])
    def test_a_wrong_type_is_no_right_answer(self, dtype):
        verdict = check_forward(lambda *inputs: right(*inputs).astype(dtype))
        assert not verdict.passed
        assert verdict.explain()

    def test_a_view_of_an_input_is_told(self):
        verdict = check_forward(lambda query, key, value: value[:])
        assert not verdict.passed
        assert "shares its memory with value" in repr(verdict).replace("\n  ", " ")

    def test_a_right_answer_in_the_memory_of_an_input_changes_it(self):
        def in_place(query, key, value):
            value[...] = right(query, key, value)
            return value

        verdict = check_forward(in_place)
        assert verdict.mistake == "input-modified"
        assert "value" in verdict.message

    def test_an_array_that_is_used_again_is_compared_as_it_was_returned(self):
        buffers = {}

        def reuses(query, key, value):
            buffer = buffers.setdefault(value.shape, np.empty(value.shape))
            buffer[...] = right(query, key, value)
            return buffer

        assert check_forward(reuses).passed

    def test_what_changes_with_each_call_is_told(self):
        calls = []

        def remembers(query, key, value):
            calls.append(1)
            return right(query, key, value) * len(calls)

        verdict = check_forward(remembers)
        assert not verdict.passed
        assert "from one call to the next" in verdict.message


class TestTheCallerIsAsBefore:
    def test_the_arrays_handed_out_are_copies(self):
        before = MAIN.query.copy()

        def changes(query, key, value):
            answer = right(query, key, value)
            for array in (query, key, value):
                array[...] = 7
                array.shape = -1
            return answer

        verdict = check_forward(changes)
        assert verdict.mistake == "input-modified"
        np.testing.assert_array_equal(MAIN.query, before)
        assert check_forward(right).passed

    def test_prints_are_kept_apart_and_told(self, capsys):
        def talks(query, key, value):
            print("scores next")
            print("and a warning", file=sys.stderr)
            sys.stdout.write("done\n")
            sys.stdout.close()
            return right(query, key, value)

        verdict = check_forward(talks)
        assert verdict.passed
        assert capsys.readouterr() == ("", "")
        assert verdict.printed == "scores next\nand a warning\ndone\n"
        assert "scores next" in repr(verdict)

    def test_what_is_printed_stays_small(self):
        verdict = check_forward(lambda *inputs: print("x" * 10**7) or right(*inputs))
        assert verdict.passed
        assert len(verdict.printed) <= 10_000
        assert len(repr(verdict)) < 1000

    def test_other_threads_print_as_before(self, capsys):
        def other():
            print("from another thread")

        def waits(query, key, value):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            return right(query, key, value)

        run(waits, MAIN.inputs)
        assert capsys.readouterr().out == "from another thread\n"

    def test_the_streams_are_put_back(self):
        before = sys.stdout, sys.stderr

        def replaces(query, key, value):
            sys.stdout = sys.stderr = None
            return right(query, key, value)

        assert check_forward(replaces).passed
        assert (sys.stdout, sys.stderr) == before

    def test_random_states_warnings_and_error_handling_are_put_back(self):
        def meddles(query, key, value):
            np.random.seed(5)  # noqa: NPY002
            random.seed(5)
            np.seterr(divide="raise", over="raise", invalid="raise")
            warnings.simplefilter("error")
            return right(query, key, value)

        def state():
            return (
                random.getstate(),
                np.random.get_state()[1].tolist(),  # noqa: NPY002
                np.geterr(),
                list(warnings.filters),
            )

        before = state()
        assert check_forward(meddles).passed
        assert state() == before

    def test_checks_in_several_threads_do_not_disturb_each_other(self):
        before = sys.stdout, sys.stderr
        verdicts = []

        def check(hand_in):
            verdicts.append((hand_in, check_forward(hand_in)))

        threads = [threading.Thread(target=check, args=[f]) for f in (right, exits) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(verdicts) == 8
        assert all(verdict.passed == (hand_in is right) for hand_in, verdict in verdicts)
        assert (sys.stdout, sys.stderr) == before

    def test_a_hand_in_may_check_another(self):
        def nested(query, key, value):
            print("outer")
            assert check_forward(right).passed
            return right(query, key, value)

        verdict = check_forward(nested)
        assert verdict.passed
        assert verdict.printed == "outer\n"

    def test_warnings_of_the_hand_in_stay_with_it(self):
        def warns(query, key, value):
            warnings.warn("look out", stacklevel=1)
            np.log(np.zeros(1))
            return right(query, key, value)

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            assert check_forward(warns).passed
        assert seen == []


class TestAWrongCallOfTheCheckItself:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"function": right(*MAIN.inputs)}, "without calling it"),
            ({"function": right, "adapter": 3}, "adapter"),
            ({"function": right, "stages": "scores"}, "raw_scores"),
            ({"function": right, "stages": []}, "raw_scores"),
            ({"function": right, "seconds": 0}, "seconds"),
            ({"function": right, "seconds": float("nan")}, "seconds"),
            ({"function": right, "seconds": True}, "seconds"),
        ],
    )
    def test_is_refused_with_the_mend(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            check_forward(**arguments)

    def test_an_adapter_that_fails_is_told_as_what_the_call_raised(self):
        def adapter(array):
            raise RuntimeError("no device")

        assert "no device" in check_forward(right, adapter=adapter).message
