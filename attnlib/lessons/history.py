"""Three ways for a model's tokens to meet, run on the same token vectors.

This is a history of models on the way to the Transformer, not of programming languages:

1. a recurrent encoder whose last state is the one context of every decoder step
   (Cho et al. 2014, arXiv:1406.1078);
2. additive alignment: each decoder step first scores the encoder's annotations against the
   previous decoder state (Bahdanau, Cho & Bengio 2015, arXiv:1409.0473);
3. self-attention: one layer scores every position against every position
   (Vaswani et al. 2017, arXiv:1706.03762).

The weights are seeded draws, never trained: the numbers show structure, not skill. The recurrent
step is a plain tanh, without the papers' gates, and no decoder reads its previous word. The grid of
self-attention is no constant work (T tokens, T * T scores), nor does it make generation parallel: a
token that isn't chosen yet has no vector to score.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from attnlib.core.head import SelfAttentionForward, scaled_dot_product_self_attention
from attnlib.core.inputs import read_only
from attnlib.core.tape import exp, log_softmax

# No two widths agree, so that a transposed matrix raises instead of passing unnoticed.
TOKEN_WIDTH, STATE_WIDTH, DECODER_WIDTH, ALIGNMENT_WIDTH, KEY_WIDTH, VALUE_WIDTH = 4, 3, 5, 7, 6, 2


class RecurrentUnit(NamedTuple):
    """The recurrent step ``h_t = tanh(W h_{t-1} + U x_t)``, with `W` [n, n] and `U` [n, d]."""

    W: np.ndarray
    U: np.ndarray

    def step(self, state, vector):
        """Return the next state [n], from the state [n] and the vector read [d]."""
        return np.tanh(self.W @ state + self.U @ vector)

    def run(self, vectors, start):
        """Return ``h_0 = start`` [n] and the states after each of the vectors [T, d]: [T+1, n]."""
        return read_only(np.array(list(accumulate(vectors, self.step, initial=start))))


class AlignmentModel(NamedTuple):
    """The additive score ``e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)`` (Bahdanau et al., A.1.2)."""

    W_a: np.ndarray
    U_a: np.ndarray
    v_a: np.ndarray

    def scores(self, state, annotations):
        """Return ``e_i`` [T], from the decoder state [m] and the annotations [T, 2n]."""
        return np.tanh(self.W_a @ state + annotations @ self.U_a.T) @ self.v_a


@dataclass(frozen=True, eq=False)
class FixedContext:
    """`encoder_states` [T, n], `contexts` [S, n] (one row, reused), `decoder_states` [S+1, m]."""

    name = "recurrent-fixed-context"
    pairs: tuple
    sequential_steps: int
    encoder: RecurrentUnit
    encoder_states: np.ndarray
    contexts: np.ndarray
    decoder_states: np.ndarray


@dataclass(frozen=True, eq=False)
class AdditiveAlignment:
    """`annotations` [T, 2n], `scores` and `weights` [S, T], `contexts` [S, 2n], `decoder_states`.

    `decoder_states` is [S+1, m]: row i asks for context i, row i + 1 has read it.
    """

    name = "additive-encoder-decoder-alignment"
    pairs: tuple
    sequential_steps: int
    annotations: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    contexts: np.ndarray
    decoder_states: np.ndarray


@dataclass(frozen=True, eq=False)
class SelfAttention:
    """The core's record `head` (batch size 1), its `weights` [T, T] and its `output` [T, d_v]."""

    name = "scaled-dot-product-self-attention"
    pairs: tuple
    sequential_steps: int
    head: SelfAttentionForward
    weights: np.ndarray
    output: np.ndarray


@dataclass(frozen=True, eq=False)
class ModelHistory:
    """The three runs on the same `tokens`, whose `token_vectors` are [T, d]."""

    tokens: tuple
    token_vectors: np.ndarray
    earlier: FixedContext
    bridge: AdditiveAlignment
    transformer: SelfAttention

    @property
    def comparison(self):
        """``all-sequence-positions`` if self-attention paired every position with every one."""
        complete = len(set(self.transformer.pairs)) == len(self.tokens) ** 2
        return "all-sequence-positions" if complete else "some-sequence-positions"

    def as_evidence(self):
        """Return the three names, the comparison and each model's pairs, as JSON can hold them."""
        runs = {role: getattr(self, role) for role in ("earlier", "bridge", "transformer")}
        pairs = {run.name: [list(pair) for pair in run.pairs] for run in runs.values()}
        names = {role: run.name for role, run in runs.items()}
        return names | {"comparison": self.comparison, "pairs": pairs}


def fixed_context(token_vectors, steps, *, encoder, decoder, V):
    """Encode [T, d] into the one context ``c = h_T``; decode from ``s_0 = tanh(V c)`` on it.

    `V` is [m, n]. All that a decoder step can know of the tokens is in c: it scores none of them,
    so there is no pair. The T encoder and the S decoder steps all wait for one another.
    """
    vectors = _check_run(token_vectors, encoder.U.shape[1], steps)
    states = encoder.run(vectors, np.zeros(len(encoder.W)))[1:]
    contexts = read_only(np.tile(states[-1], (steps, 1)))
    decoded = decoder.run(contexts, np.tanh(V @ states[-1]))
    return FixedContext((), len(vectors) + steps, encoder, states, contexts, decoded)


