"""Mistakes in the last two products, from the scores' gradient to the query and the key."""

from attnlib.lessons.mistakes.kinds import Mistake
from attnlib.lessons.mistakes.way_back import leaving, swap


def _products(change):
    """A backward function whose dQ and dK are what `change` makes of dS / sqrt(d_k), Q and K."""
    return leaving(
        lambda back: (*change(back.grad_scores * back.scale, back.query, back.key), back.grad_value)
    )


def _ordered(*places):
    """A backward function that returns dQ, dK and dV (0, 1, 2) in another order."""
    return leaving(lambda back: tuple(back.gradients()[place] for place in places))


def _added(back):
    grad_query, grad_key, grad_value = back.gradients()
    return grad_query + grad_key, grad_key + grad_query, grad_value


MISTAKES = (
    Mistake(
        id="query-key-gradients-exchanged",
        title="The gradients of query and key are exchanged",
        paragraph=(
            "dK comes back where dQ is due, and dQ where dK is. They have one shape, so nothing is "
            "raised. Either the two last products were mixed up, or the names on the last line. "
            "Return the gradients in the order of the arguments: dQ, dK, dV."
        ),
        question="Which of the two sums over the keys, and which over the queries?",
        signature="dV is right; dQ summed over the tokens is 0 in each feature, which dK should "
        "be.",
        stage="query",
        head=_ordered(1, 0, 2),
        direction="backward",
    ),
    Mistake(
        id="query-key-gradients-added",
        title="The gradients of query and key are added together",
        paragraph=(
            "dQ + dK comes back for both. Where one array serves as query and as key its gradient "
            "is that sum, and the habit is carried over. The head has two inputs here, and each "
            "has a slope of its own: leave the sum to what made Q and K of the same tokens."
        ),
        question="If only the queries move and the keys stay, how fast does the loss change?",
        signature="dV is right; dQ and dK are equal, entry for entry.",
        stage="query",
        head=leaving(_added),
        direction="backward",
    ),
    Mistake(
        id="gradients-in-another-order",
        title="The three gradients come back in another order",
        paragraph=(
            "The gradients are right, but returned in the order in which they were found, the "
            "value's first, or in some other. Where d_v and d_k are equal the shapes tell nothing. "
            "Return them in the order of the arguments: dQ, dK, dV."
        ),
        question="In which order do the arguments stand, and in which do you return?",
        signature="Each gradient equals the right one of another input.",
        stage="value",
        head=_ordered(2, 0, 1),
        direction="backward",
        variants=(
            ("value, key, query", _ordered(2, 1, 0)),
            ("key, value, query", _ordered(1, 2, 0)),
            ("query, value, key", _ordered(0, 2, 1)),
        ),
    ),
    Mistake(
        id="gradient-from-own-operand",
        title="A gradient is multiplied by its own operand",
        paragraph=(
            "dQ is taken from dS and Q, or dK from dS and K. The name on the left draws the same "
            "name to the right. The derivative of a product along one factor is the other factor: "
            "dQ needs K, and dK needs Q."
        ),
        question="If one query is moved, which vectors say how its scores change?",
        signature="dV is right; where all keys are the same vector dQ should be 0, and isn't.",
        stage="query",
        head=_products(lambda grad, query, key: (grad @ query, swap(grad) @ key)),
        direction="backward",
        variants=(
            ("in dQ only", _products(lambda grad, query, key: (grad @ query, swap(grad) @ query))),
            ("in dK only", _products(lambda grad, query, key: (grad @ key, swap(grad) @ key))),
        ),
    ),
    Mistake(
        id="query-gradient-transposed",
        title="The scores' gradient is transposed on the way back to Q",
        paragraph=(
            "dQ is taken from the transpose of dS, which belongs to dK. dS is square, so nothing "
            "is raised. A query is a row of dS: it sums over the keys, so dQ is dS K with no "
            "transpose, and dK is the one that has it."
        ),
        question="Along which axis of the grid does one query's own gradient lie?",
        signature="dV is right; the sums over all entries of Q dQ and K dK should be equal, and "
        "aren't.",
        stage="query",
        head=_products(lambda grad, query, key: (swap(grad) @ key, swap(grad) @ query)),
        direction="backward",
        variants=(
            ("and not in dK", _products(lambda grad, query, key: (swap(grad) @ key, grad @ query))),
        ),
    ),
    Mistake(
        id="key-gradient-not-transposed",
        title="The scores' gradient isn't transposed on the way back to K",
        paragraph=(
            "dK is taken as dS Q, copied from the line for dQ. dS is square, so nothing is raised. "
            "A key is a column of dS: its gradient gathers from every query that looked at it, "
            "which is the transpose of dS times Q."
        ),
        question="Over which axis of the grid does one key's gradient sum?",
        signature="dV and dQ are right; dK summed over the keys should be 0 in each feature, and "
        "isn't.",
        stage="key",
        head=_products(lambda grad, query, key: (grad @ key, grad @ query)),
        direction="backward",
    ),
)
