"""The small mistakes that mutation testing puts into a module, each of which some test must notice.

In code: a comparison, a condition or an operator turned round, a value that is one more, a result that is lost, a step
left out. In a table, where most of the workbook is: another state, level, owner or actor, a row, a command or a tag
left out, another rule of the ledger, another source, a sentence that says nothing.
"""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.Continue: ast.Break, ast.Break: ast.Continue,
}  # fmt: skip
TAGS = ("spec", "assumed", "wallet", "sdk-a", "sdk-b", "openapi", "seen", "inferred")
RULES = [one["id"] for one in tomllib.loads((ROOT / "workbook/base/rules.toml").read_text("utf-8"))["rule"]]
VARIADIC = {"row": 3, "message": 4, "select": 0, "did": 0, "_late": 1, "failing": 2}
"""Calls that list commands, events or tags after so many arguments; any of them may be missing."""
BUILT = {"dataclass", "cache", "lru_cache", "unique", "property", "classmethod", "staticmethod", "contextmanager"}
"""Decorators that say how something is built; nobody could see them to be wrong."""


def mutants(path):
    """Every mutant of one module: the tree, the node, its field, the place there, what stood there and stands now."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    members = {**enumerations(), **members_of(tree)}
    members["S"] = members.get("State", [])
    todo = [tree]
    while todo:
        node = todo.pop()
        for field, value in ast.iter_fields(node):
            for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST) and not _no_matter(node, field, child):
                    yield from ((tree, node, field, at, child, other) for other in instead(child, members))
                    todo.append(child)


def members_of(tree):
    """The members of each enumeration in a module."""
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    return {
        cls.name: [one.targets[0].id for one in cls.body if isinstance(one, ast.Assign)]
        for cls in classes
        if any("Enum" in ast.unparse(base) for base in cls.bases)
    }


@cache
def enumerations():
    """Those of the whole package: a module may use another's."""
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.glob("workbook/**/*.py"))]
    return {name: members for tree in trees for name, members in members_of(tree).items()}


def _no_matter(node, field, child):
    """Imports, docstrings, types, and how a class is built."""
    called = child.func if isinstance(child, ast.Call) else child
    return (
        isinstance(child, ast.Import | ast.ImportFrom)
        or field in {"annotation", "returns", "format_spec"}
        or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant))
        or (field == "decorator_list" and isinstance(called, ast.Name) and called.id in BUILT)
        or (isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) in {"__all__", "__slots__"})
        or (isinstance(node, ast.Subscript) and isinstance(child, ast.Tuple))
    )


def instead(node, members):  # noqa: C901, PLR0911, PLR0912  # one case for each kind of node
    """What may stand in the place of this node by mistake."""
    match node:
        case ast.Constant(bool() as value):
            return [ast.Constant(not value)]
        case ast.Constant(int() | float() as value):
            return [ast.Constant(value + 1)]
        case ast.Constant(str() as value):
            return [ast.Constant(another_text(value))]
        case ast.Compare(left, [op, *more], others) if type(op) in SWAPS:
            return [ast.Compare(left, [SWAPS[type(op)](), *more], others)]
        case ast.BoolOp(op, values):
            return [ast.BoolOp(SWAPS[type(op)](), values)]
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            return [ast.BinOp(left, SWAPS[type(op)](), right)]
        case ast.UnaryOp(ast.Not(), operand):
            return [operand]
        case ast.IfExp(test, body, orelse):
            return [ast.IfExp(test, orelse, body)]
        case ast.If(ast.Name() | ast.Attribute() | ast.Call() | ast.NamedExpr() as test, body, orelse):
            return [ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)]
        case ast.Return(ast.expr() as value) if ast.unparse(value) != "None":
            return [ast.Return(ast.Constant(None))]
        case ast.Continue() | ast.Break():
            return [SWAPS[type(node)]()]
        case ast.Expr(ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise():
            return [ast.Pass()]
        case ast.Attribute(ast.Name(name), member) if member in members.get(name, ()):
            return [ast.Attribute(node.value, following(members[name], member), ast.Load())]
        case ast.Name(name, ast.Load()) if name in members["Actor"]:
            return [ast.Name(following(members["Actor"], name), ast.Load())]
        case ast.Tuple(elts, ast.Load()) | ast.List(elts, ast.Load()) if len(elts) > 1:
            return [type(node)(less, ast.Load()) for less in one_less(elts)]
        case ast.Set(elts) if len(elts) > 1:
            return [ast.Set(less) for less in one_less(elts)]
        case ast.Dict(keys, values) if len(keys) > 1:
            return [ast.Dict(*pair) for pair in zip(one_less(keys), one_less(values), strict=True)]
        case ast.Call(ast.Name("assumed" | "wallet" as name), [command]):
            other = {"assumed": "wallet", "wallet": "assumed"}[name]
            return [command, ast.Call(ast.Name(other, ast.Load()), [command], [])]
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), args, keywords) if name in VARIADIC and len(args) > 1:
            fixed, listed = args[: VARIADIC[name]], args[VARIADIC[name] :]
            fewer = [ast.Call(node.func, fixed + less, keywords) for less in one_less(listed)]
            return fewer + [ast.Call(node.func, args, less) for less in one_less(keywords)]
    return []


def following(ring, one):
    """The next of a ring."""
    return ring[(ring.index(one) + 1) % len(ring)]


def one_less(values):
    """The list without one of its values, for each of them."""
    return [[*values[:at], *values[at + 1 :]] for at in range(len(values))]


def another_text(value):
    """Another source, another rule, or a text that nobody wrote."""
    words = value.split()
    if value in TAGS:
        return following(TAGS, value)
    return " ".join([*words[:-1], following(RULES, words[-1])]) if words and {*words} <= {*RULES} else f"{value[::-1]}~"


def in_words(path, old, new):
    """The mutant in one line, for a report."""
    old, new = (re.sub(r"\s+", " ", ast.unparse(ast.fix_missing_locations(one))) for one in (old, new))
    same = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), len(new))
    cut = max(0, same - 60)
    return f"{path}: {old[cut : cut + 140]} -> {new[cut : cut + 140]}"
