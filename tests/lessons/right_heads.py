"""Right heads, written in really different ways: none of them may be accused of anything.

Each takes (query, key, value). They share no code but `softmax`, so that one slip is not in all.
"""

import functools
import math
import random
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np

from attnlib.core import head as core_head
from attnlib.core import tape

RIGHT_HEADS = {}
"""What is special about a head -> the head."""


def right(what):
    """Enter a head under what is special about it."""

    def enter(head):
        RIGHT_HEADS[what] = head
        return head

    return enter


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def root(query):
    return math.sqrt(query.shape[-1])


# How the scores are made


@right("einsum throughout")
def einsum_throughout(query, key, value):
    scores = np.einsum("bqd,bkd->bqk", query, key) / np.sqrt(query.shape[-1])
    return np.einsum("bqk,bkv->bqv", softmax(scores), value)


@right("products spread out by broadcasting")
def broadcast(query, key, value):
    scores = (query[:, :, None, :] * key[:, None, :, :]).sum(axis=-1) * query.shape[2] ** -0.5
    return (softmax(scores)[..., None] * value[:, None]).sum(axis=2)


@right("all pairs of all items, then the diagonal of the batch")
def diagonal_of_all_pairs(query, key, value):
    everywhere = np.tensordot(query, key, axes=(2, 2))
    scores = np.einsum("bqbk->bqk", everywhere) / root(query)
    return softmax(scores) @ value


@right("one long sequence of B*T tokens, other items kept out with -inf")
def one_long_sequence(query, key, value):
    batch, tokens, width = query.shape
    flat = query.reshape(batch * tokens, width) @ key.reshape(batch * tokens, width).T
    item = np.repeat(np.arange(batch), tokens)
    flat = np.where(item[:, None] == item, flat / np.sqrt(width), -np.inf)
    if batch == 0:
        return np.zeros(value.shape)
    return (softmax(flat) @ value.reshape(batch * tokens, -1)).reshape(value.shape)


@right("a heads axis of one, put in and taken out")
def heads_axis(query, key, value):
    query, key, value = (x[:, None] for x in (query, key, value))
    return (softmax(query @ key.mT / root(query)) @ value)[:, 0]


@right("np.vectorize over rows")
def vectorized_rows(query, key, value):
    dot = np.vectorize(np.dot, signature="(d),(d)->()", otypes=[float])
    if len(query) == 0:
        return value.astype(float)
    scores = dot(query[:, :, None], key[:, None]) / root(query)
    return softmax(scores) @ value


@right("one apply_along_axis a stage")
def along_axis(query, key, value):
    if len(query) == 0:
        return np.zeros(value.shape)
    scores = query @ key.swapaxes(1, 2) / root(query)
    return np.apply_along_axis(softmax, 2, scores) @ value


# Where the scale stands


@right("the fourth root on both sides")
def fourth_roots(query, key, value):
    quarter = query.shape[-1] ** 0.25
    return softmax((query / quarter) @ (key / quarter).transpose(0, 2, 1)) @ value


@right("the fourth root on both sides, its raw scores handed in")
def fourth_roots_with_stages(query, key, value):
    quarter = query.shape[-1] ** 0.25
    scores = (query / quarter) @ (key / quarter).transpose(0, 2, 1)
    weights = softmax(scores)
    return {
        "raw_scores": scores,
        "scaled_scores": scores,
        "weights": weights,
        "output": weights @ value,
    }


@right("Q scaled first")
def query_scaled_first(query, key, value):
    return softmax((query * query.shape[-1] ** -0.5) @ np.swapaxes(key, -1, -2)) @ value


@right("Q scaled first, its raw scores handed in")
def query_scaled_first_with_stages(query, key, value):
    raw = (query / root(query)) @ key.mT
    return {"raw_scores": raw, "weights": softmax(raw), "output": softmax(raw) @ value}


@right("K scaled first, in a copy of its own")
def key_scaled_first(query, key, value):
    key = key.astype(np.result_type(key, 1.0))
    key /= np.sqrt(key.shape[2])
    return softmax(query @ key.mT) @ value


@right("the scale inside the exponent")
def scale_in_exponent(query, key, value):
    raw = query @ key.mT
    powers = np.exp((raw - raw.max(axis=2, keepdims=True)) / root(query))
    return powers / powers.sum(axis=2, keepdims=True) @ value


# How softmax is taken


@right("log-softmax, then exp")
def log_softmax(query, key, value):
    scores = query @ key.mT / root(query)
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.exp(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))) @ value