def context_sensitivity(earlier):
    """Measure how far the fixed context moves when one token's vector moves.

    Returns
    -------
    jacobians : numpy.ndarray
        Shape [T, n, d]: ``dc/dx_t`` for each token t of the FixedContext run `earlier`.
    sensitivity : numpy.ndarray
        Shape [T]: the spectral norm of each, the longest move of c for a unit move of x_t.

    Notes
    -----
    Chain rule: ``dh_t/dx_t = D_t U`` and ``dh_t/dh_{t-1} = D_t W`` with ``D_t = diag(1 - h_t^2)``.
    An early token reaches the context through one more factor ``D W`` for each token after it: its
    trace shrinks wherever those factors do, which small weights and saturated states favour.
    """
    jacobians, from_state = [], np.eye(len(earlier.encoder.W))
    for state in earlier.encoder_states[::-1]:
        from_preactivation = from_state * (1 - state**2)
        jacobians.insert(0, from_preactivation @ earlier.encoder.U)
        from_state = from_preactivation @ earlier.encoder.W
    return np.array(jacobians), np.linalg.norm(jacobians, ord=2, axis=(1, 2))


def additive_alignment(token_vectors, steps, *, forward, backward, decoder, W_s, alignment):
    """Decode with a new context at each step, from annotations that read [T, d] both ways.

    Notes
    -----
    Bahdanau et al. 2015, eq. 5 and 6: ``alpha_i = softmax_j(e_ij)``, ``c_i = sum_j alpha_ij h_j``,
    where ``h_j`` joins the forward and the backward state at token j. From ``s_0 = tanh(W_s hb_1)``
    on (`W_s` is [m, n], hb_1 the backward state at the first token) ``s_i = f(s_{i-1}, c_i)``: step
    i waits for step i - 1. The two directions of the encoder can run side by side.
    """
    vectors = _check_run(token_vectors, forward.U.shape[1], steps)
    at_rest = np.zeros(len(forward.W))
    from_the_end = backward.run(vectors[::-1], at_rest)[:0:-1]
    annotations = read_only(np.hstack([forward.run(vectors, at_rest)[1:], from_the_end]))
    states, rows = [np.tanh(W_s @ from_the_end[0])], []
    for _ in range(steps):
        scores = alignment.scores(states[-1], annotations)
        weights = exp(log_softmax(scores))
        context = weights @ annotations
        states.append(decoder.step(states[-1], context))
        rows.append((scores, weights, context))
    arrays = [read_only(np.array(array)) for array in (*zip(*rows, strict=True), states)]
    pairs = _pairs(arrays[0], "decoder-state", "encoder-annotation")
    return AdditiveAlignment(pairs, len(vectors) + steps, annotations, *arrays)


def self_attention(token_vectors, *, W_Q, W_K, W_V):
    """Project X [T, d] to ``Q = X W_Q``, ``K = X W_K``, ``V = X W_V`` and run the core's head.

    `W_Q` and `W_K` are [d, d_k], `W_V` is [d, d_v]. With all tokens at hand it's one step, whatever
    T: no row of the grid waits for another.
    """
    vectors = _check_run(token_vectors, len(W_Q))[None]
    head = scaled_dot_product_self_attention(vectors @ W_Q, vectors @ W_K, vectors @ W_V)
    pairs = _pairs(head.raw_scores[0], "hidden-position", "hidden-position")
    return SelfAttention(pairs, 1, head, head.weights[0], head.output[0])


def model_history(tokens=("birds", "sing"), steps=2, seed=0):
    """Run the three models on the same T words, the two encoder-decoders for S = `steps` steps.

    A word's vector depends on the word and the seed alone, the models' weights on the seed alone.

    Raises
    ------
    ValueError
        If there is no token, a token is no text, or `steps` is less than 1.
    """
    words, rng = _check_tokens(tokens), np.random.default_rng(seed)
    n, m, a, d = STATE_WIDTH, DECODER_WIDTH, ALIGNMENT_WIDTH, TOKEN_WIDTH
    seeds = ([seed, 1, *word.encode()] for word in words)
    x = read_only(np.array([np.random.default_rng(s).standard_normal(d) for s in seeds]))

    def draw(*shape):
        return read_only(rng.standard_normal(shape) / np.sqrt(shape[-1]))

    def unit(state, read):
        return RecurrentUnit(draw(state, state), draw(state, read))

    earlier = fixed_context(x, steps, encoder=unit(n, d), decoder=unit(m, n), V=draw(m, n))
    alignment = AlignmentModel(draw(a, m), draw(a, 2 * n), draw(a))
    units = {"forward": unit(n, d), "backward": unit(n, d), "decoder": unit(m, 2 * n)}
    bridge = additive_alignment(x, steps, **units, W_s=draw(m, n), alignment=alignment)
    # Drawn as [out, in] like all the others, for `draw` divides by the width that is read.
    W_Q, W_K, W_V = (draw(width, d).T for width in (KEY_WIDTH, KEY_WIDTH, VALUE_WIDTH))
    return ModelHistory(words, x, earlier, bridge, self_attention(x, W_Q=W_Q, W_K=W_K, W_V=W_V))


def _pairs(scores, query_side, key_side):
    return tuple((f"{query_side}-{i}", f"{key_side}-{j}") for i, j in np.ndindex(scores.shape))


def _check_tokens(tokens):
    words = (tokens,) if isinstance(tokens, str) else tuple(tokens)
    if not words or isinstance(tokens, str) or not all(isinstance(word, str) for word in words):
        mend = 'pass a tuple such as ("birds", "sing")'
        raise ValueError(f"tokens must be a sequence of one or more words, got {tokens!r}: {mend}")
    return words


def _check_run(token_vectors, width, steps=1):
    vectors = np.array(token_vectors, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[1] != width or not len(vectors):
        mend = f"pass one row of {width} numbers for each token"
        raise ValueError(f"token_vectors must be [tokens, {width}], got {vectors.shape}: {mend}")
    if not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ValueError(f"steps must be a whole number, 1 or more, got {steps!r}: try steps=1")
    return vectors
