"""A learner's copies: made once, never overwritten, never lost."""

import os
from datetime import datetime

import copies
import pytest

NOW = datetime(2026, 11, 30, 12, 5, 9)


@pytest.fixture
def source(tmp_path):
    """Two chapters, and what isn't handed out."""
    folder = tmp_path / "notebooks"
    (folder / ".ipynb_checkpoints").mkdir(parents=True)
    (folder / "01_one.ipynb").write_text("one, as handed out")
    (folder / "02_two.ipynb").write_text("two, as handed out")
    (folder / ".hidden.ipynb").write_text("nobody's")
    return folder


@pytest.fixture
def mine(source, tmp_path):
    """A learner's folder, after a first visit."""
    folder = tmp_path / "home" / "attnlib" / "notebooks"
    copies.bring(source, folder)
    return folder


def held(folder):
    """What stands in a folder, by name."""
    return {path.name: path.read_text() for path in folder.iterdir()}


class TestBring:
    def test_every_chapter_is_copied_and_nothing_hidden(self, source, mine):
        assert held(mine) == {
            "01_one.ipynb": "one, as handed out",
            "02_two.ipynb": "two, as handed out",
        }

    def test_what_the_learner_wrote_is_never_touched(self, source, mine):
        (mine / "01_one.ipynb").write_text("mine")
        (source / "01_one.ipynb").write_text("one, a second edition")
        assert copies.bring(source, mine) == []
        assert held(mine)["01_one.ipynb"] == "mine"

    def test_what_the_learner_removed_or_the_teacher_added_comes(self, source, mine):
        (mine / "01_one.ipynb").unlink()
        (source / "03_three.ipynb").write_text("three")
        assert copies.bring(source, mine) == ["01_one.ipynb", "03_three.ipynb"]

    def test_a_copy_is_a_file_of_its_own(self, source, mine):
        (mine / "02_two.ipynb").write_text("mine")
        assert (source / "02_two.ipynb").read_text() == "two, as handed out"

    def test_a_copy_can_be_read_by_its_owner_only(self, mine):
        assert mine.stat().st_mode & 0o077 == 0
        assert all(path.stat().st_mode & 0o077 == 0 for path in mine.iterdir())

    def test_a_dangling_link_is_the_learners_own_too(self, source, mine, tmp_path):
        (mine / "01_one.ipynb").unlink()
        (mine / "01_one.ipynb").symlink_to(tmp_path / "elsewhere")
        assert copies.bring(source, mine) == []
        assert not (tmp_path / "elsewhere").exists()

    def test_a_copy_that_breaks_off_leaves_nothing(self, source, mine, monkeypatch):
        (mine / "01_one.ipynb").unlink()

        def full(*_):
            raise OSError("No space left on device")

        monkeypatch.setattr(copies.shutil, "copyfileobj", full)
        with pytest.raises(OSError, match="No space"):
            copies.bring(source, mine)
        assert set(held(mine)) == {"02_two.ipynb"}


class TestAfresh:
    def test_the_chapter_is_as_handed_out_and_the_old_one_is_kept(self, source, mine):
        (mine / "01_one.ipynb").write_text("mine")
        name, kept = copies.afresh(source, mine, "01", NOW)
        assert (name, kept) == ("01_one.ipynb", "01_one_kept_2026-11-30_12-05-09.ipynb")
        assert held(mine)[name] == "one, as handed out"
        assert held(mine)[kept] == "mine"

    def test_twice_in_one_second_keeps_both(self, source, mine):
        for text in ("first", "second", "third"):
            (mine / "01_one.ipynb").write_text(text)
            copies.afresh(source, mine, "01", NOW)
        assert {"first", "second", "third"} <= set(held(mine).values())

    def test_a_chapter_that_is_gone_is_brought(self, source, mine):
        (mine / "02_two.ipynb").unlink()
        assert copies.afresh(source, mine, "02_two.ipynb") == ("02_two.ipynb", None)

    @pytest.mark.parametrize("wanted", ["", "0", "three", "/"])
    def test_none_or_several_is_refused_with_the_names(self, source, mine, wanted):
        before = held(mine)
        with pytest.raises(LookupError, match=r"01_one\.ipynb, 02_two\.ipynb"):
            copies.afresh(source, mine, wanted)
        assert held(mine) == before

    def test_no_path_leads_out_of_the_chapters(self, source, mine, tmp_path):
        (tmp_path / "01_secret").write_text("secret")
        assert copies.afresh(source, mine, "../notebooks/01")[0] == "01_one.ipynb"
        assert os.listdir(mine.parent) == ["notebooks"]