@right("logaddexp for the denominator")
def logaddexp(query, key, value):
    scores = query @ key.mT / root(query)
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)) @ value


@right("powers of two")
def powers_of_two(query, key, value):
    scores = query @ key.mT / root(query)
    powers = np.exp2((scores - scores.max(axis=-1, keepdims=True)) * math.log2(math.e))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@right("another constant subtracted")
def other_constant(query, key, value):
    scores = query @ key.mT / root(query)
    powers = np.exp(scores - (scores.max(axis=-1, keepdims=True) - 7.5))
    return powers / powers.sum(axis=-1, keepdims=True) @ value


@right("one over a sum of exponentials of differences, which may overflow to infinity")
def differences(query, key, value):
    scores = query @ key.mT / root(query)
    ratios = np.exp(scores[..., None, :] - scores[..., :, None])
    return 1 / ratios.sum(axis=-1) @ value


@right("softmax taken over the first axis of the transposed scores")
def transposed_softmax(query, key, value):
    by_key = key @ query.mT / root(query)
    powers = np.exp(by_key - by_key.max(axis=1, keepdims=True))
    return (value.mT @ (powers / powers.sum(axis=1, keepdims=True))).mT


@right("normalized after the mixture")
def normalized_last(query, key, value):
    scores = query @ key.mT / root(query)
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers @ value / powers.sum(axis=-1, keepdims=True)


@right("softmax in a stream, one key at a time")
def streaming(query, key, value):
    best = np.full(query.shape[:2], -np.inf)
    total = np.zeros(query.shape[:2])
    mixed = np.zeros((*query.shape[:2], value.shape[2]))
    for t in range(key.shape[1]):
        score = np.einsum("bqd,bd->bq", query, key[:, t]) / root(query)
        higher = np.maximum(best, score)
        kept, added = np.exp(best - higher), np.exp(score - higher)
        total = total * kept + added
        mixed = mixed * kept[..., None] + added[..., None] * value[:, None, t]
        best = higher
    return mixed / total[..., None]


@right("keys met in a random order")
def random_order(query, key, value):
    order = np.random.permutation(key.shape[1])  # noqa: NPY002
    return softmax(query @ key[:, order].mT / root(query)) @ value[:, order]


# A mask that masks nothing


@right("a mask of all True, then renormalized")
def open_mask(query, key, value):
    weights = softmax(query @ key.mT / root(query)) * np.ones(key.shape[1], dtype=bool)
    return weights / weights.sum(axis=-1, keepdims=True) @ value


@right("a mask of zeros added, and other arguments with defaults")
def zeros_added(query, key, value, mask=None, dropout=0.0, *, training=False):
    tokens = key.shape[1]
    mask = np.zeros((tokens, tokens), dtype=query.dtype) if mask is None else mask
    return softmax(query @ key.mT / root(query) + mask) @ value


# Loops


@right("explicit loops with math.exp")
def explicit_loops(query, key, value):
    output = np.zeros(value.shape)
    for b, q in np.ndindex(query.shape[:2]):
        scores = []
        for k in range(key.shape[1]):
            score = 0.0
            for d in range(query.shape[2]):
                score += float(query[b, q, d]) * float(key[b, k, d])
            scores.append(score / math.sqrt(query.shape[2]))
        powers = [math.exp(score - max(scores)) for score in scores]
        for k, power in enumerate(powers):
            for v in range(value.shape[2]):
                output[b, q, v] += power / sum(powers) * float(value[b, k, v])
    return output


@right("nested lists and fsum")
def nested_lists(query, key, value):
    output = []
    for queries, keys, values in zip(query.tolist(), key.tolist(), value.tolist(), strict=True):
        output.append([])
        for q in queries:
            scores = [dot(q, k) / math.sqrt(len(q)) for k in keys]
            total = math.fsum(math.exp(score - max(scores)) for score in scores)
            weights = [math.exp(score - max(scores)) / total for score in scores]
            output[-1].append([dot(weights, column) for column in zip(*values, strict=True)])
    return output


def dot(left, right):
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


@right("a loop over the batch")
def batch_loop(query, key, value):
    output = np.empty(value.shape, dtype=np.result_type(value, 1.0))
    for i, (q, k, v) in enumerate(zip(query, key, value, strict=True)):
        output[i] = softmax(q @ k.T / root(q)) @ v
    return output


@right("the items stacked, which an empty batch stops")
def stacked(query, key, value):
    items = zip(query, key, value, strict=True)
    return np.stack([softmax(q @ k.T / root(q)) @ v for q, k, v in items])


