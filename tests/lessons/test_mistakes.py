"""The catalogue: every wrong head runs, is wrong, is like no other, and shows the sign it claims.

Right answers come from the slow head in tests/authority.py; an empty batch is only run.
"""

import itertools
import re

import numpy as np
import pytest

from attnlib.lessons.checking.fixtures import FIXTURES, MAIN, OVERFLOW, SQUARE
from attnlib.lessons.mistakes import CATALOGUE, IDS, SAME, load
from attnlib.lessons.mistakes.kinds import STAGES, Mistake
from tests.authority import slow_head

FORWARD = [mistake for mistake in CATALOGUE.values() if mistake.direction == "forward"]
BACKWARD = [mistake for mistake in CATALOGUE.values() if mistake.direction == "backward"]
# The fixtures with numbers in them: those that a wrong answer can be read from.
TRIED = [fixture for fixture in FIXTURES if fixture.query.size]
REQUIRED = {
    "scale-missing",
    "scale-by-width",
    "scale-inverted",
    "scale-wrong-width",
    "scale-half-width",
    "scale-zero",
    "scale-after-softmax",
    "softmax-on-raw-scores",
    "softmax-over-queries",
    "softmax-over-batch",
    "softmax-over-everything",
    "softmax-lost-axis",
    "softmax-missing",
    "softmax-twice",
    "normalized-without-exp",
    "softmax-without-maximum",
    "softmax-global-maximum",
    "softmax-finite-sentinel",
    "sign-flipped",
    "key-not-transposed",
    "key-reshaped",
    "all-axes-reversed",
    "query-key-exchanged",
    "weights-transposed",
    "value-is-query",
    "value-is-key",
    "value-transposed",
    "batch-and-tokens-swapped",
    "batch-items-mixed",
    "heads-merged-by-reshape",
    "causal-mask-applied",
    "mask-after-softmax",
    "mask-multiplied-before-softmax",
    "dropout-active",
    "integer-buffer",
    "half-precision",
    "input-modified",
    "argument-ignored",
    "returns-weights",
    "wrong-shape",
    "raises",
    "row-sum-missing",
    "diagonal-only",
    "row-term-wrong",
    "gradient-scale-missing",
    "gradient-scaled-twice",
    "query-key-gradients-exchanged",
    "key-gradient-not-transposed",
    "value-gradient-not-transposed",
    "gradient-summed-over-batch",
    "gradient-averaged",
    "gradient-sign-flipped",
    "gradient-overwritten-not-added",
}
HEADS = [
    pytest.param(mistake, head, id=f"{mistake.id} {how}".strip())
    for mistake in FORWARD
    for how, head in (("", mistake.head), *mistake.variants)
]
# What may be raised by the wrong heads that raise, on some shapes or on all.
RAISED = (ValueError, IndexError, NameError, TypeError, NotImplementedError)


def right(fixture):
    return vars(slow_head(*fixture.inputs, fixture.grad_output))


def attempt(head, fixture):
    """The stages of a head, or the kind of error that it raises, and which inputs it changed."""
    handed = [array.copy() for array in fixture.inputs]
    try:
        made = head(*handed)
    except RAISED as error:
        made = type(error)
    pairs = zip(handed, fixture.inputs, strict=True)
    return made, [not np.array_equal(now, before) for now, before in pairs]


def near(one, other, fixture):
    """Equal up to the rounding errors of the fixture's type, NaN where there is NaN."""
    if one.shape != other.shape:
        return False
    error = 1e-5 if fixture.query.dtype == np.float32 else 1e-10
    with np.errstate(invalid="ignore"):
        return np.allclose(one.astype(float), other, rtol=error, atol=error, equal_nan=True)


def departing(made, fixture):
    """The stages that depart from the slow head, in their order."""
    expected = right(fixture)
    return [
        stage
        for stage in STAGES
        if stage in made and not near(made[stage], np.asarray(expected[stage]), fixture)
    ]


