"""The panel keeps its shape and its head, whatever is done to it and around it."""

from playwright.sync_api import expect

from attnlib.explorers import HeadExplorer
from tests.authority import WORKED

ENTRIES = ("Q, query 0, feature 0", "K, key 0, feature 0")
OBSERVE = """
redraws = []
for each in explorers:
    each.pictures["head"].observe(lambda change: redraws.append(change.new), "value")
"""
SOURCES = "all => all.map((image) => image.src)"
DRAW = """
import matplotlib.pyplot as plt
from IPython.display import display
drawing, moved_meanwhile = True, []
explorer.pictures["head"].observe(lambda change: moved_meanwhile.append(drawing), "value")
for count in range(50):
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot(range(count + 2), label=f"line {count}")
    axes.set(title=f"figure {count}", xlabel="steps")
    axes.legend()
    display(figure)
    plt.close(figure)
drawing = False
"""


def fill_with_too_large_a_number(panel):
    for entry in ENTRIES:
        panel.type(entry, "1e200")
    panel.refusal.wait_for()


class TestRefusals:
    def test_a_setting_that_cannot_be_drawn_is_told_in_the_panel(self, scratch, panel):
        panel.type(ENTRIES[0], "1e200")
        panel.wait_for_picture(picture(query=[[1e200, 3], [2, -1]]))
        last_good = panel.png()
        panel.type(ENTRIES[1], "1e200")
        expect(panel.refusal).to_contain_text("raw query-key scores")
        expect(panel.refusal).to_contain_text("scale the inputs down")
        expect(panel.image).to_have_css("outline-style", "dashed")
        assert panel.png() == last_good
        assert scratch.errors() == []

    def test_the_next_good_value_draws_again(self, panel):
        fill_with_too_large_a_number(panel)
        for entry, value in zip(ENTRIES, ("0", "3"), strict=True):
            panel.type(entry, value)
        panel.wait_for_picture(picture())
        expect(panel.refusal).to_be_hidden()
        expect(panel.image).not_to_have_css("outline-style", "dashed")


def picture(**inputs):
    explorer = HeadExplorer()
    explorer.set(**inputs)
    return explorer.pictures["head"].value


def test_a_traceback_would_be_seen(scratch):
    scratch.start("1 / 0")
    expect(scratch.root.get_by_text("ZeroDivisionError").first).to_be_visible()
    assert "ZeroDivisionError" in scratch.errors()[0]
    assert scratch.ask("print(1)") == "1"


class TestHeight:
    def test_it_stays_whatever_is_done(self, panel):
        height = panel.root.bounding_box()["height"]
        panel.watch()
        panel.press(ENTRIES[0], "ArrowRight")
        panel.root.get_by_role("button", name="Weights").first.click()
        expect(panel.root.locator(".attnlib-reading")).to_be_visible()
        fill_with_too_large_a_number(panel)
        for name in ("Undo", "Undo", "Redo", "Reset"):
            panel.root.get_by_role("button", name=name, exact=True).click()
        panel.wait_for_picture(picture())
        for preset in panel.root.get_by_label("Start from").locator("option").all():
            before = panel.source()
            panel.root.get_by_label("Start from").select_option(preset.get_attribute("value"))
            if preset.get_attribute("value") != "worked-example":
                panel.wait_for_another_picture(before)
        for key in ("End", "Home"):
            panel.press_width(key)
        assert panel.seen().heights == [height]

    def test_controls_and_pictures_fit_on_one_small_screen(self, panel):
        box = panel.root.bounding_box()
        assert box["width"] <= 960
        assert box["height"] <= 640


class TestRunningTheCellAgain:
    def test_a_move_is_drawn_once(self, scratch, panel):
        for _ in range(4):
            panel = scratch.fresh_panel()
        scratch.ask(OBSERVE)
        panel.press(ENTRIES[0], "ArrowRight")
        assert scratch.ask("print(len(explorers) > 4, len(redraws))") == "True 1"
        assert scratch.ask("print(explorer.head.query[0, 0, 0])") == "0.25"


class TestBesideARunningCell:
    def test_figures_and_panel_are_both_whole(self, scratch, panel):
        slider, figures = panel.slider(ENTRIES[0]), scratch.cells.last.locator("img")
        # ipykernel 7.4 hands a message to the thread that used the comm last: the cell's at first.
        panel.press(ENTRIES[0], "ArrowRight")
        panel.press(ENTRIES[0], "ArrowLeft")
        panel.wait_for_picture(picture())
        scratch.start(DRAW)
        slider.focus()
        expect(figures).not_to_have_count(50)
        while figures.count() < 50:
            slider.press("ArrowRight", delay=30)
            slider.press("ArrowLeft", delay=30)
        drawn = figures.evaluate_all(SOURCES)
        panel.wait_for_picture(picture())
        expect(panel.refusal).to_be_hidden()
        assert scratch.errors() == []
        # Otherwise nothing ran beside anything.
        assert int(scratch.ask("print(sum(moved_meanwhile))")) > 10

        scratch.start(DRAW)
        expect(figures).to_have_count(50, timeout=60_000)
        assert drawn == figures.evaluate_all(SOURCES)


class TestFoldedSliders:
    def test_a_wider_head_shows_every_number_of_one_row_under_its_name(self, panel):
        panel.press_width("End")
        features = range(8)
        handles = [panel.slider(f"Q, query 0, feature {f}") for f in features]
        expect(handles[-1]).to_be_visible()
        for f, handle in zip(features, handles, strict=True):
            expect(handle).to_have_js_property("min", "-6")
            expect(handle).to_have_js_property("max", "6")
            assert panel.value(f"Q, query 0, feature {f}") == [0, 3, 0, 0, 0, 0, 0, 0][f]
            assert handle.locator("..").inner_text() == str(f)

    def test_another_row_is_chosen_and_moved(self, panel):
        panel.press_width("End")
        panel.root.get_by_label("Row of Q to edit").select_option("q₁")
        assert panel.value("Q, query 1, feature 1") == -1
        panel.press("Q, query 1, feature 7", "ArrowRight")
        wide = [[[*row, *[0] * 6] for row in matrix] for matrix in (WORKED[0][0], WORKED[1][0])]
        wide[0][1][7] = 0.25
        panel.wait_for_picture(picture(query=wide[0], key=wide[1]))
