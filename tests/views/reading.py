"""Read HTML as a person would: tables by caption, rows and columns by their headers."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

TAGS = {
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("div", "span", "p", "b", "details", "summary"),
}
ATTRIBUTES = {"style", "scope", "open"}


@dataclass
class Table:
    """Texts of one table; `cells[row][column]` has the headers' own names as keys."""

    title: str = ""
    caption: str = ""
    columns: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    styles: list = field(default_factory=list)
    numbers: list = field(default_factory=list)


class Page(HTMLParser):
    """Everything in one piece of HTML; raises where it is not well-formed."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.scopes = [], set(), set(), []
        self.tables, self.lines, self.text, self.folds = [], [], "", []
        self.feed(html)
        self.close()
        if self.open:
            raise ValueError(f"never closed: {self.open}")

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes.update(attrs)
        if tag == "details":
            self.folds.append("open" in attrs)
        elif tag == "div":
            self.lines.append("")
        elif tag == "table":
            self.tables.append(Table())
        elif tag == "th":
            self.scopes.append(attrs.get("scope"))
            self._headers().append("")
        elif tag == "tr" and "tbody" in self.open:
            for column in (self.tables[-1].texts, self.tables[-1].styles, self.tables[-1].numbers):
                column.append([])
        elif tag == "td" and "tbody" in self.open:
            self.tables[-1].texts[-1].append("")
            self.tables[-1].numbers[-1].append("")
            self.tables[-1].styles[-1].append(attrs.get("style", ""))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise ValueError(f"</{tag}> closes nothing")

    def handle_data(self, data):
        self.text += data
        if "div" in self.open:
            self.lines[-1] += data
        if "table" not in self.open:
            return
        table = self.tables[-1]
        if "caption" in self.open:
            table.caption += data
            table.title += data if "b" in self.open else ""
        elif "th" in self.open:
            self._headers()[-1] += data
        elif "td" in self.open:
            table.texts[-1][-1] += data
            table.numbers[-1][-1] += data if "b" in self.open else ""

    def table(self, title):
        """The one table of this title."""
        (found,) = (table for table in self.tables if table.title == title)
        return found

    def _headers(self):
        table = self.tables[-1]
        return table.columns if "thead" in self.open else table.rows


def six(number):
    """Six decimals and a minus sign, as the printed chapter has them."""
    text = f"{number:.6f}"
    text = "0.000000" if text == "-0.000000" else text
    return text.replace("-", "\N{MINUS SIGN}")


def printed(matrix):
    """A matrix as rows of such texts."""
    return [[six(number) for number in row] for row in matrix]
