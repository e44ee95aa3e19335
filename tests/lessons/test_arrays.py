"""A reader's own Q, K and V: every layout comes to the same heads, and refusals say the mend."""

import itertools
import json
import struct
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from attnlib import scaled_dot_product_self_attention
from attnlib.lessons import arrays
from tests.authority import RECTANGULAR, slow_head

LENGTHS = {"batch": 2, "heads": 3, "tokens": 5, "width": 4}
LAYOUTS = [
    " ".join(order)
    for axes in (
        ("tokens", "width"),
        ("batch", "tokens", "width"),
        ("heads", "tokens", "width"),
        ("batch", "heads", "tokens", "width"),
    )
    for order in itertools.permutations(axes)
]


def drawn(layout, seed=0):
    """Q, K and V in one layout, values one wider than the rest."""
    draw = np.random.default_rng(seed).standard_normal
    lengths = [LENGTHS | {"width": width} for width in (4, 4, 5)]
    shapes = [tuple(each[axis] for axis in layout.split()) for each in lengths]
    return dict(zip(("query", "key", "value"), map(draw, shapes), strict=True))


def saved(folder, suffix=".npz", metadata=None, **named):
    path = folder / f"heads{suffix}"
    if suffix == ".npz":
        np.savez(path, **named)
    else:
        save_file(named, path, metadata=metadata)
    return path


def one_head(array, layout, item, head):
    """The matrix [tokens, width] of one head, entry by entry."""
    axes = layout.split()
    width = array.shape[axes.index("width")]
    matrix = np.empty((LENGTHS["tokens"], width))
    for t, f in np.ndindex(matrix.shape):
        place = {"batch": item, "heads": head, "tokens": t, "width": f}
        matrix[t, f] = array[tuple(place[axis] for axis in axes)]
    return matrix


def refusal(path, layout="batch tokens width", **options):
    with pytest.raises(arrays.ArraysError) as caught:
        arrays.load(path, layout, **options)
    assert isinstance(caught.value, ValueError)
    return str(caught.value)


@pytest.fixture
def good():
    return drawn("batch tokens width")


class TestLayouts:
    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_every_order_of_axes_leads_to_the_same_heads(self, tmp_path, layout):
        named = drawn(layout)
        loaded = arrays.load(saved(tmp_path, **named), layout)
        heads = LENGTHS["heads"] if "heads" in layout else 1
        batch = LENGTHS["batch"] if "batch" in layout else 1
        assert loaded.heads == heads
        for operand, array in named.items():
            ready = getattr(loaded, operand)
            assert ready.shape == (batch * heads, 5, 5 if operand == "value" else 4)
            for b, h in np.ndindex(batch, heads):
                expected = one_head(array, layout, b, h)
                np.testing.assert_array_equal(ready[b * heads + h], expected)

    def test_an_exchanged_layout_would_be_seen(self, tmp_path):
        named = drawn("batch heads tokens width")
        path = saved(tmp_path, **{name: array[:, :2] for name, array in named.items()})
        right = arrays.load(path, "batch heads tokens width")
        wrong = arrays.load(path, "heads batch tokens width")
        assert right.query.shape == wrong.query.shape
        assert not np.array_equal(right.query, wrong.query)

    def test_what_is_loaded_runs_through_the_head(self, tmp_path):
        query, key, value, grad_output = RECTANGULAR
        loaded = arrays.load(saved(tmp_path, Q=query, K=key, V=value), "batch tokens width")
        head = scaled_dot_product_self_attention(loaded.query, loaded.key, loaded.value)
        expected = slow_head(query, key, value, grad_output)
        np.testing.assert_allclose(head.output, expected.output, rtol=0, atol=1e-13)

    def test_commas_may_part_the_axes(self, tmp_path, good):
        path = saved(tmp_path, **good)
        assert arrays.load(path, "batch, tokens, width").query.shape == (2, 5, 4)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "bool"])
    @pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
    def test_numbers_keep_their_type(self, tmp_path, good, dtype, suffix):
        named = {name: (array > 0).astype(dtype) for name, array in good.items()}
        loaded = arrays.load(saved(tmp_path, suffix, **named), "batch tokens width")
        assert loaded.query.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(loaded.value, named["value"])
        scaled_dot_product_self_attention(loaded.query, loaded.key, loaded.value)

    def test_the_record_is_read_only(self, tmp_path, good):
        loaded = arrays.load(saved(tmp_path, **good), "batch tokens width")
        with pytest.raises(ValueError, match="read-only"):
            loaded.query[0, 0, 0] = 1
        with pytest.raises(AttributeError):
            loaded.query = loaded.key

    def test_the_record_says_its_sizes(self, tmp_path):
        path = saved(tmp_path, **drawn("tokens heads width"))
        assert repr(arrays.load(path, "tokens heads width")) == (
            "Arrays(batch=3, heads=3, tokens=5, key_width=4, value_width=5, dtype=float64)"
        )


