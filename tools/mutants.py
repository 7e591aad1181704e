"""Mutants: what a module becomes when one thing in it is changed.

Changed are comparisons, arithmetic, `and` and `or`, conditions, numbers and booleans (also as defaults and as
bounds of settings), signs, functions that have a counterpart (min and max, zeros and ones), calls that can be
left out (sort, abs), keyword arguments and the bounds of slices. Statements that only have an effect are left
out (calls, updates, raising an error), and what a function may return as None becomes None.
Left alone are docstrings, annotations, decorators, `__all__`, f-strings and what an error says.
"""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
PAIRS = ["min max", "minimum maximum", "amin amax", "argmin argmax", "any all", "sum mean", "zeros ones"]
PAIRS += ["zeros_like ones_like", "new_zeros new_ones", "floor ceil"]
COUNTERPARTS = {a: b for pair in PAIRS for a, b in (pair.split(), reversed(pair.split()))}
LEFT_OUT = {"sort", "sorted", "abs", "sqrt", "log", "exp", "unique", "copy", "clone"}
UNTOUCHED = {"annotation", "returns", "decorator_list", "bases"}
ATOMS = (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript)


@dataclass(frozen=True)
class Mutant:
    """One change of a file: its line or lines before and after, and the module's new source.

    occurrence: how many changes of lines like these came before it in the file.
    """

    file: str
    line: int
    old: str
    new: str
    source: str
    occurrence: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is called in the list of equivalent mutants: no line number, for those move."""
        return self.file, self.old, self.new

    def rank(self, seed: int) -> str:
        """A place in a random order that no change elsewhere moves."""
        text = f"{seed}\n{self.file}\n{self.old}\n{self.new}\n{self.occurrence}"
        return hashlib.sha256(text.encode()).hexdigest()


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of a module, in the order of its lines."""
    raw = source.encode()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for node, text in _changes(ast.parse(source)):
        first, last = node.lineno, node.end_lineno or node.lineno
        begin, end = starts[first - 1] + node.col_offset, starts[last - 1] + (node.end_col_offset or 0)
        changed = raw[:begin] + text.encode() + raw[end:]
        grown = len(changed) - len(raw)
        old = _one_line(raw[starts[first - 1] : starts[last]])
        new = _one_line(changed[starts[first - 1] : starts[last] + grown])
        if _compiles(changed):
            found.append(Mutant(file, first, old, new, changed.decode(), seen[old, new]))
            seen[old, new] += 1
    return sorted(found, key=lambda mutant: mutant.line)


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())


def _compiles(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


Change = tuple[ast.expr | ast.stmt, str]
"""A part of a module, and the text that takes its place."""


def _changes(node: ast.AST, optional: bool = False) -> Iterator[Change]:
    """All changes at and below a node; `optional` says that the function around it may return None."""
    if isinstance(node, ast.JoinedStr) or _is_list_of_names(node) or _is_alias(node):
        return
    if isinstance(node, ast.stmt):
        yield from ((node, text) for text in _statements(node, optional))
    if isinstance(node, ast.expr):
        yield from ((node, _text(changed)) for changed in _expressions(node))
    for test in _conditions(node):
        if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield test, f"(not {ast.unparse(test)})" if isinstance(test, ATOMS) else f"(not ({ast.unparse(test)}))"
    if isinstance(node, ast.Raise):
        return
    if isinstance(node, ast.FunctionDef):
        optional = node.returns is not None and "None" in ast.unparse(node.returns) != "None"
    for name, value in ast.iter_fields(node):
        if name not in UNTOUCHED:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not (isinstance(child, ast.keyword) and child.arg == "strict"):
                    yield from _changes(child, optional)


def _is_list_of_names(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(ast.unparse(target) == "__all__" for target in node.targets)


def _is_alias(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"


def _conditions(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return [node.test]
    return node.ifs if isinstance(node, ast.comprehension) else []


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, (*ATOMS, ast.Slice)) else f"({text})"


def _statements(node: ast.stmt, optional: bool) -> Iterator[str]:
    match node:
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Break() | ast.Continue() | ast.AugAssign():
            yield "pass"
        case ast.Assign([ast.Subscript()]):
            yield "pass"
        case ast.Return(ast.expr()) if optional:
            yield "return None"
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield ast.unparse(ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value))


def _expressions(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left, ops, others):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield ast.Compare(left, [*ops[:place], other(), *ops[place + 1 :]], others)
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC and not _is_text(left) and not _is_text(right):
            yield ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool() | int() | float() as value):
            yield from map(ast.Constant, _near(value))
        case ast.Name(name) if name in COUNTERPARTS and isinstance(node.ctx, ast.Load):
            yield ast.Name(COUNTERPARTS[name])
        case ast.Attribute(value, name) if name in COUNTERPARTS:
            yield ast.Attribute(value, COUNTERPARTS[name])
        case ast.Slice(lower, upper, step):
            shorter = ast.Slice(None, upper, step), ast.Slice(lower, None, step)
            yield from (change for change, bound in zip(shorter, (lower, upper), strict=True) if bound)
        case ast.Call(function, arguments, keywords):
            yield from _calls(function, arguments, keywords)


def _calls(function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[ast.expr]:
    for place, keyword in enumerate(keywords):
        if keyword.arg not in (None, "strict"):
            yield ast.Call(function, arguments, keywords[:place] + keywords[place + 1 :])
    name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
    if name in LEFT_OUT and arguments:
        yield arguments[0]
    elif name in LEFT_OUT and isinstance(function, ast.Attribute):
        yield function.value


def _near(value: complex) -> list[bool | int | float]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [0, 2] if value == 1 else [value + 1]
    assert isinstance(value, float)
    return [0.0, 2.0] if value == 1 else [value + 1]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
