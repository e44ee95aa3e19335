"""The shapes of a head's arrays, and what the head says to shapes and numbers that it refuses."""

from html import escape

from attnlib.lessons import refusals
from attnlib.views import sentences, style, tables
from attnlib.views.showing import Page

TEXT = f"{tables.HEADER};text-align:left;vertical-align:top;color:{style.INK};font-size:13px"
RULED = f"border-top:1px solid {style.RULE}"
EVIDENCE = "font-family:monospace;font-size:12px"
KIND = f"{TEXT};{RULED};white-space:nowrap;font-weight:bold"
SHEET = (
    f"background:{style.PAPER};color:{style.INK};padding:8px 12px;max-width:860px;"
    "box-sizing:border-box;font-size:14px;line-height:1.5"
)


def shapes_of(head):
    """Collect the shapes of one head.

    Parameters
    ----------
    head : SelfAttentionForward
        Any head, an empty batch included.

    Returns
    -------
    dict of str to tuple of int
        By the names in `tables.SHAPED`.
    """
    return {name: getattr(head, name).shape for name in tables.SHAPED}


def shape_page(head):
    """Show the shapes of one head.

    Parameters
    ----------
    head : SelfAttentionForward
        Any head, an empty batch included.

    Returns
    -------
    Page
        A table, and a sentence below it.
    """
    shapes = shapes_of(head)
    sentence = sentences.shape_sentence(shapes)
    words = [f"{name.replace('_', ' ')} {list(shape)}" for name, shape in shapes.items()]
    return Page(
        f'<div style="{SHEET}">{tables.shapes(shapes)}<div>{escape(sentence)}</div></div>',
        f"{', '.join(words)}. {sentence}",
    )


def refusal_page():
    """Show every kind of refusal with what the head says to the smallest input that provokes it.

    Returns
    -------
    Page
        A table, a kind a row, in the order of the head's checks.
    """
    said = {kind: refusals.provoke(kind) for kind in refusals.KINDS}
    rows = "".join(
        f'<tr><th scope="row" style="{KIND}">{escape(kind)}</th>'
        f'<td style="{TEXT};{RULED};{EVIDENCE}">{_lines(refusal.evidence_text)}</td>'
        f'<td style="{TEXT};{RULED}">{escape(str(refusal))}</td></tr>'
        for kind, refusal in said.items()
    )
    heads = "".join(
        f'<th scope="col" style="{TEXT};color:{style.SOFT_INK}">{head}</th>'
        for head in ("kind", "evidence", "what the head says")
    )
    return Page(
        f'<div style="{SHEET}"><table style="{tables.TABLE}"><caption style="{tables.CAPTION}">'
        f"<b>Refusals</b></caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        "</div>",
        "\n".join(f"{kind}: {refusal}." for kind, refusal in said.items()),
    )


def _lines(evidence):
    return "".join(f"<div>{escape(fact)}</div>" for fact in evidence.split("|"))


def cases_page(cases):
    """Show the shapes that go in and come out, a case a row.

    Parameters
    ----------
    cases : list of dict
        Array -> its shape; the same arrays in each, such as the evidence's `shapes`.

    Returns
    -------
    Page
        A table.
    """
    rows = "".join(
        f'<tr><th scope="row" style="{TEXT};{RULED}">{position}</th>'
        + "".join(
            f'<td style="{TEXT};{RULED};font-family:monospace">{list(x)}</td>' for x in shapes
        )
        + "</tr>"
        for position, shapes in enumerate((case.values() for case in cases), start=1)
    )
    heads = "".join(
        f'<th scope="col" style="{TEXT};color:{style.SOFT_INK}">{escape(name)}</th>'
        for name in ("case", *cases[0])
    )
    return Page(
        f'<div style="{SHEET}"><table style="{tables.TABLE}"><caption style="{tables.CAPTION}">'
        f"<b>What goes in and what comes out</b></caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>",
        "\n".join(
            ", ".join(f"{name} {list(shape)}" for name, shape in case.items()) + "."
            for case in cases
        ),
    )
