"""The schema of an answer, in the terms that the API takes: what it cannot say stands in words, or nothing is sent."""

import pytest

from everturn.models.anthropic.schemas import fit_schema
from everturn.modelserver import check_request

INTEGER = {"type": "integer"}
FITTED = {
    "an object without a word about other keys is closed": (
        {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]},
        {"type": "object", "properties": {"a": INTEGER}, "required": ["a"], "additionalProperties": False},
    ),
    "objects inside are closed, too": (
        {
            "type": "array",
            "items": {"type": "object", "properties": {"a": {"anyOf": [{"properties": {"b": INTEGER}}]}}},
        },
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"a": {"anyOf": [{"properties": {"b": INTEGER}, "additionalProperties": False}]}},
                "additionalProperties": False,
            },
        },
    ),
    "bounds are told in words": (
        {"type": "integer", "minimum": 0, "maximum": 9, "description": "How many."},
        {"type": "integer", "description": "How many. minimum: 0 maximum: 9"},
    ),
    "a pattern and an unknown format are told in words": (
        {"type": "string", "pattern": "^a", "format": "colour"},
        {"type": "string", "description": "pattern: ^a format: colour"},
    ),
    "what the API knows stays": (
        {"type": "array", "minItems": 1, "items": {"type": "string", "format": "date"}},
        {"type": "array", "minItems": 1, "items": {"type": "string", "format": "date"}},
    ),
    "a property may have any name": (
        {"type": "object", "properties": {"minimum": INTEGER}, "additionalProperties": False},
        {"type": "object", "properties": {"minimum": INTEGER}, "additionalProperties": False},
    ),
    "the dialect is not told": (
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"},
        {"type": "string"},
    ),
    "one of several is any of them": ({"oneOf": [INTEGER, {"type": "null"}]}, {"anyOf": [INTEGER, {"type": "null"}]}),
    "definitions are closed where they stand": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"b": INTEGER}}}},
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"type": "object", "properties": {"b": INTEGER}, "additionalProperties": False}},
        },
    ),
}


@pytest.mark.parametrize("name", FITTED)
def test_a_schema_is_told_in_the_apis_terms(name):
    schema, fitted = FITTED[name]
    body = {"model": "claude-opus-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    config = {"format": {"type": "json_schema", "schema": fitted}}
    assert fit_schema(schema) == fitted
    assert check_request(body | {"output_config": config}) is None


UNFIT = {
    "keys of any name": {"type": "object", "additionalProperties": INTEGER},
    "any object at all": {"type": "object"},
    "more keys than are named": {"type": "object", "properties": {"a": INTEGER}, "additionalProperties": True},
    "keys by a pattern": {"type": "object", "properties": {}, "patternProperties": {"^a": INTEGER}},
    "a circle": {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}},
    "a schema from elsewhere": {"$ref": "https://example.com/schema.json"},
    "the schema itself": {"type": "array", "items": {"$ref": "#"}},
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_schema_that_the_api_cannot_hold_an_answer_to_is_not_sent(name):
    assert fit_schema(UNFIT[name]) is None