def wrong(head, fixture):
    made, changed = attempt(head, fixture)
    return isinstance(made, type) or any(changed) or departing(made, fixture) != []


def alike(one, other, stages):
    """Whether two heads can't be told apart on any fixture by these stages."""
    for fixture in FIXTURES:
        (made, changed), (made_too, changed_too) = attempt(one, fixture), attempt(other, fixture)
        if isinstance(made, type) or isinstance(made_too, type):
            if made is not made_too:
                return False
        elif changed != changed_too or any(
            not near(made[stage], made_too[stage], fixture)
            for stage in stages
            if stage in made and stage in made_too
        ):
            return False
    return True


class TestTheCatalogue:
    def test_it_holds_every_mistake_that_the_checker_promises(self):
        assert set(IDS) >= REQUIRED

    def test_each_mistake_is_found_by_its_own_id(self):
        assert [load(id).id for id in IDS] == list(IDS)

    def test_forward_mistakes_come_before_those_of_the_way_back(self):
        assert list(CATALOGUE.values()) == FORWARD + BACKWARD

    def test_an_unknown_id_is_answered_with_the_known_ones(self):
        with pytest.raises(ValueError, match=r"scale-missing, .*; got 'scale-mising'"):
            load("scale-mising")

    def test_nobody_can_change_it(self):
        with pytest.raises(TypeError):
            CATALOGUE["mine"] = None

    @pytest.mark.parametrize("mistake", CATALOGUE.values(), ids=IDS)
    def test_a_stage_is_one_of_those_a_verdict_can_name(self, mistake):
        forward = mistake.direction == "forward"
        assert mistake.stage in ((*STAGES, "call") if forward else ("query", "key", "value"))

    @pytest.mark.parametrize("mistake", CATALOGUE.values(), ids=IDS)
    def test_every_variant_has_a_name_of_its_own(self, mistake):
        names = [name for name, _ in mistake.variants]
        assert all(names)
        assert len(set(names)) == len(names)


class TestForwardHeads:
    @pytest.mark.parametrize(("mistake", "head"), HEADS)
    def test_each_is_wrong_on_some_fixture(self, mistake, head):
        assert any(wrong(head, fixture) for fixture in TRIED)

    @pytest.mark.parametrize(("mistake", "head"), HEADS)
    def test_it_gives_the_same_answer_each_time(self, mistake, head):
        assert alike(head, head, STAGES)

    @pytest.mark.parametrize(("mistake", "head"), HEADS)
    def test_it_gives_an_output_wherever_it_raises_nothing(self, mistake, head):
        for fixture in FIXTURES:
            made, _ = attempt(head, fixture)
            assert isinstance(made, type) or {"output"} <= set(made) <= set(STAGES)

    @pytest.mark.parametrize(("mistake", "head"), HEADS)
    def test_only_the_one_that_is_about_it_changes_its_inputs(self, mistake, head):
        changes = any(any(attempt(head, fixture)[1]) for fixture in TRIED)
        assert changes == (mistake.id == "input-modified")

    @pytest.mark.parametrize("mistake", FORWARD, ids=lambda mistake: mistake.id)
    def test_the_stage_is_the_first_that_departs(self, mistake):
        made = [(attempt(mistake.head, fixture)[0], fixture) for fixture in TRIED]
        first = [
            stages[0]
            for got, fixture in made
            if not isinstance(got, type) and (stages := departing(got, fixture))
        ]
        if mistake.stage == "call":
            assert first == []
        elif first:
            assert first[0] == mistake.stage
        else:
            assert any(isinstance(got, type) for got, _ in made)


