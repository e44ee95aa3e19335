"""The mistakes of the catalogue, made by other hands: other code, other order, other habits.

Each hands in its output alone unless its mistake can only be seen earlier. Nothing is shared with
the catalogue.
"""

import math

import numpy as np

WRONG_HEADS = {}
"""What was done -> the id of the mistake and the head that makes it."""


def wrong(mistake, what):
    """Enter a head under the mistake that it makes and how."""

    def enter(head):
        WRONG_HEADS[f"{mistake}: {what}"] = mistake, head
        return head

    return enter


def softmax(x, axis=-1):
    x = x * np.float32(1)  # So that an empty batch and whole numbers have a maximum too.
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=axis, keepdims=True)


def scores(q, k):
    return np.einsum("bid,bjd->bij", q, k) / math.sqrt(q.shape[2])


def mix(a, v):
    return np.einsum("bij,bjv->biv", a, v)


@wrong("scale-missing", "einsum, no scale at all")
def _(q, k, v):
    return mix(softmax(np.einsum("bid,bjd->bij", q, k)), v)


@wrong("scale-missing", "a log-softmax and a loop, in float32")
def _(q, k, v):
    out = np.zeros(v.shape, dtype=np.float32)
    for b in range(len(q)):
        s = (q[b] @ k[b].T).astype(np.float32)
        s = s - s.max(1, keepdims=True)
        s = s - np.log(np.exp(s).sum(1, keepdims=True))
        out[b] = np.exp(s) @ v[b].astype(np.float32)
    return out


@wrong("scale-by-width", "both Q and K divided by the root")
def _(q, k, v):
    root = np.sqrt(q.shape[-1])
    return mix(softmax((q / root) @ (k / root).transpose(0, 2, 1)), v)


@wrong("scale-inverted", "Q multiplied first")
def _(q, k, v):
    return mix(softmax((q * q.shape[-1] ** 0.5) @ k.transpose(0, 2, 1)), v)


@wrong("scale-wrong-width", "the number of keys")
def _(q, k, v):
    return mix(softmax(q @ k.transpose(0, 2, 1) / np.sqrt(k.shape[1])), v)


@wrong("scale-wrong-width", "a constant of its own")
def _(q, k, v):
    return mix(softmax(q @ k.transpose(0, 2, 1) / np.sqrt(768)), v)


@wrong("scale-half-width", "Q divided first")
def _(q, k, v):
    return mix(softmax((q / (q.shape[-1] ** 1 / 2)) @ k.transpose(0, 2, 1)), v)


