"""One weight to look at: 32 features, their products and their sum; then a softmax, key by key."""

from types import SimpleNamespace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from matplotlib.collections import PatchCollection
from matplotlib.text import Text

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons.one_weight import follow
from attnlib.views import style
from attnlib.views.real.one_score import MOST, BarsLayout, draw_bars, draw_sum, score_figure
from attnlib.views.real.one_weight import BAR, weight_page
from tests.authority import seeded
from tests.views.real_heads import FILE, HOSTILE, cut_words


def taken(query, key, value, tokens, asking, read):
    """One weight of a head of these inputs."""
    record = scaled_dot_product_self_attention(query, key, value)
    return follow(SimpleNamespace(tokens=tuple(tokens), layers=(record,)), 0, 0, asking, read)


def real():
    with np.load(FILE, allow_pickle=False) as stored:
        arrays = [stored[name][8:9] for name in ("query", "key", "value")]
        return taken(*arrays, stored["tokens"].tolist(), 10, 2)


def hostile(place):
    query, key, value, _ = seeded(1, len(HOSTILE), 5, 2, seed=4)
    return taken(query, key, value, HOSTILE, place, (place + 1) % len(HOSTILE))


def plain(width, scale=1.0):
    query, key, value, _ = seeded(1, 3, width, 2, seed=6)
    return taken(scale * query, key, value, ("a", "b", "c"), 2, 0)


