"""The picture of mixtures: arrows that add up to the outputs, names that can be read, words."""

import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import examples
from attnlib.views import labels, style
from attnlib.views.frame import pixel_axes
from attnlib.views.vectors import arrows, plane
from attnlib.views.vectors.mixture import SIZE, Painter, mixture_figure
from attnlib.views.vectors.mixture_scene import Scene
from tests.authority import seeded


def seeded_head(tokens, value_width, seed, size=1.0):
    query, key, value, _ = seeded(1, tokens, 3, value_width, seed)
    return scaled_dot_product_self_attention(query, key, size * value)


HEADS = {
    "worked": examples.load("worked-example").head(),
    "three tokens": examples.load("random").head(),
    "one token": examples.load("one-token").head(),
    "one feature": examples.load("value-width-one").head(),
    "equal values": scaled_dot_product_self_attention(*3 * [np.zeros((1, 2, 2))]),
    "eight tokens": seeded_head(8, 2, seed=3, size=1000.0),
    "eight tokens of one feature": seeded_head(8, 1, seed=4),
    "tiny": seeded_head(3, 2, seed=5, size=1e-7),
    "large": seeded_head(3, 2, seed=6, size=1e7),
    "real": examples.load("real-head").head(),
}


def ends(line):
    """The starts and ends of a broken line, [count, 2, 2]."""
    return np.stack(line.get_data(), axis=-1).reshape(-1, 3, 2)[:, :2]


def pieces(head, **chosen):
    scene = Scene.of(head, **chosen)
    painter = Painter(pixel_axes(SIZE))
    return scene, scene.plane, painter, painter.show(scene)


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
class TestEveryPicture:
    def test_the_arrows_of_each_query_are_its_weighted_values(self, head):
        scene, square, painter, _ = pieces(head)
        corner = np.full(2, square.limit)
        unit = (square.at(corner) - square.at(np.zeros(2))) / square.limit
        for query, (shaft, _, _) in enumerate(painter.trails[: len(scene.queries)]):
            drawn = ends(shaft)
            lengths = (drawn[:, 1] - drawn[:, 0])[:, : len(scene.features)]
            terms = head.weights[0, query][:, None] * head.value[0][:, list(scene.features)]
            expected = terms * unit[: len(scene.features)]
            np.testing.assert_allclose(lengths, expected, rtol=0, atol=1e-9)

    def test_each_trail_runs_from_the_origin_to_its_output(self, head):
        scene, square, painter, _ = pieces(head)
        for query, (shaft, _, end) in enumerate(painter.trails[: len(scene.queries)]):
            drawn, across = ends(shaft), slice(0, 1 if square.flat else 2)
            output = square.at(scene.steps[query, -1])
            np.testing.assert_allclose(drawn[0, 0, across], square.at(np.zeros(2))[across])
            np.testing.assert_allclose(drawn[-1, 1, across], output[across])
            np.testing.assert_allclose(np.ravel(end.get_data()), drawn[-1, 1])
            # Head to tail, across; in a flat plane each arrow stands a little lower.
            np.testing.assert_allclose(drawn[1:, 0, 0], drawn[:-1, 1, 0])

    def test_values_and_hull_stand_where_they_belong_inside_the_square(self, head):
        scene, square, painter, _ = pieces(head)
        left, top, right, bottom = square.frame
        for ring in painter.values:
            np.testing.assert_allclose(np.stack(ring.get_data(), -1), square.at(scene.values))
            assert np.all((ring.get_xdata() > left) & (ring.get_xdata() < right))
            assert np.all((ring.get_ydata() > top) & (ring.get_ydata() < bottom))
        corners = {tuple(corner) for corner in np.round(painter.hull.get_xy(), 6)}
        assert corners == {tuple(corner) for corner in np.round(square.at(scene.corners), 6)}

    def test_no_words_are_cut_or_overlap(self, head):
        figure = mixture_figure(head).figure
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

    def test_no_name_covers_a_point(self, head):
        scene, square, painter, names = pieces(head)
        ends = [np.ravel(end.get_data()) for *_, end in painter.trails[: len(scene.queries)]]
        for x, y in [*square.at(scene.values[:16]), *ends]:
            for label in names:
                left, top, right, bottom = label.box
                assert not (left < x < right and top < y < bottom), label.words

    def test_the_same_head_gives_the_same_bytes(self, head):
        assert mixture_figure(head).png() == mixture_figure(head).png()


