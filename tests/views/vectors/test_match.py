"""Queries and keys as arrows, each score beside them, with nothing cut or overlapping."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.views import figures
from attnlib.views.frame import pixel_axes
from attnlib.views.vectors.match import LINES, ROWS, SIZE, Painter, Scene, match_figure
from tests.authority import seeded


def seeded_head(tokens, width, seed, size=1.0):
    query, key, value, _ = seeded(1, tokens, width, 2, seed)
    return scaled_dot_product_self_attention(size * query, key, value)


HEADS = {
    "worked": examples.load("worked-example").head(),
    "three tokens": examples.load("random").head(),
    "equal keys": examples.load("equal-keys").head(),
    "large scores": examples.load("large-scores").head(),
    "eight tokens": seeded_head(8, 5, seed=3),
    "one feature": seeded_head(3, 1, seed=5),
    "far apart": seeded_head(3, 2, seed=4, size=-3e4),
}


def texts_of(head):
    return [text for text in match_figure(head).figure.findobj(Text) if text.get_text()]


class TestArrows:
    def test_each_runs_from_the_origin_to_its_query_or_key(self):
        scene, painter = Scene.of(HEADS["worked"]), Painter(pixel_axes(SIZE))
        painter.show(scene)
        tips = {"q": [[0, 3], [2, -1]], "k": [[3, 0], [-1, 2]]}
        for letter, (shafts, _) in painter.arrows.items():
            ends = np.stack(shafts.get_data(), axis=-1).reshape(-1, 3, 2)
            np.testing.assert_allclose(ends[:, 0], [scene.plane.at(np.zeros(2))] * 2)
            np.testing.assert_allclose(ends[:, 1], scene.plane.at(np.array(tips[letter])))

    def test_of_one_feature_they_lie_on_one_line(self):
        scene, painter = Scene.of(HEADS["one feature"]), Painter(pixel_axes(SIZE))
        painter.show(scene)
        for shafts, _ in painter.arrows.values():
            across, down = np.stack(shafts.get_data()).reshape(2, -1, 3)[..., 1]
            assert set(down) == {scene.plane.at(np.zeros(2))[1]}
            assert len(set(across)) == 3

    def test_queries_and_keys_differ_by_more_than_colour(self):
        assert LINES["q"][0] != LINES["k"][0]


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
class TestEveryPicture:
    def test_no_words_are_cut_or_overlap(self, head):
        figure = match_figure(head).figure
        figure.canvas.draw()
        renderer, whole = figure.canvas.get_renderer(), figure.bbox
        texts = [text for text in figure.findobj(Text) if text.get_text()]
        boxes = [(text.get_text(), Text.get_window_extent(text, renderer)) for text in texts]
        for words, box in boxes:
            assert whole.x0 <= box.x0, words
            assert box.x1 <= whole.x1, words
            assert whole.y0 - 1 <= box.y0, words
            assert box.y1 <= whole.y1 + 1, words
        for (one, box), (other, second) in itertools.combinations(boxes, 2):
            wide = min(box.x1, second.x1) - max(box.x0, second.x0)
            high = min(box.y1, second.y1) - max(box.y0, second.y0)
            # Line boxes hold room for accents and tails, so they may touch where ink does not.
            assert wide <= 2 or high <= 0.35 * min(box.height, second.height), (one, other)

    def test_every_query_and_key_is_named(self, head):
        words = {text.get_text() for text in texts_of(head)}
        count = head.query.shape[1]
        assert {f"{letter}{'₀₁₂₃₄₅₆₇'[j]}" for letter in "qk" for j in range(count)} <= words

    def test_each_score_is_written_out_as_far_as_there_is_room(self, head):
        lines = [x.get_text() for x in texts_of(head) if " · " in x.get_text()]
        count = head.raw_scores[0].size
        assert len(lines) == min(count, ROWS)
        more = [x.get_text() for x in texts_of(head) if x.get_text().startswith("and ")]
        assert more == ([f"and {count - ROWS} more"] if count > ROWS else [])

    def test_the_same_head_gives_the_same_bytes(self, head):
        assert match_figure(head).png() == match_figure(head).png()


class TestWords:
    def test_the_worked_example_is_told_with_its_numbers(self):
        words = match_figure(HEADS["worked"]).description
        assert "q₀ (0.000000, 3.000000), q₁ (2.000000, −1.000000)" in words
        assert "q₀ · k₁ = 3.000000 × 2.236068 × 0.894427 = 6.000000" in words
        assert "q₁ · k₁ = 2.236068 × 2.236068 × (−0.800000) = −4.000000." in words

    def test_of_wide_keys_two_features_are_shown_and_it_says_so(self):
        words = match_figure(HEADS["eight tokens"], features=(4, 1)).description
        assert "feature 4 across, feature 1 up, of the 5 features" in words

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            ({"item": 1}, "1 batch items, got 1"),
            ({"features": (0, 2)}, r"two of the 2 features of a query, got \(0, 2\)"),
            ({"features": (0,)}, "two of the 2 features"),
        ],
    )
    def test_what_cannot_be_chosen_is_refused_with_the_mend(self, chosen, message):
        with pytest.raises(ValueError, match=message):
            match_figure(HEADS["worked"], **chosen)


class TestStages:
    def test_a_row_of_stages_holds_the_numbers_of_each(self):
        head = HEADS["three tokens"]
        names = ("Q", "raw_scores", "weights")
        drawn = figures.stages_figure(head, names).figure.axes[0].collections
        grids = [artist for artist in drawn if artist.get_array() is not None]
        for grid, expected in zip(grids, (head.query, head.raw_scores, head.weights), strict=True):
            assert grid.get_array().tolist() == expected[0].ravel().tolist()

    def test_its_words_tell_the_numbers(self):
        words = figures.stages_figure(HEADS["worked"], ("Q", "raw_scores")).description
        assert words == (
            "Q: q₀ [0.000000, 3.000000]; q₁ [2.000000, −1.000000]. "
            "Scores: q₀ [0.000000, 6.000000]; q₁ [6.000000, −4.000000]."
        )

    def test_an_unknown_stage_is_refused_with_those_there_are(self):
        with pytest.raises(ValueError, match="no stage is called 'scores': choose from Q, K, V"):
            figures.stages_figure(HEADS["worked"], ("scores",))
