"""The variance table sets what is measured beside what is expected."""

from attnlib.lessons import score_variance
from attnlib.views.score_variance import variance_page
from tests.views import reading


def test_it_sets_measured_beside_expected_numbers():
    kinds = score_variance.measure(16, 500)
    page = variance_page(kinds)
    (table,) = reading.Page(page.html).tables
    assert table.title == "Dot products of 16 components"
    assert "500 pairs" in table.caption
    assert table.rows == [kind.name for kind in kinds]
    assert table.texts == [
        [
            f"{number:.2f}".replace("-", "\N{MINUS SIGN}")
            for number in (
                kind.expected_mean,
                kind.mean,
                kind.expected_variance,
                kind.variance,
            )
        ]
        for kind in kinds
    ]
    assert f"variance {kinds[0].variance:.2f}, expected 16" in page.description


def test_it_uses_only_what_an_untrusted_notebook_keeps():
    read = reading.Page(variance_page(score_variance.measure(2, 100)).html)
    assert read.tags <= reading.TAGS
    assert read.attributes <= reading.ATTRIBUTES