class TestWords:
    def test_the_worked_example_is_told_with_its_numbers(self):
        words = mixture_figure(HEADS["worked"]).description
        assert "v₀ at (3.000000, −3.000000), v₁ at (1.000000, 3.000000)" in words
        assert "o₀ = 0.014166 v₀ + 0.985834 v₁ ends at (1.028332, 2.915004)" in words
        assert "o₁ = 0.999151 v₀ + 0.000849 v₁ ends at (2.998303, −2.994908)" in words
        assert words.endswith("Every output lies on the segment between the values.")

    def test_every_value_and_output_of_a_small_head_has_its_name(self):
        for name in ("worked", "three tokens", "one feature", "eight tokens"):
            scene, _, _, names = pieces(HEADS[name])
            count = len(scene.values)
            expected = [f"v{'₀₁₂₃₄₅₆₇'[j]}" for j in range(count)]
            expected += [f"o{'₀₁₂₃'[i]}" for i in range(min(count, 4))]
            assert [label.words for label in names] == expected

    def test_of_wide_values_two_features_are_shown_and_it_says_so(self):
        head = HEADS["real"]
        picture = mixture_figure(head, item=7, features=(5, 30), queries=(2, 9))
        assert "feature 5 across, feature 30 up, of the 32 features" in picture.description
        scene = Scene.of(head, item=7, features=(5, 30), queries=(2, 9))
        np.testing.assert_array_equal(scene.values, head.value[7][:, [5, 30]])
        expected = head.output[7][[2, 9]][:, [5, 30]]
        np.testing.assert_allclose(scene.steps[:, -1], expected, rtol=0, atol=1e-12)
        assert "o₉ ends at" in picture.description

    def test_one_point_or_one_line_is_told_as_such(self):
        assert "All values are one point" in mixture_figure(HEADS["one token"]).description
        assert "3 corners" in mixture_figure(HEADS["three tokens"]).description
        assert "a lane a query" in mixture_figure(HEADS["one feature"]).description

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            ({"item": 12}, "12 batch items, got 12"),
            ({"features": (0, 32)}, r"32 features of a value, got \(0, 32\)"),
            ({"features": ()}, r"one or two"),
            ({"queries": (0, 1, 2, 3, 4)}, r"one to 4 of the 16 tokens"),
            ({"queries": (-1,)}, r"got \(-1,\)"),
        ],
    )
    def test_what_cannot_be_chosen_is_refused_with_the_mend(self, chosen, message):
        with pytest.raises(ValueError, match=message):
            mixture_figure(HEADS["real"], **chosen)


class TestTrails:
    def test_queries_differ_in_line_and_marker_and_not_by_colour_alone(self):
        for look in ("line", "marker", "size", "cue", "colour"):
            assert len({getattr(trail, look) for trail in style.TRAILS}) == len(style.TRAILS)

    def test_the_barbs_of_an_arrow_meet_at_its_tip_and_point_back(self):
        arrow = np.array([[[10.0, 20.0], [40.0, 60.0]]])
        barbs = arrows.barbs(arrow)
        back = (arrow[0, 0] - arrow[0, 1]) / 50
        for tip, end in barbs:
            np.testing.assert_allclose(tip, arrow[0, 1])
            assert (end - tip) @ back == pytest.approx(arrows.BARB * np.cos(arrows.SPREAD))
        assert np.allclose(barbs[:, 1].mean(axis=0) - arrow[0, 1], back * 8 * np.cos(arrows.SPREAD))

    def test_an_arrow_too_short_to_see_has_no_head(self):
        assert arrows.barbs(np.array([[[5.0, 5.0], [5.5, 5.0]]])).shape == (0, 2, 2)
        assert arrows.barbs(np.zeros((1, 2, 2))).shape == (0, 2, 2)


class TestPlane:
    @pytest.mark.parametrize("power", [1e-300, 1e-3, 1.0, 1e6, 1e300])
    def test_it_reaches_every_point_and_not_much_further(self, power):
        for size in np.geomspace(1, 9.99, 40):
            limit = plane.reach(np.array([[0.0, -size * power]]))
            assert size * power <= limit * 1.00001 <= 2.1 * size * power
        assert plane.reach(np.zeros((1, 2))) == 1

    def test_its_numbers_are_even_and_hold_zero(self):
        for limit in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 0.03, 6000.0):
            ticks = plane.Plane(limit, "a", "b").ticks
            assert ticks[0] == -limit
            assert ticks[len(ticks) // 2] == 0
            np.testing.assert_allclose(np.diff(ticks), ticks[1] - ticks[0])

    def test_across_is_to_the_right_and_up_is_upwards(self):
        square = plane.Plane(2.0, "a", "b")
        left, top, right, bottom = square.frame
        assert square.at(np.zeros(2)).tolist() == [(left + right) / 2, (top + bottom) / 2]
        across, up = square.at(np.array([[1.0, 0.0], [0.0, 1.0]])) - square.at(np.zeros(2))
        assert across[0] > 0 == across[1]
        assert up[1] < 0 == up[0]


class TestLabels:
    def test_without_room_a_name_is_left_out_rather_than_laid_over_another(self):
        points = [[10.0, 10.0]] * 40
        names = labels.place(points, [f"v{n}" for n in range(40)], (0, 0, 60, 60))
        assert 0 < len(names) < 40
        for one, other in itertools.combinations(names, 2):
            beside = one.box[2] <= other.box[0] or other.box[2] <= one.box[0]
            assert beside or one.box[3] <= other.box[1] or other.box[3] <= one.box[1]

    def test_what_is_to_be_avoided_is_not_covered(self):
        (free,) = labels.place([[50.0, 50.0]], ["v0"], (0, 0, 100, 100))
        (moved,) = labels.place([[50.0, 50.0]], ["v0"], (0, 0, 100, 100), [[free.x, free.y]])
        assert (moved.x, moved.y) != (free.x, free.y)