@right("a recursion over the batch")
def recursion(query, key, value):
    if len(query) == 0:
        return value[:0]
    first = softmax(query[0] @ key[0].T / root(query)) @ value[0]
    return np.concatenate([first[None], recursion(query[1:], key[1:], value[1:])])


@right("decimal arithmetic")
def decimals(query, key, value):
    output = np.zeros(value.shape)
    for b, q in np.ndindex(query.shape[:2]):
        row = [Decimal(float(x)) for x in query[b, q]]
        scores = [
            sum(x * Decimal(float(y)) for x, y in zip(row, k, strict=True))
            / Decimal(len(row)).sqrt()
            for k in key[b]
        ]
        powers = [(score - max(scores)).exp() for score in scores]
        output[b, q] = [float(power / sum(powers)) for power in powers] @ value[b]
    return output


# Number formats


@right("the input's own precision, with every constant in it")
def own_precision(query, key, value):
    kind = np.result_type(query, 1.0)
    output = softmax(query @ key.mT / np.sqrt(kind.type(query.shape[-1]))) @ value
    assert output.dtype == kind
    return output


@right("single precision whatever came, as some array libraries have it")
def single_precision(query, key, value):
    query, key, value = (x.astype(np.float32) for x in (query, key, value))
    return softmax(query @ key.mT / np.float32(root(query))) @ value


@right("double precision whatever came")
def double_precision(query, key, value):
    query, key, value = (x.astype(np.float64) for x in (query, key, value))
    return softmax(query @ key.mT / root(query)) @ value


@right("extended precision inside")
def extended_precision(query, key, value):
    query, key, wide = (x.astype(np.longdouble) for x in (query, key, value))
    scores = np.einsum("bqd,bkd->bqk", query, key) / np.sqrt(np.longdouble(query.shape[-1]))
    output = np.einsum("bqk,bkv->bqv", softmax(scores), wide)
    return output.astype(np.result_type(value, 1.0))


# What is handed back, and how it lies in memory


@right("the output and the weights")
def output_and_weights(query, key, value):
    weights = softmax(query @ key.mT / root(query))
    return weights @ value, weights


@right("the output and None, where the weights were not asked for")
def output_and_none(query, key, value):
    return softmax(query @ key.mT / root(query)) @ value, None


@right("one matrix for each item, in a list")
def list_of_items(query, key, value):
    return list(softmax(query @ key.mT / root(query)) @ value)


@right("padded to eight tokens, the padding masked, and cut again")
def padded(query, key, value):
    tokens = query.shape[1]
    query, key, value = (np.pad(x, ((0, 0), (0, 8 - tokens), (0, 0))) for x in (query, key, value))
    scores = query @ key.mT / root(query)
    scores[:, :, tokens:] = -np.inf
    return (softmax(scores) @ value)[:, :tokens]


@right("keys and values centred, and the mean value added again")
def centred(query, key, value):
    mean = value.mean(axis=1, keepdims=True)
    raw = query @ (key - key.mean(axis=1, keepdims=True)).mT
    weights = softmax(raw / root(query))
    return {"raw_scores": raw, "weights": weights, "output": weights @ (value - mean) + mean}


BUFFERS = {}


@right("the same buffer at every call")
def kept_buffer(query, key, value):
    buffer = BUFFERS.setdefault(value.shape, np.empty(value.shape))
    buffer[...] = softmax(query @ key.mT / root(query)) @ value
    return buffer


@right("threads of its own")
def threads(query, key, value):
    def one(item):
        q, k, v = item
        return softmax(q @ k.T / root(q)) @ v

    output = np.zeros(value.shape)
    with ThreadPoolExecutor(2) as pool:
        for i, mixed in enumerate(pool.map(one, zip(query, key, value, strict=True))):
            output[i] = mixed
    return output


Attended = namedtuple("Attended", ["output", "weights"])


@right("a named tuple")
def named_tuple(query, key, value):
    weights = softmax(query @ key.mT / root(query))
    return Attended(weights @ value, weights)


@right("a dict of every stage")
def every_stage(query, key, value):
    raw = query @ key.mT
    scaled = raw / root(query)
    weights = softmax(scaled)
    return {
        "raw_scores": raw,
        "scaled_scores": scaled,
        "weights": weights,
        "output": weights @ value,
    }


@right("a dict of the output alone")
def output_in_a_dict(query, key, value):
    return {"output": softmax(query @ key.mT / root(query)) @ value}