class TestNoTwoAreTheSame:
    @pytest.mark.parametrize("stages", [("output",), STAGES], ids=["output alone", "all stages"])
    def test_heads_of_two_mistakes_differ_unless_it_is_declared(self, stages):
        same = {
            (one.values[0].id, other.values[0].id)
            for one, other in itertools.combinations(HEADS, 2)
            if one.values[0] is not other.values[0]
            and alike(one.values[1], other.values[1], stages)
        }
        assert same == (set(SAME) if stages == ("output",) else set())

    def test_each_declared_pair_has_its_reason(self):
        for pair, reason in SAME.items():
            assert set(pair) <= set(IDS)
            assert len(reason.split()) > 5

    def test_two_names_of_one_function_would_be_seen(self):
        twice = dict(load("scale-by-width").variants)["scaled twice"]
        assert alike(load("scale-by-width").head, twice, STAGES)
        assert not alike(load("scale-missing").head, twice, ("output",))


SENTENCES = re.compile(r"[.!?](?: |$)")
CONDESCENDING = re.compile(
    r"\b(obviously|simply|just|of course|clearly|trivial(ly)?|easy to see|stupid|silly)\b", re.I
)
# In a question, these would be the mend itself.
GIVES_AWAY = re.compile(r"keepdims|sqrt|√|swapaxes|axis=|-1|np\.|\*\*|instead|Use |Divide ")


@pytest.mark.parametrize("mistake", CATALOGUE.values(), ids=IDS)
class TestWords:
    def test_the_title_is_short_and_no_sentence_end(self, mistake):
        assert 10 <= len(mistake.title) <= 70
        assert mistake.title[-1] not in ".!?"

    def test_the_paragraph_says_what_why_and_the_mend_in_a_few_sentences(self, mistake):
        assert 3 <= len(SENTENCES.findall(mistake.paragraph)) <= 5
        assert len(mistake.paragraph) <= 420

    def test_the_question_is_one_question_and_not_the_mend(self, mistake):
        assert SENTENCES.findall(mistake.question) == ["?"]
        assert not GIVES_AWAY.search(mistake.question)

    def test_the_signature_is_one_sentence(self, mistake):
        assert SENTENCES.findall(mistake.signature) == ["."]

    def test_queries_and_keys_are_said_where_a_verdict_would_say_rows_and_columns(self, mistake):
        # On the way back, "row term" is the name of a term.
        said = (mistake.title, mistake.question, mistake.signature)
        assert mistake.direction != "forward" or not re.search(r"\b(rows?|columns?)\b", str(said))

    def test_nobody_is_talked_down_to(self, mistake):
        words = f"{mistake.title} {mistake.paragraph} {mistake.question} {mistake.signature}"
        assert not CONDESCENDING.search(words)

    def test_no_other_mistake_has_the_same_words(self, mistake):
        for other in CATALOGUE.values():
            if other is not mistake:
                assert other.title != mistake.title
                assert other.paragraph != mistake.paragraph


def is_square(array):
    return array.shape[1] == array.shape[2]


def rows(made):
    return made["weights"].sum(axis=2)


def factor(one, other):
    """The constant ratio of two arrays, or None."""
    seen = abs(other) > 1e-9
    ratios = one[seen] / other[seen]
    return ratios.mean() if np.ptp(ratios) < 1e-9 else None


