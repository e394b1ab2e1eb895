"""Every small change of a module: (line, what becomes what, the changed source)."""

import ast
import copy
from collections.abc import Iterator

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COUNTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Pow: ast.Mult,
}  # fmt: skip
WORDS = (ast.JoinedStr, ast.arg, ast.AnnAssign)  # what is said, and types: no test owes these
HEADS = ("returns", "decorator_list", "annotation", "exc", "cause")


def changes(source: str) -> Iterator[tuple[int, str, str]]:
    """All of them; comments go, and line numbers are those of `source`."""
    tree = ast.parse(source)
    for path, node in _nodes(tree, ()):
        for other in _others(node):
            changed = _with(tree, path, other)
            said = f"{_short(node)}  ->  {_short(other)}"
            yield node.lineno, said, ast.unparse(ast.fix_missing_locations(changed))


def _nodes(node: ast.AST, path: tuple) -> Iterator[tuple[tuple, ast.AST]]:
    for name, value in ast.iter_fields(node):
        if name in HEADS:
            continue
        for k, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or isinstance(child, WORDS) or _aside(child):
                continue
            place = (*path, (name, k if isinstance(value, list) else None))
            yield place, child
            yield from _nodes(child, place)


def _aside(node: ast.AST) -> bool:
    """A docstring, an import, or what is there for readers of types."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    typing = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    return docstring or typing or isinstance(node, (ast.Import, ast.ImportFrom))


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Compare):
        for k, op in enumerate(node.ops):
            other = copy.copy(node)
            other.ops = [*node.ops[:k], COMPARED[type(op)](), *node.ops[k + 1 :]]
            yield other
    elif isinstance(node, ast.BoolOp):
        for k in range(len(node.values)):
            rest = node.values[:k] + node.values[k + 1 :]
            yield rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(node.op, rest), node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in COUNTED:
        yield ast.copy_location(ast.BinOp(node.left, COUNTED[type(node.op)](), node.right), node)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.copy_location(ast.Constant(not node.value), node)
        elif isinstance(node.value, int):
            yield ast.copy_location(ast.Constant(node.value + 1), node)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        if not isinstance(node.test, (ast.Compare, ast.UnaryOp)):
            other = copy.copy(node)
            other.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node)
            yield other
    elif isinstance(node, (ast.Raise, ast.AugAssign)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield ast.copy_location(ast.Pass(), node)
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        yield ast.copy_location(ast.Return(ast.Constant(None)), node)


def _with(tree: ast.AST, path: tuple, other: ast.AST) -> ast.AST:
    """A copy of the tree with another node at a place; what is not on the way is shared."""
    if not path:
        return other
    (name, k), rest = path[0], path[1:]
    top, value = copy.copy(tree), getattr(tree, name)
    if k is None:
        setattr(top, name, _with(value, rest, other))
    else:
        setattr(top, name, [*value[:k], _with(value[k], rest, other), *value[k + 1 :]])
    return top


def _short(node: ast.AST) -> str:
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= 90 else text[:87] + "..."