@right("scores centred before they are handed in")
def centred_scores(query, key, value):
    scores = query @ key.mT / root(query)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = softmax(scores)
    return {"scaled_scores": scores, "weights": weights, "output": weights @ value}


@right("transposed operands, and a view that is not contiguous")
def transposed_operands(query, key, value):
    scores = (key @ query.mT / root(query)).mT
    return (value.mT @ softmax(scores).mT).mT


@right("Fortran order")
def fortran_order(query, key, value):
    query, key, value = (np.asfortranarray(x) for x in (query, key, value))
    return np.asfortranarray(softmax(query @ key.mT / root(query)) @ value)


@right("every other entry of a larger array")
def strided(query, key, value):
    query, key, value = (np.repeat(x, 2, axis=2)[:, :, ::2] for x in (query, key, value))
    larger = np.zeros((*value.shape[:2], 2 * value.shape[2]))
    larger[..., ::2] = softmax(query @ key.mT / root(query)) @ value
    return larger[..., ::2]


@right("every step written into its buffer")
def written_out(query, key, value):
    batch, tokens, _ = query.shape
    kind = np.result_type(query, 1.0)
    scores = np.empty((batch, tokens, tokens), dtype=kind)
    np.matmul(query, key.mT, out=scores)
    np.multiply(scores, query.shape[-1] ** -0.5, out=scores)
    np.subtract(scores, scores.max(axis=-1, keepdims=True), out=scores)
    np.exp(scores, out=scores)
    np.divide(scores, scores.sum(axis=-1, keepdims=True), out=scores)
    output = np.empty(value.shape, dtype=kind)
    np.matmul(scores, value, out=output)
    return output


@right("lists instead of arrays")
def lists(query, key, value):
    return (softmax(query @ key.mT / root(query)) @ value).tolist()


@right("a read-only array")
def read_only(query, key, value):
    output = softmax(query @ key.mT / root(query)) @ value
    output.flags.writeable = False
    return output


class Wrapped:
    """An array of another kind, which becomes one of NumPy's by `numpy.asarray`."""

    def __init__(self, entries):
        self.entries = entries

    def __array__(self, dtype=None, copy=None):
        return np.array(self.entries, dtype=dtype)


@right("an object with __array__")
def wrapped(query, key, value):
    weights = softmax(query @ key.mT / root(query))
    return Wrapped(weights @ value), Wrapped(weights)


class Attached:
    """An array that must be detached first, as a tensor that records gradients must."""

    def __init__(self, entries, attached=True):
        self.entries = entries
        self.attached = attached

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on a tensor that requires grad")

    def detach(self):
        return Attached(self.entries, attached=False)

    def cpu(self):
        return self

    def numpy(self):
        if self.attached:
            raise RuntimeError("Can't call numpy() on a tensor that requires grad")
        return self.entries


@right("an object to be detached")
def attached(query, key, value):
    return Attached(softmax(query @ key.mT / root(query)) @ value)


# What kind of callable it is


@right("operations of the tape")
def on_the_tape(query, key, value):
    *_, (_, output) = core_head.compose(
        tape.Tensor(query), tape.Tensor(key), tape.Tensor(value), 1 / root(query)
    )
    return output.data


@right("the record of the core")
def record(query, key, value):
    head = core_head.scaled_dot_product_self_attention(query, key, value)
    return head.output, head.weights


class Head:
    """An object that is called, with its scale kept from the call before."""

    def __init__(self):
        self.scales = {}

    def __call__(self, query, key, value):
        scale = self.scales.setdefault(query.shape[-1], query.shape[-1] ** -0.5)
        return self.mix(softmax(query @ key.mT * scale), value)

    def mix(self, weights, value):
        return weights @ value

    def attend(self, Q, K, V):
        return self(Q, K, V)


def general(multiply, normalize, query, key, value):
    return multiply(normalize(multiply(query, key.mT) / root(query)), value)


RIGHT_HEADS["an object that is called"] = Head()
RIGHT_HEADS["a bound method with other names"] = Head().attend
RIGHT_HEADS["a partial"] = functools.partial(general, np.matmul, softmax)
RIGHT_HEADS["a lambda"] = lambda *qkv: softmax(qkv[0] @ qkv[1].mT / root(qkv[0])) @ qkv[2]


@right("it prints and draws random numbers on the way")
def talkative(query, key, value):
    print("scores of", query.shape, random.random(), np.random.random())  # noqa: NPY002
    return softmax(query @ key.mT / root(query)) @ value