class TestNames:
    @pytest.mark.parametrize("names", ["query key value", "q k v", "Q K V", "Queries Keys Values"])
    @pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
    def test_usual_names_are_recognized(self, tmp_path, good, names, suffix):
        renamed = dict(zip(names.split(), good.values(), strict=True))
        loaded = arrays.load(saved(tmp_path, suffix, **renamed), "batch tokens width")
        for operand, array in good.items():
            np.testing.assert_array_equal(getattr(loaded, operand), array)

    def test_other_names_can_be_given(self, tmp_path, good):
        named = {"a": good["query"], "b": good["key"], "c": good["value"], "q": np.ones(3)}
        path = saved(tmp_path, **named)
        loaded = arrays.load(path, "batch tokens width", query="a", key="b", value="c")
        np.testing.assert_array_equal(loaded.query, good["query"])

    def test_one_array_may_serve_twice(self, tmp_path, good):
        path = saved(tmp_path, x=good["query"], value=good["value"])
        loaded = arrays.load(path, "batch tokens width", query="x", key="x")
        np.testing.assert_array_equal(loaded.query, loaded.key)

    def test_a_missing_array_is_told_with_what_is_there(self, tmp_path, good):
        said = refusal(saved(tmp_path, query=good["query"], schluessel=good["key"]))
        assert "no array called key or keys or k or K" in said
        assert "query, schluessel" in said
        assert "`key='query'`" in said

    def test_a_wrong_name_is_told_with_what_is_there(self, tmp_path, good):
        said = refusal(saved(tmp_path, **good), value="w")
        assert "no array 'w'" in said
        assert "query, key, value" in said

    def test_a_long_list_of_names_is_cut(self, tmp_path):
        said = refusal(saved(tmp_path, **{f"layer{n}": np.ones(1) for n in range(40)}))
        assert "layer11 and 28 more" in said

    def test_two_arrays_called_alike_are_not_chosen_between(self, tmp_path, good):
        said = refusal(saved(tmp_path, **good, K=good["key"]))
        assert "one array for key" in said
        assert "`key='key'`" in said

    def test_an_empty_file_says_so(self, tmp_path):
        assert "It holds nothing" in refusal(saved(tmp_path))


