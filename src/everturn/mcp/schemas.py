"""The schema of a server's tool as a model may be given it: an object at its root, and no reference that leads out of it. Pure."""

from typing import Any

from everturn.core.marks import harmless

Schema = dict[str, Any]
MAX_DEPTH = 60
"""Levels of a schema that are kept; below, any value fits."""
_UNIONS = ("allOf", "anyOf", "oneOf")
_TEXTS = ("title", "description")
"""The server's words for the model, in which nothing can pass for ours."""
_MAX_STEPS = 20
_DROPPED = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$comment"})


def offer_schema(given: Any) -> Schema:
    """The same words where they can stay. The server itself judges the arguments, so a wider schema loses nothing."""
    if not isinstance(given, dict):
        return {"type": "object", "properties": {}}
    cleaned = _clean(given, MAX_DEPTH)
    root = _flatten(_follow(cleaned, cleaned), cleaned)
    root["type"] = "object"
    if not isinstance(root.get("properties"), dict):
        root["properties"] = {}
    required = root.get("required")
    if "required" in root and not (isinstance(required, list) and all(isinstance(name, str) for name in required)):
        del root["required"]
    for name in ("$defs", "definitions"):
        if isinstance(cleaned.get(name), dict):
            root[name] = cleaned[name]
    return root


def _clean(part: Any, depth: int) -> Any:
    """References to other documents become "any value": nobody fetches them."""
    if isinstance(part, list):
        return [_clean(each, depth - 1) for each in part] if depth else []
    if not isinstance(part, dict):
        return part
    if not depth:
        return {}
    reference = part.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        return {name: value for name, value in part.items() if name == "description" and isinstance(value, str)}
    return {
        name: harmless(value) if name in _TEXTS and isinstance(value, str) else _clean(value, depth - 1)
        for name, value in part.items()
        if name not in _DROPPED
    }


def _follow(part: Any, whole: Schema) -> Schema:
    """Where the root is only a reference, what it leads to."""
    for _ in range(_MAX_STEPS):
        if not isinstance(part, dict) or not isinstance(part.get("$ref"), str):
            break
        found: Any = whole
        for name in part["$ref"].removeprefix("#").strip("/").split("/"):
            found = found.get(name.replace("~1", "/").replace("~0", "~")) if name and isinstance(found, dict) else found
        if found is part:
            return {}
        part = found
    return dict(part) if isinstance(part, dict) and "$ref" not in part else {}


def _flatten(root: Schema, whole: Schema) -> Schema:
    """A union at the root becomes one object with the fields of all its forms."""
    forms = {union: root.pop(union) for union in _UNIONS if union in root}
    if not forms:
        return root
    properties: Schema = dict(root["properties"]) if isinstance(root.get("properties"), dict) else {}
    required = set(root.get("required", ())) if isinstance(root.get("required"), list) else set()
    for union, parts in forms.items():
        objects = [_follow(part, whole) for part in parts] if isinstance(parts, list) else []
        for each in objects:
            for name, value in (
                (each.get("properties") or {}).items() if isinstance(each.get("properties"), dict) else ()
            ):
                properties.setdefault(name, value)
        needed = [set(each["required"]) if isinstance(each.get("required"), list) else set() for each in objects]
        if needed:
            required |= set.union(*needed) if union == "allOf" else set.intersection(*needed)
    root["properties"] = properties
    if required:
        root["required"] = sorted(name for name in required if isinstance(name, str))
    if "additionalProperties" in root and root["additionalProperties"] is False:
        del root["additionalProperties"]
    return root
