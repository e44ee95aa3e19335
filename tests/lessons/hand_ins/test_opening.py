"""A function is opened from a reader's file, and whatever is wrong with the file is one line."""

import sys

import pytest

from attnlib.lessons.hand_ins import opening

RIGHT = "def attention(query, key, value):\n    return query + key + value\n"


@pytest.fixture
def file(tmp_path):
    def write(text, name="my_file.py"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def refusal(address):
    with pytest.raises(opening.HandInError) as caught, opening.opened(address):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_function_is_lent_by_its_name(file):
    with opening.opened(f"{file(RIGHT)}:attention") as function:
        assert function(1, 2, 3) == 6


def test_a_dot_leads_into_a_class_or_an_object(file):
    text = "class Head:\n    @staticmethod\n    def run(x):\n        return x\nhead = Head()\n"
    for name in ("Head.run", "head.run"):
        with opening.opened(f"{file(text)}:{name}") as function:
            assert function(3) == 3


def test_it_may_import_its_neighbour_even_while_it_is_called(file):
    file("NUMBER = 42\n", "hand_in_neighbour.py")
    text = "def late():\n    from hand_in_neighbour import NUMBER\n    return NUMBER\n"
    with opening.opened(f"{file(text)}:late") as function:
        assert function() == 42
    sys.modules.pop("hand_in_neighbour")


def test_it_runs_as_an_import_does_and_not_as_a_script(file):
    text = RIGHT + 'if __name__ == "__main__":\n    raise RuntimeError("as a script")\n'
    with opening.opened(f"{file(text)}:attention") as function:
        assert function.__module__ == opening.MODULE


def test_what_is_changed_in_the_file_is_read_anew_and_nothing_is_left_beside_it(file, tmp_path):
    for number in (1, 2):
        with opening.opened(f"{file(f'def f(): return {number}')}:f") as function:
            assert function() == number
    assert [path.name for path in tmp_path.iterdir()] == ["my_file.py"]


def test_python_is_left_as_it_was_whether_the_file_runs_or_not(file):
    before, modules = list(sys.path), set(sys.modules)
    with opening.opened(f"{file(RIGHT)}:attention"):
        assert sys.path != before
    refusal(f"{file('import sys; sys.path.clear(); 1 / 0')}:attention")
    assert sys.path == before
    assert set(sys.modules) == modules


@pytest.mark.parametrize("address", ["my_file.py", "my_file.py:", ":f", "", "a.py:2f", "C:\\a.py"])
def test_an_address_without_file_or_function_is_refused_with_an_example(address):
    assert opening.EXAMPLE in refusal(address)


def test_a_file_that_is_not_there_and_a_folder_are_named(tmp_path):
    assert refusal(f"{tmp_path}/none.py:f").startswith(f"there is no file {tmp_path}/none.py")
    assert "is a folder" in refusal(f"{tmp_path}:f")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n1 / 0\n", "line 2, ZeroDivisionError: division by zero"),
        ("\nimport no_such_library\n", "line 2, ModuleNotFoundError: No module named"),
        ("def f(:\n", "line 1, SyntaxError: invalid syntax"),
        ("def f():\n    return 1\n\nf(2)\n", "line 4, TypeError"),
        ("raise Exception('one\\ntwo')", "line 1, Exception: one"),
        ("raise KeyboardInterrupt", "line 1, KeyboardInterrupt"),
        ("class E(BaseException): pass\nraise E", "line 2, E"),
        (b"\xff\xfe", "SyntaxError"),
        # A ValueError before Python 3.11.4, a SyntaxError since.
        (b"x = 1\x00", "Error: source code string cannot contain null bytes"),
        ("import sys\nsys.exit(3)", "ends Python while it is run (exit status 3)"),
    ],
)
def test_a_file_that_cannot_be_run_is_told_in_one_line_with_its_own_line(file, text, words):
    path = file(text)
    told = refusal(f"{path}:f")
    assert told.startswith(path)
    assert words in told


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("atention", "has no atention: did you mean attention?"),
        ("x", "has no x: its functions are attention"),
        ("attention.inner", "has no attention.inner"),
        ("WEIGHTS", "WEIGHTS in"),
        ("Head", "is a class"),
    ],
)
def test_a_name_that_is_no_function_is_told_with_what_there_is(file, name, words):
    text = f"from math import sqrt\n{RIGHT}WEIGHTS = [1]\nclass Head: pass\n"
    assert words in refusal(f"{file(text)}:{name}")


def test_a_file_without_functions_says_so(file):
    assert refusal(f"{file('x = 1')}:f").endswith("it defines no function")


@pytest.mark.parametrize("name", ["my_file.py", "my_file.ipynb"])
def test_a_file_that_may_not_be_read_says_so(file, monkeypatch, name):
    path = file(RIGHT, name)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    assert refusal(f"{path}:attention").startswith(f"{path} could not be read: PermissionError")