# What a mistake's signature claims, held to its head on the fixture named.
SIGNS = {
    "scale-missing": lambda m, r: np.array_equal(m["scaled_scores"], m["raw_scores"]),
    "scale-by-width": lambda m, r: np.isclose(
        factor(m["scaled_scores"], r["scaled_scores"]), 1 / 5**0.5
    ),
    "scale-inverted": lambda m, r: np.isclose(factor(m["scaled_scores"], r["scaled_scores"]), 5),
    "scale-wrong-width": lambda m, r: np.isclose(
        factor(m["scaled_scores"], r["scaled_scores"]), (5 / 4) ** 0.5
    ),
    "scale-half-width": lambda m, r: np.isclose(
        factor(r["scaled_scores"], m["scaled_scores"]), 5**0.5 / 2
    ),
    "scale-zero": lambda m, r: np.allclose(m["weights"], 1 / 3),
    "scale-after-softmax": lambda m, r: np.allclose(rows(m), 1 / 5**0.5),
    "softmax-over-queries": lambda m, r: np.allclose(m["weights"].sum(axis=1), 1),
    "softmax-over-batch": lambda m, r: np.allclose(m["weights"].sum(axis=0), 1),
    "softmax-over-flattened-rows": lambda m, r: np.allclose(m["weights"].sum(axis=(0, 1)), 1),
    "softmax-over-everything": lambda m, r: np.allclose(m["weights"].sum(axis=(1, 2)), 1),
    "softmax-missing": lambda m, r: m["weights"].min() < 0,
    "softmax-twice": lambda m, r: (m["weights"].max(axis=2) / m["weights"].min(axis=2)).max() < 2.8,
    "normalized-without-exp": lambda m, r: np.allclose(rows(m), 1) and m["weights"].min() < 0,
    "exp-not-normalized": lambda m, r: np.allclose(m["weights"] / rows(m)[..., None], r["weights"]),
    "weights-are-logarithms": lambda m, r: (
        m["weights"].max() <= 0 and np.allclose(np.exp(m["weights"]).sum(axis=2), 1)
    ),
    "sigmoid-instead-of-softmax": lambda m, r: np.array_equal(
        m["weights"] > 0.5, m["scaled_scores"] > 0
    ),
    "softmax-base-two": lambda m, r: np.allclose(
        np.diff(np.log2(m["weights"])), np.diff(r["scaled_scores"])
    ),
    "sign-flipped": lambda m, r: np.array_equal(
        m["weights"].argsort(axis=2), (-r["weights"]).argsort(axis=2)
    ),
    "query-key-exchanged": lambda m, r: np.allclose(
        m["raw_scores"], r["raw_scores"].swapaxes(1, 2)
    ),
    "key-is-query": lambda m, r: np.allclose(m["raw_scores"], m["raw_scores"].swapaxes(1, 2)),
    "query-is-key": lambda m, r: np.allclose(m["raw_scores"], m["raw_scores"].swapaxes(1, 2)),
    "cosine-instead-of-dot": lambda m, r: abs(m["raw_scores"]).max() <= 1,
    "dot-instead-of-matmul": lambda m, r: m["output"].ndim > 3,
    "weights-transposed": lambda m, r: np.allclose(m["weights"], r["weights"].swapaxes(1, 2)),
    "value-is-query": lambda m, r: m["output"].shape[2] == 5,
    "value-is-key": lambda m, r: m["output"].shape[2] == 5,
    "value-inside-softmax": lambda m, r: (
        m["output"].min() > 0 and np.allclose(m["output"].sum(axis=2), 1)
    ),
    "residual-added": lambda m, r: np.allclose(m["output"] - r["output"], MAIN.value),
    "token-left-out": lambda m, r: not m["output"][:, -1].any(),
    "accumulator-not-reset": lambda m, r: (
        np.allclose(m["output"][:, 0], r["output"][:, 0])
        and not np.isclose(m["output"][:, 1:], r["output"][:, 1:]).any()
    ),
    "mixture-overwritten-not-added": lambda m, r: np.allclose(
        m["output"], r["weights"][..., -1:] * MAIN.value[:, -1:]
    ),
    "heads-merged-by-reshape": lambda m, r: np.allclose(
        np.sort(m["output"].ravel()), np.sort(r["output"].ravel())
    ),
    "batch-and-tokens-swapped": lambda m, r: m["raw_scores"].shape[1:] == (2, 2),
    "causal-mask-applied": lambda m, r: (
        np.allclose(rows(m), 1) and not np.triu(m["weights"], 1).any()
    ),
    "mask-after-softmax": lambda m, r: (
        np.allclose(m["weights"], np.tril(r["weights"])) and rows(m)[:, 0].max() < 1
    ),
    "mask-multiplied-before-softmax": lambda m, r: (
        m["weights"].min() > 0 and np.allclose(m["weights"][:, 0, 1], m["weights"][:, 0, 2])
    ),
    "dropout-active": lambda m, r: np.allclose(
        m["weights"], np.where(m["weights"] == 0, 0, 2 * r["weights"])
    ),
    "rounded-intermediates": lambda m, r: np.array_equal(m["weights"], m["weights"].round(4)),
    "returns-weights": lambda m, r: m["output"].shape == (2, 3, 3),
    "wrong-shape": lambda m, r: m["output"].shape != r["output"].shape,
}