CASES = {
    "a real head": real(),
    "one feature": plain(1),
    "as many features as there may be": plain(MOST),
    "tiny numbers": plain(4, 1e-9),
    "a query of zeros": plain(4, 0.0),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def one(request):
    return request.param


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


class TestScore:
    def test_the_bars_hold_query_key_and_products(self, one):
        found = score_figure(one).figure.findobj(PatchCollection)
        expected = (*one.features, one.features[0] * one.features[1])
        for bars, entries in zip(found, expected, strict=True):
            assert np.array_equal(bars.get_array(), entries)

    def test_what_is_positive_stands_up_and_what_is_negative_hangs_down(self, one):
        for panel, bars in enumerate(score_figure(one).figure.findobj(PatchCollection)):
            scale = one.features if panel < 2 else one.products
            zero = BarsLayout(4, len(one.products)).height_at(panel, 0.0, scale)
            for entry, path in zip(bars.get_array(), bars.get_paths(), strict=True):
                box = path.get_extents()
                assert (box.y1 if entry > 0 else box.y0) == pytest.approx(zero)

    def test_query_and_key_are_drawn_to_one_scale(self):
        query, key, _ = score_figure(real()).figure.findobj(PatchCollection)
        tall = [
            path.get_extents().height / abs(entry)
            for bars in (query, key)
            for path, entry in zip(bars.get_paths(), bars.get_array(), strict=True)
        ]
        assert tall == pytest.approx([tall[0]] * 64)
        assert query.get_clim() == key.get_clim()

    def test_the_stair_ends_at_the_raw_score(self, one):
        figure = score_figure(one).figure
        layout, axes = BarsLayout(4, len(one.products)), figure.axes[0]
        (title,) = [words for words in texts(figure) if words.startswith("running sum")]
        stair = draw_sum(axes, layout, 3, one.products)
        sums = np.cumsum(one.products)
        assert stair.get_ydata()[-1] == layout.height_at(3, sums[-1], sums)
        assert len(stair.get_ydata()) == 2 * len(one.products)
        score = float(title.rpartition(", ")[2].replace("\N{MINUS SIGN}", "-"))
        assert score == pytest.approx(one.raw_scores[one.key], abs=5e-4)

    def test_roles_are_told_by_border_and_by_word(self):
        figure = score_figure(real()).figure
        for bars, role in zip(
            figure.findobj(PatchCollection), ("query", "key", "score"), strict=True
        ):
            cue, line = style.ROLES[role].cue, bars.get_linestyle()[0][1]
            assert any(words.endswith(f"({cue})") for words in texts(figure))
            assert (line is None) == (role == "query")

    def test_nothing_is_cut_and_its_panels_lie_inside(self, one):
        figure = score_figure(one).figure
        assert cut_words(figure) == []
        layout = BarsLayout(4, len(one.products))
        for panel, scale in enumerate((*[one.features] * 2, one.products, one.products.cumsum())):
            heights = layout.height_at(panel, scale, scale)
            assert heights.min() >= layout.top(panel)
            assert heights.max() <= layout.top(panel) + 84 <= layout.height

    @pytest.mark.parametrize("place", range(len(HOSTILE)))
    def test_any_token_is_a_label(self, place):
        picture = score_figure(hostile(place))
        picture.figure.canvas.draw()
        assert cut_words(picture.figure) == []
        assert picture.description.endswith(".")

    def test_its_words_say_the_sum_and_what_brought_it(self):
        one, words = real(), score_figure(real()).description
        up, down = (one.products[sign * one.products > 0].sum() for sign in (1, -1))
        for number in (one.raw_scores[2], up, down, max(one.products, key=abs)):
            assert f"{number:.3f}".replace("-", "\N{MINUS SIGN}") in words

    def test_a_bar_can_be_found_by_its_height(self):
        one = real()
        axes = score_figure(one).figure.axes[0]
        bars = draw_bars(axes, BarsLayout(4, 32), 0, one.features[0], "query", one.features, "q")
        tallest = max(bars.get_paths(), key=lambda path: path.get_extents().height)
        assert bars.get_paths().index(tallest) == np.abs(one.features[0]).argmax()

    def test_more_features_than_there_is_room_for_are_refused(self):
        with pytest.raises(ValueError, match="room for 128 features, got 129"):
            score_figure(plain(MOST + 1))


class TestWeights:
    def rows(self, one):
        soup = BeautifulSoup(weight_page(one).html, "html.parser")
        return [
            (row.find("th").get_text(), [cell.get_text() for cell in row.find_all("td")], row)
            for row in soup.find("tbody").find_all("tr")
        ]

    def test_every_key_has_its_four_numbers(self, one):
        rows = self.rows(one)[:-1]
        stages = (one.raw_scores, one.scaled_scores, one.powers, one.weights)
        for key, (name, cells, _) in enumerate(rows):
            assert name == f"{one.tokens[key]} ·{key}"
            shown = [float(cell.replace("\N{MINUS SIGN}", "-")) for cell in cells[:4]]
            assert shown == pytest.approx([stage[key] for stage in stages], rel=1e-5, abs=5e-4)

    def test_the_last_row_has_the_sums(self, one):
        name, cells, _ = self.rows(one)[-1]
        assert name == "sum"
        assert [cell for cell in cells if cell] == [f"{one.total:.3f}", "1.000000"]

    def test_the_followed_key_alone_has_a_frame(self, one):
        framed = [style.CHOSEN_MARK in str(row) for _, _, row in self.rows(one)]
        assert framed == [key == one.key for key in range(len(one.tokens))] + [False]

    def test_a_bar_is_as_long_as_its_weight(self, one):
        for weight, (_, _, row) in zip(one.weights, self.rows(one), strict=False):
            assert f"width:{round(BAR * weight)}px" in row.find_all("span")[-1]["style"]

    def test_the_equation_and_the_words_lead_to_the_weight(self, one):
        weight = f"{one.weights[one.key]:.6f}"
        page = weight_page(one)
        soup = BeautifulSoup(page.html, "html.parser")
        assert soup.find_all("div")[-1].get_text().endswith(f" = {weight}")
        assert repr(page).endswith(f" = {weight}.")
        assert f"divided by √{len(one.products)}" in repr(page)

    @pytest.mark.parametrize("place", range(len(HOSTILE)))
    def test_any_token_is_text(self, place):
        page = weight_page(hostile(place))
        soup = BeautifulSoup(page.html, "html.parser")
        assert {tag.name for tag in soup.find_all()} <= {
            *("div", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "bdi", "span"),
        }
        assert "$x$" not in page.html
        page.html.encode()