@wrong("scale-zero", "a floor division")
def _(q, k, v):
    return mix(softmax(q @ k.transpose(0, 2, 1) * (1 // (q.shape[-1] + 1) ** 0.5)), v)


@wrong("scale-zero", "the mean of the values")
def _(q, k, v):
    return np.repeat(v.mean(axis=1, keepdims=True), q.shape[1], axis=1)


@wrong("scale-after-softmax", "the values divided")
def _(q, k, v):
    return mix(softmax(q @ k.transpose(0, 2, 1)), v / np.sqrt(q.shape[-1]))


@wrong("softmax-over-queries", "the transposed scores, transposed back")
def _(q, k, v):
    return mix(softmax(scores(q, k).transpose(0, 2, 1)).transpose(0, 2, 1), v)


@wrong("softmax-over-batch", "the default axis of another library")
def _(q, k, v):
    return mix(softmax(scores(q, k), axis=0), v)


@wrong("softmax-over-flattened-rows", "a long matrix")
def _(q, k, v):
    s = np.concatenate([*scores(q, k), np.zeros((0, k.shape[1]))])
    return mix(softmax(s, axis=0).reshape(len(q), q.shape[1], k.shape[1]), v)


@wrong("softmax-over-everything", "each item flattened")
def _(q, k, v):
    s = scores(q, k)
    tokens = q.shape[1]
    return mix(softmax(s.reshape(len(s), tokens * tokens)).reshape(s.shape), v)


@wrong("softmax-over-everything", "the whole batch raveled")
def _(q, k, v):
    s = scores(q, k)
    return mix(softmax(s.ravel()).reshape(s.shape), v)


@wrong("softmax-lost-axis", "np.sum without keepdims, in the output")
def _(q, k, v):
    s = scores(q, k)
    e = np.exp(s - s.max(-1, keepdims=True))
    return mix(e / np.sum(e, axis=2), v)


@wrong("softmax-missing", "one einsum")
def _(q, k, v):
    return np.einsum("bid,bjd,bjv->biv", q, k, v) / np.sqrt(q.shape[2])


@wrong("softmax-twice", "a library's layer around another")
def _(q, k, v):
    return mix(softmax(np.exp(np.log(softmax(scores(q, k))))), v)


@wrong("normalized-without-exp", "divided by the row sum after the mixture")
def _(q, k, v):
    s = scores(q, k)
    return mix(s, v) / s.sum(-1, keepdims=True)


@wrong("softmax-without-maximum", "normalized after the mixture")
def _(q, k, v):
    e = np.exp(scores(q, k))
    return mix(e, v) / e.sum(-1)[..., None]


@wrong("softmax-without-maximum", "in a loop with math.exp")
def _(q, k, v):
    out = np.zeros(v.shape)
    for b, row in enumerate(scores(q, k)):
        for i, s in enumerate(row):
            e = [math.exp(x) for x in s]
            out[b, i] = sum(x / sum(e) * w for x, w in zip(e, v[b], strict=True))
    return out


@wrong("softmax-global-maximum", "the largest score of all, normalized late")
def _(q, k, v):
    s = scores(q, k)
    e = np.exp(s - np.amax(s, initial=-np.inf))
    return mix(e, v) / e.sum(-1)[..., None]


@wrong("softmax-finite-sentinel", "a stream that starts at -30000")
def _(q, k, v):
    s = scores(q, k)
    best = np.full(s.shape[:2], -3e4)
    for j in range(s.shape[2]):
        best = np.maximum(best, s[..., j])
    e = np.exp(s - best[..., None])
    return mix(e / e.sum(-1, keepdims=True), v)


@wrong("sign-flipped", "K negated")
def _(q, k, v):
    return mix(softmax(scores(q, -k)), v)


@wrong("key-not-transposed", "an einsum with a letter at the wrong place")
def _(q, k, v):
    return mix(softmax(np.einsum("bid,bdj->bij", q, k) / q.shape[2] ** 0.5), v)


@wrong("key-reshaped", "a view, as some libraries call it")
def _(q, k, v):
    swapped = k.reshape(len(k), k.shape[2], k.shape[1])
    return mix(softmax(np.matmul(q, swapped) * q.shape[2] ** -0.5), v)


@wrong("all-axes-reversed", "np.transpose without axes")
def _(q, k, v):
    return mix(softmax(np.matmul(q, np.transpose(k)) / math.sqrt(q.shape[2])), v)


@wrong("query-key-exchanged", "arguments in another order")
def _(q, k, v):
    return mix(softmax(scores(k, q)), v)


@wrong("weights-transposed", "an einsum with the weights' letters exchanged")
def _(q, k, v):
    return np.einsum("bji,bjv->biv", softmax(scores(q, k)), v)


@wrong("value-is-query", "the self-attention of one name")
def _(q, k, v):
    v = q
    return mix(softmax(scores(q, k)), v)


@wrong("value-is-key", "the projections in another order")
def _(q, k, v):
    return np.matmul(softmax(scores(q, k)), k)


@wrong("value-transposed", "an einsum that mixes features")
def _(q, k, v):
    return np.einsum("bij,bvj->biv", softmax(scores(q, k)), v)


@wrong("batch-and-tokens-swapped", "an einsum with the batch in the middle")
def _(q, k, v):
    s = np.einsum("itd,jtd->tij", q, k) / np.sqrt(q.shape[2])
    return np.einsum("tij,jtv->itv", softmax(s), v)


@wrong("batch-items-mixed", "every query against the keys of all items")
def _(q, k, v):
    s = np.einsum("bid,cjd->bicj", q, k) / np.sqrt(q.shape[2])
    a = softmax(s.reshape(*s.shape[:2], s.shape[2] * s.shape[3])).reshape(s.shape)
    return np.einsum("bicj,cjv->biv", a, v)


@wrong("heads-merged-by-reshape", "transposed with a heads axis and reshaped")
def _(q, k, v):
    out = mix(softmax(scores(q, k)), v)
    return np.transpose(out, (1, 0, 2)).reshape(out.shape)


@wrong("causal-mask-applied", "a loop over the past")
def _(q, k, v):
    out = np.zeros(v.shape)
    s = scores(q, k)
    for i in range(q.shape[1]):
        out[:, i] = np.einsum("bj,bjv->bv", softmax(s[:, i, : i + 1]), v[:, : i + 1])
    return out


@wrong("causal-mask-applied", "-1e9 added to the future")
def _(q, k, v):
    future = np.triu(np.ones((q.shape[1],) * 2), 1)
    return mix(softmax(scores(q, k) + future * -1e9), v)


@wrong("mask-after-softmax", "np.tril of the weights")
def _(q, k, v):
    return mix(np.tril(softmax(scores(q, k))), v)


@wrong("mask-multiplied-before-softmax", "np.tril of the scores")
def _(q, k, v):
    return mix(softmax(np.tril(scores(q, k))), v)


@wrong("dropout-active", "another draw at each call")
def _(q, k, v):
    a = softmax(scores(q, k))
    return mix(a * (np.random.random(a.shape) > 0.2) / 0.8, v)  # noqa: NPY002


@wrong("dropout-active", "another draw at each call, its weights handed in")
def _(q, k, v):
    a = softmax(scores(q, k))
    a = a * (np.random.random(a.shape) > 0.2) / 0.8  # noqa: NPY002
    return mix(a, v), a


@wrong("integer-buffer", "a loop into an array like V")
def _(q, k, v):
    out = np.zeros_like(v)
    for b in range(len(q)):
        out[b] = softmax(scores(q, k))[b] @ v[b]
    return out


@wrong("half-precision", "the inputs cast, the output cast back")
def _(q, k, v):
    q, k, v = (x.astype(np.float16) for x in (q, k, v))
    s = np.matmul(q, k.transpose(0, 2, 1)) / np.float16(math.sqrt(q.shape[2]))
    return np.matmul(softmax_half(s), v).astype(float)


def softmax_half(s):
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong("input-modified", "keys and values sorted in place, which changes no output")
def _(q, k, v):
    k[...], v[...] = k[:, ::-1].copy(), v[:, ::-1].copy()
    return mix(softmax(scores(q, k)), v)


@wrong("argument-ignored", "V of an earlier cell")
def _(q, k, v):
    earlier = np.arange(1, 1 + v.size).reshape(v.shape) / 7
    return mix(softmax(scores(q, k)), earlier)


@wrong("returns-weights", "the pair in the other order")
def _(q, k, v):
    a = softmax(scores(q, k))
    return a, mix(a, v)


@wrong("wrong-shape", "only the last item")
def _(q, k, v):
    out = np.zeros(v.shape[1:])
    for item in zip(q, k, v, strict=True):
        out = softmax(scores(*(x[None] for x in item[:2])))[0] @ item[2]
    return out


@wrong("wrong-shape", "axes of size 1 squeezed")
def _(q, k, v):
    return mix(softmax(scores(q, k)), v).squeeze()


@wrong("raises", "a name that was never given")
def _(q, k, v):
    return mix(attention_weights, v)  # noqa: F821


@wrong("key-is-query", "one projection for both")
def _(q, k, v):
    return mix(softmax(scores(q, q)), v)


@wrong("cosine-instead-of-dot", "the lengths divided out")
def _(q, k, v):
    lengths = np.linalg.norm(q, axis=2)[:, :, None] * np.linalg.norm(k, axis=2)[:, None]
    return mix(softmax(scores(q, k) / lengths), v)


@wrong("sigmoid-instead-of-softmax", "with tanh")
def _(q, k, v):
    return mix((1 + np.tanh(scores(q, k) / 2)) / 2, v)


@wrong("exp-not-normalized", "no denominator")
def _(q, k, v):
    return mix(np.exp(scores(q, k)), v)


@wrong("weights-are-logarithms", "the log-sum-exp subtracted")
def _(q, k, v):
    s = scores(q, k)
    return mix(s - np.logaddexp.reduce(s, axis=-1, keepdims=True), v)


@wrong("softmax-base-two", "scores times the logarithm of 2")
def _(q, k, v):
    return mix(softmax(scores(q, k) * math.log(2)), v)


@wrong("query-is-key", "K beside itself")
def _(q, k, v):
    return mix(softmax(scores(k, k)), v)


@wrong("key-is-value", "V where K belongs")
def _(q, k, v):
    return mix(softmax(scores(q, v)), v)


@wrong("elementwise-product", "a star where an at sign belongs")
def _(q, k, v):
    return softmax(np.multiply(q, k) / q.shape[2] ** 0.5) @ v


@wrong("dot-instead-of-matmul", "np.dot twice")
def _(q, k, v):
    return np.dot(softmax(np.dot(q, np.moveaxis(k, 2, 1)) * q.shape[2] ** -0.5), v)


@wrong("softmax-on-raw-scores", "the scaled scores handed in beside weights that ignore them")
def _(q, k, v):
    a = softmax(q @ k.transpose(0, 2, 1))
    return {"scaled_scores": scores(q, k), "weights": a, "output": mix(a, v)}


@wrong("scores-clipped", "against overflow, at 80")
def _(q, k, v):
    e = np.exp(np.clip(scores(q, k), -80, 80))
    return mix(e / e.sum(-1, keepdims=True), v)


@wrong("elementwise-mixture", "a star where an at sign belongs")
def _(q, k, v):
    return np.multiply(softmax(scores(q, k)), v)


@wrong("value-inside-softmax", "a bracket closed too late")
def _(q, k, v):
    return softmax(q @ k.transpose(0, 2, 1) / q.shape[2] ** 0.5 @ v)


@wrong("residual-added", "V added to its own mixture")
def _(q, k, v):
    return v + mix(softmax(scores(q, k)), v)


@wrong("token-left-out", "a range that stops one too early")
def _(q, k, v):
    out = np.zeros(v.shape)
    for i in range(q.shape[1] - 1):
        out[:, i] = np.einsum("bj,bjv->bv", softmax(scores(q, k))[:, i], v)
    return out


@wrong("accumulator-not-reset", "the sum begun before the loop over queries")
def _(q, k, v):
    out = np.zeros(v.shape)
    for b, a in enumerate(softmax(scores(q, k))):
        total = np.zeros(v.shape[2])
        for i in range(q.shape[1]):
            for j in range(k.shape[1]):
                total = total + a[i, j] * v[b, j]
            out[b, i] = total
    return out


@wrong("mixture-overwritten-not-added", "a missing plus sign")
def _(q, k, v):
    out = np.zeros(v.shape)
    a = softmax(scores(q, k))
    for j in range(k.shape[1]):
        out[:] = a[:, :, j, None] * v[:, j, None]
    return out


@wrong("value-width-assumed", "an output made like Q")
def _(q, k, v):
    out = np.empty(q.shape)
    np.matmul(softmax(scores(q, k)), v, out=out)
    return out


@wrong("rounded-intermediates", "weights as they were printed")
def _(q, k, v):
    a = np.array(
        [[[float(f"{x:.3f}") for x in row] for row in item] for item in softmax(scores(q, k))]
    )
    return mix(a.reshape(len(q), q.shape[1], k.shape[1]), v)
