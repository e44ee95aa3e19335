"""A notebook handed in: pick out what one function needs, so that nothing else of it has to run.

Not kept are a notebook's expressions (calls of checks, explorers, prints), its magics and shell
commands, and every name that the function doesn't use, directly or through others.
"""

import ast
import json
import re
import symtable
from dataclasses import dataclass
from functools import cached_property

SUFFIX = ".ipynb"
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# What IPython reads and Python doesn't: %magic, !command, help?
OTHERS = re.compile(r"^([ \t]*)(?:[%!].*|\?+\S+|\S+\?+)[ \t]*$", flags=re.M)
DEFINED = re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*=(?!=)", flags=re.M)


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement at the top level of a code cell.

    Attributes
    ----------
    cell : int
        Which code cell it stands in, counted from 1.
    node : ast.stmt
        The statement; its lines are counted from the top of the cell.
    scope : symtable.SymbolTable
        Its names, as Python's compiler sees them.
    """

    cell: int
    node: ast.stmt
    scope: symtable.SymbolTable

    @cached_property
    def binds(self):
        """The names that it gives a value, or changes the value of."""
        bound = {
            x.get_name() for x in self.scope.get_symbols() if x.is_assigned() or x.is_imported()
        }
        return bound if isinstance(self.node, DEFINITIONS) else bound | _changed(self.node)

    @cached_property
    def uses(self):
        """The names that it needs from outside, at once or when it is called."""
        at_once = {x.get_name() for x in self.scope.get_symbols() if x.is_referenced()}
        return at_once | _used_within(self.scope)

    @property
    def keeps_all(self):
        """Whether it imports everything, so that it may bind any name."""
        node = self.node
        return isinstance(node, ast.ImportFrom) and any(x.name == "*" for x in node.names)


def _changed(node):
    """Return the names whose attributes or items are set: ``a`` for ``a.b[0] = 1``."""
    places = ast.Attribute | ast.Subscript
    found = set()
    for part in ast.walk(node):
        if isinstance(part, places) and isinstance(part.ctx, ast.Store):
            while isinstance(part, places):
                part = part.value
            found |= {part.id} if isinstance(part, ast.Name) else set()
    return found


def _used_within(scope):
    found = set()
    for inner in scope.get_children():
        found |= {x.get_name() for x in inner.get_symbols() if x.is_global()}
        found |= _used_within(inner)
    return found


def needed(path, name):
    """Pick out the statements that one name of a notebook rests on, in the notebook's order.

    Parameters
    ----------
    path : pathlib.Path
        A notebook of format 4.
    name : str
        A function, class or variable at the top level of a code cell.

    Returns
    -------
    list of Statement
        Imports, definitions and assignments, and loops or branches that make them; empty if
        nothing in the notebook is called so.

    Raises
    ------
    ValueError
        If the file is no such notebook, or one of these names is defined in a cell that Python
        can't read.
    """
    statements, unread = _statements(code_cells(path))
    wanted, known = {name}, None
    while known != wanted:
        known = set(wanted)
        kept = [each for each in statements if each.keeps_all or each.binds & wanted]
        wanted |= {used for each in kept for used in each.uses}
    for cell, source, error in unread:
        defined = {a or b for a, b in DEFINED.findall(source)}
        if defined & wanted:
            line = error.lineno or 1
            raise ValueError(f"code cell {cell}, line {line}, SyntaxError: {error.msg}")
    return kept if any(name in each.binds or each.keeps_all for each in kept) else []


def functions(path):
    """Return the names of the functions that a notebook defines at its top level."""
    statements, _ = _statements(code_cells(path))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return list(dict.fromkeys(x.node.name for x in statements if isinstance(x.node, kinds)))


def code_cells(path):
    """Return what stands in each code cell of a notebook; ValueError if it is none."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("it is no notebook of format 4: save it in Jupyter") from None


def _statements(cells):
    statements, unread = [], []
    for number, source in enumerate(cells, 1):
        try:
            # Expressions bind nothing: checks, explorers and prints.
            nodes = [x for x in _parsed(source).body if not isinstance(x, ast.Expr)]
            statements += [Statement(number, node, _scope(node)) for node in nodes]
        except SyntaxError as error:
            unread.append((number, source, error))
    return statements, unread


def _parsed(source):
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.parse(OTHERS.sub(r"\1pass", source))
    except (ValueError, RecursionError, MemoryError) as error:
        # A null byte, half a character, or nested too deeply.
        raise SyntaxError(str(error)) from None


def _scope(node):
    try:
        return symtable.symtable(ast.unparse(node), "cell", "exec")
    except SyntaxError as error:
        # What only the compiler sees, such as two arguments of one name.
        error.lineno = node.lineno
        raise
    except RecursionError:
        raise SyntaxError("nested too deeply") from None