class TestSignatures:
    @pytest.mark.parametrize("id", SIGNS)
    def test_the_sign_shows_on_the_main_fixture(self, id):
        made, _ = attempt(load(id).head, MAIN)
        assert SIGNS[id](made, right(MAIN))

    def test_the_right_head_shows_none_of_them(self):
        made = {stage: np.asarray(right(MAIN)[stage]) for stage in STAGES}
        # These say what an output holds, or a row of weights, that a right one holds as well.
        shared = {"exp-not-normalized", "heads-merged-by-reshape"}
        shown = {id for id in set(SIGNS) - shared if SIGNS[id](made, right(MAIN))}
        assert shown == set()

    @pytest.mark.parametrize(
        ("id", "fits"),
        [
            (
                "key-not-transposed",
                lambda fixture: fixture.query.shape[1] == fixture.query.shape[2],
            ),
            (
                "elementwise-product",
                lambda fixture: fixture.query.shape[1] == fixture.query.shape[2],
            ),
            ("value-transposed", lambda fixture: fixture.value.shape[1] == fixture.value.shape[2]),
            ("key-is-value", lambda fixture: fixture.query.shape == fixture.value.shape),
            (
                "elementwise-mixture",
                lambda fixture: is_square(fixture.value) or 1 in fixture.value.shape[1:],
            ),
            ("value-width-assumed", lambda fixture: fixture.query.shape == fixture.value.shape),
            ("all-axes-reversed", lambda fixture: fixture is SQUARE),
        ],
    )
    def test_it_raises_exactly_where_its_shapes_do_not_fit(self, id, fits):
        for fixture in TRIED:
            made, _ = attempt(load(id).head, fixture)
            assert isinstance(made, type) != fits(fixture)

    def test_without_the_maximum_a_score_of_1000_gives_nan(self):
        made, _ = attempt(load("softmax-without-maximum").head, OVERFLOW)
        assert np.isnan(made["output"]).all()

    @pytest.mark.parametrize("id", ["batch-items-mixed", "batch-and-tokens-swapped"])
    def test_one_item_changes_the_output_of_another(self, id):
        moved = [array.copy() for array in MAIN.inputs]
        for array in moved:
            array[1] += 1
        before, after = load(id).head(*MAIN.inputs), load(id).head(*moved)
        assert not np.allclose(before["output"][0], after["output"][0])

    @pytest.mark.parametrize("name", ["query", "key", "value"])
    def test_an_ignored_argument_has_no_influence(self, name):
        head = dict(load("argument-ignored").variants)[f"{name} is not read"]
        arrays = dict(zip(("query", "key", "value"), MAIN.inputs, strict=True))
        moved = arrays | {name: arrays[name] + np.arange(3.0)[:, None]}
        assert np.array_equal(head(**arrays)["output"], head(**moved)["output"])

    def test_whole_numbers_are_cut_off_in_a_buffer_of_whole_numbers(self):
        whole = [np.arange(12).reshape(1, 3, 4)] * 3
        output = load("integer-buffer").head(*whole)["output"]
        assert output.dtype == whole[2].dtype

    def test_half_precision_keeps_three_digits_and_overflows_beyond_65504(self):
        made, _ = attempt(load("half-precision").head, MAIN)
        difference = abs(made["output"] - right(MAIN)["output"]).max()
        assert 1e-5 < difference < 1e-2
        large = np.full((1, 1, 4), 128.0)
        assert load("half-precision").head(large, large, large)["raw_scores"] == np.inf

    def test_a_mistake_shows_its_id_and_title(self):
        assert repr(load("raises")) == "Mistake('raises': The head raises an error)"
        assert isinstance(load("raises"), Mistake)