class TestLabels:
    @pytest.mark.parametrize("name", ["labels", "tokens", "Tokens"])
    @pytest.mark.parametrize("kind", ["U9", "S9"])
    def test_labels_are_found(self, tmp_path, good, name, kind):
        words = np.array(["[CLS]", "a", "<b>", "&", "[SEP]"]).astype(kind)
        loaded = arrays.load(saved(tmp_path, **good, **{name: words}), "batch tokens width")
        assert loaded.labels == ("[CLS]", "a", "<b>", "&", "[SEP]")

    def test_numbers_of_tokens_become_text(self, tmp_path, good):
        path = saved(tmp_path, **good, tokens=np.array([101, 7, 8, 9, 102]))
        assert arrays.load(path, "batch tokens width").labels == ("101", "7", "8", "9", "102")

    def test_labels_can_be_named_or_given(self, tmp_path, good):
        path = saved(tmp_path, **good, words=np.array(list("abcde")))
        assert arrays.load(path, "batch tokens width").labels[0] == "token 0"
        named = arrays.load(path, "batch tokens width", labels="words")
        given = arrays.load(path, "batch tokens width", labels=list("abcde"))
        assert named.labels == given.labels == tuple("abcde")

    def test_labels_of_safetensors_stand_in_its_metadata(self, tmp_path, good):
        told = {"tokens": json.dumps(["ש", "🦜", "c", "d", "e"])}
        path = saved(tmp_path, ".safetensors", told, **good)
        assert arrays.load(path, "batch tokens width").labels == ("ש", "🦜", "c", "d", "e")

    def test_metadata_that_is_no_list_is_refused(self, tmp_path, good):
        path = saved(tmp_path, ".safetensors", {"tokens": "a b c d e"}, **good)
        assert "tokens in the metadata" in refusal(path)
        assert "json.dumps" in refusal(path)

    @pytest.mark.parametrize(
        "labels", [["a", "b"], np.array(["a"] * 4), np.array([["a"] * 5])], ids=len
    )
    def test_another_number_of_labels_is_refused(self, tmp_path, good, labels):
        stored = refusal(saved(tmp_path, **good, labels=np.array(labels)))
        assert "must hold 5 labels, one for each place on the axis tokens" in stored
        assert "`labels=[...]`" in stored
        given = refusal(saved(tmp_path, **good), labels=list(labels)[:4])
        assert "must hold 5 labels" in given

    def test_labels_that_are_missing_are_told(self, tmp_path, good):
        assert "no labels 'words'" in refusal(saved(tmp_path, **good), labels="words")

    def test_two_sets_of_labels_are_not_chosen_between(self, tmp_path, good):
        words = np.array(list("abcde"))
        said = refusal(saved(tmp_path, **good, labels=words, tokens=words))
        assert "one array for labels" in said


class TestAxes:
    def test_a_layout_is_never_guessed(self, tmp_path, good):
        said = refusal(saved(tmp_path, **good), None)
        assert "query of shape (2, 5, 4)" in said
        assert "layout='batch tokens width' or layout='heads tokens width'" in said

    @pytest.mark.parametrize(
        ("layout", "problem"),
        [
            ("batch tokens features", "features is none of them"),
            ("batch tokens tokens", "tokens comes twice"),
            ("batch heads width", "tokens is missing"),
            ("", "tokens is missing"),
            (3, "tokens is missing"),
        ],
    )
    def test_a_layout_that_names_no_axes_is_refused(self, tmp_path, good, layout, problem):
        said = refusal(saved(tmp_path, **good), layout)
        assert problem in said
        assert "batch, heads, tokens, width" in said

    def test_another_number_of_axes_is_told_with_layouts_that_fit(self, tmp_path, good):
        good["key"] = good["key"][None]
        said = refusal(saved(tmp_path, **good))
        assert "key must have the 3 axes of layout='batch tokens width', got 4" in said
        assert "layout='batch heads tokens width'" in said

    @pytest.mark.parametrize("axes", [1, 5])
    def test_arrays_of_no_layout_are_told_what_to_save(self, tmp_path, axes):
        array = np.ones((1,) * axes)
        said = refusal(saved(tmp_path, q=array, k=array, v=array))
        assert "save two to four axes" in said

    @pytest.mark.parametrize("operand", ["key", "value"])
    @pytest.mark.parametrize(
        ("axis", "mend"),
        [
            ("batch", "nothing is broadcast"),
            ("heads", "several heads' queries share keys and values"),
            ("tokens", "all three come from the same tokens"),
        ],
    )
    def test_lengths_that_differ_are_told_by_array_and_axis(self, tmp_path, operand, axis, mend):
        layout = "batch tokens heads width"
        named = drawn(layout)
        number = layout.split().index(axis)
        named[operand] = named[operand].take([0], axis=number)
        said = refusal(saved(tmp_path, **named), layout)
        assert f"the axis {axis} (axis {number}) must have one length" in said
        assert f"{operand} has 1" in said
        assert mend in said

    def test_keys_wider_than_queries_are_refused(self, tmp_path, good):
        good["key"] = np.ones((2, 5, 6))
        said = refusal(saved(tmp_path, **good))
        assert "the axis width (axis 2)" in said
        assert "query has 4, key has 6;" in said


