"""Policies with one thing wrong, made from the source of the real one: a check that lets one of them pass proves little."""

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import msgspec

from everturn.core import budget
from everturn.core import decide as policy
from everturn.core.state import Guards
from everturn.testing.explore import Policy

STEPS = frozenset({"go_on", "fresh_start", "next_turn", "replace", "WorkBudget"})
"""Calls whose keywords change what the policy remembers."""
NEIGHBOUR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


class Mutant(NamedTuple):
    name: str
    """The function, what was done, and to which code."""
    policy: Policy


class Change(NamedTuple):
    """`owner.field` becomes `value` for the life of one mutant."""

    what: str
    owner: ast.AST
    field: str
    value: Any


def generate_mutants() -> Iterator[Mutant]:
    """Every condition dropped, turned or moved by one; every change of a guard left out; every kept guard reset."""
    functions = [*functions_of(policy), *(one for one in functions_of(budget) if one.name == "judge_work")]
    fresh = next(keywords_in(function) for function in functions if function.name == "fresh_start")
    for function in functions:
        for change in find_changes(function, fresh):
            before = getattr(change.owner, change.field)
            setattr(change.owner, change.field, change.value)
            yield Mutant(f"{function.name}: {change.what}", build_policy(functions))
            setattr(change.owner, change.field, before)


def functions_of(module: ModuleType) -> list[ast.FunctionDef]:
    return [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.FunctionDef)]


def build_policy(functions: list[ast.FunctionDef]) -> Policy:
    """The functions replace their namesakes; the values they speak of stay the real ones."""
    module = ast.fix_missing_locations(ast.Module(body=list(functions), type_ignores=[]))
    names = vars(budget) | vars(policy)
    exec(compile(module, "<mutant>", "exec"), names)  # noqa: S102 (our own source, changed in one place)
    decide: Policy = names["decide"]
    return decide


def find_changes(function: ast.FunctionDef, fresh: set[str]) -> Iterator[Change]:
    for node in ast.walk(function):
        match node:
            case ast.match_case(pattern=pattern, guard=ast.expr() as guard):
                yield from fix(node, "guard", f"case {ast.unparse(pattern)} if {ast.unparse(guard)}")
            case ast.If(test=test):
                yield from fix(node, "test", f"if {ast.unparse(test)}")
            case ast.BoolOp(op=ast.And(), values=values):
                for gone in values:
                    rest = [ast.Constant(value=True) if value is gone else value for value in values]
                    yield Change(f"`{ast.unparse(gone)}` dropped of `{ast.unparse(node)}`", node, "values", rest)
            case ast.Compare(ops=[operator]) if type(operator) in NEIGHBOUR:
                yield Change(f"`{ast.unparse(node)}` moved by one", node, "ops", [NEIGHBOUR[type(operator)]()])
            case ast.MatchClass(kwd_attrs=names, kwd_patterns=patterns):
                yield from forget_facts(node, names, patterns)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in STEPS:
                yield from forget_changes(node)
                if name != "WorkBudget":
                    yield from reset_kept(node, fresh if name == "fresh_start" else set())


def fix(node: ast.AST, field: str, source: str) -> Iterator[Change]:
    for value in (True, False):
        yield Change(f"always {value}: `{source}`", node, field, ast.Constant(value=value))


def forget_facts(node: ast.MatchClass, names: list[str], patterns: list[ast.pattern]) -> Iterator[Change]:
    """A pattern that asks for a value asks no more."""
    for place, pattern in enumerate(patterns):
        if isinstance(pattern, ast.MatchSingleton | ast.MatchValue):
            rest = [*patterns[:place], ast.MatchAs(), *patterns[place + 1 :]]
            yield Change(f"`{names[place]}` ignored in `{ast.unparse(node)}`", node, "kwd_patterns", rest)


def forget_changes(call: ast.Call) -> Iterator[Change]:
    """A guard that should change stays as it was."""
    owner = call.args[0] if call.args else ast.Name("work", ast.Load())
    for keyword in call.keywords:
        if keyword.arg is not None:
            kept = ast.Attribute(owner, keyword.arg, ast.Load())
            yield Change(f"`{ast.unparse(keyword)}` left out of `{ast.unparse(call)}`", keyword, "value", kept)


def reset_kept(call: ast.Call, changed: set[str]) -> Iterator[Change]:
    """A guard that should stay goes back to its beginning."""
    if not call.args or ast.unparse(call.args[0]) != "guards" or passes_on(call):
        return
    for field in msgspec.structs.fields(Guards):
        if field.name not in changed | {keyword.arg for keyword in call.keywords} | {"transition"}:
            beginning = ast.parse("WorkBudget()" if field.name == "work" else repr(field.default), mode="eval").body
            keywords = [*call.keywords, ast.keyword(field.name, beginning)]
            yield Change(f"`{field.name}` reset in `{ast.unparse(call)}`", call, "keywords", keywords)


def passes_on(call: ast.Call) -> bool:
    """The rest of its keywords is the caller's business."""
    return any(keyword.arg is None for keyword in call.keywords) or ast.unparse(call.func) == "next_turn"


def keywords_in(function: ast.FunctionDef) -> set[str]:
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return {keyword.arg for call in calls for keyword in call.keywords if keyword.arg is not None}