class TestFiles:
    def test_python_objects_are_never_loaded(self, tmp_path, good):
        class Trap:
            def __reduce__(self):
                return pytest.fail, ("unpickled",)

        good["key"] = np.array([Trap()], dtype=object)
        said = refusal(saved(tmp_path, **good))
        assert "key in" in said
        assert "could run any code" in said

    def test_a_pickle_that_is_called_npz_is_never_loaded(self, tmp_path):
        path = tmp_path / "heads.npz"
        path.write_bytes(b"cpytest\nfail\n(S'unpickled'\ntR.")
        assert "could run any code" in refusal(path)

    @pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
    @pytest.mark.parametrize("part", [0, 0.5, 0.99])
    def test_a_file_cut_short_is_told(self, tmp_path, good, suffix, part):
        path = saved(tmp_path, suffix, **good)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(part * len(whole))])
        assert "can't be read" in refusal(path)

    def test_a_changed_byte_is_told_by_its_array(self, tmp_path, good):
        path = saved(tmp_path, **good)
        changed = bytearray(path.read_bytes())
        changed[changed.index(b"value.npy") + 300] ^= 255
        path.write_bytes(changed)
        said = refusal(path)
        assert "value in" in said
        assert "damaged" in said

    def test_a_single_array_is_told(self, tmp_path):
        np.save(tmp_path / "one.npy", np.ones(3))
        (tmp_path / "one.npy").rename(tmp_path / "heads.npz")
        assert "np.savez" in refusal(tmp_path / "heads.npz")

    @pytest.mark.parametrize(
        ("name", "mend"),
        [
            ("heads.npy", "np.savez"),
            ("heads", "np.savez"),
            ("heads.csv", "np.savez"),
            ("heads.pt", "safetensors.torch.save_file"),
            ("heads.PKL", "safetensors.torch.save_file"),
        ],
    )
    def test_another_kind_of_file_is_told_what_to_save(self, tmp_path, name, mend):
        said = refusal(tmp_path / name)
        assert name in said
        assert mend in said

    def test_a_missing_file_is_told_where_it_was_sought(self, tmp_path):
        assert str(tmp_path / "none.npz") in refusal(tmp_path / "none.npz")
        assert "no such file" in refusal(str(tmp_path / "none.npz"))

    def test_a_folder_is_told(self, tmp_path):
        (tmp_path / "heads.npz").mkdir()
        assert "it is a folder" in refusal(tmp_path / "heads.npz")

    @pytest.mark.parametrize("kind", ["BF16", "F8_E4M3"])
    def test_numbers_that_numpy_has_no_type_for_are_told(self, tmp_path, kind):
        size = {"BF16": 2, "F8_E4M3": 1}[kind]
        entry = {"dtype": kind, "shape": [1, 1], "data_offsets": [0, size]}
        header = json.dumps(
            {"q": entry}
            | {
                name: entry | {"data_offsets": [n * size, (n + 1) * size]}
                for n, name in ((1, "k"), (2, "v"))
            }
        ).encode()
        path = tmp_path / "heads.safetensors"
        path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(3 * size))
        said = refusal(path, "tokens width")
        assert f"q in {path} holds {kind}" in said
        assert "tensor.float()" in said

    @pytest.mark.parametrize("dtype", ["complex64", "U3", "longdouble", "M8[s]"])
    def test_what_is_no_real_number_is_refused(self, tmp_path, good, dtype):
        good["value"] = good["value"].astype("i8").astype(dtype)
        said = refusal(saved(tmp_path, **good))
        assert "value must hold real numbers" in said

    def test_a_missing_library_is_told_how_to_install(self, tmp_path, good, monkeypatch):
        path = saved(tmp_path, ".safetensors", **good)
        monkeypatch.setitem(sys.modules, "safetensors", None)
        with pytest.raises(ImportError, match="pip install safetensors tokenizers"):
            arrays.load(path, "batch tokens width")
