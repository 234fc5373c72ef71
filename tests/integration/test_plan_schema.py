"""docs/plan.schema.json takes every right plan as an editor sees it, and marks the mistakes that an editor can know.

That it has exactly the keys of the reader is held by tests/golden/plan_schema_test.cpp."""

import copy
import json
import pathlib
import re

import jsonschema
import pytest
import yaml

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
VALIDATOR = jsonschema.Draft202012Validator(json.loads((CHECKOUT / "docs/plan.schema.json").read_text()))


class EditorLoader(yaml.SafeLoader):
    """Types a plain scalar as YAML 1.2 does (the core schema), which is what editors' language servers use."""

    yaml_implicit_resolvers = {}


for tag, pattern, first in [
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+)$", list("-+0123456789")),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", list("-+.0123456789")),
]:
    EditorLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)


def as_editor_sees(text):
    return yaml.load(text, EditorLoader)


def plans_to_read():
    for path in sorted(CHECKOUT.glob("plans/**/*.yaml")):
        yield pytest.param(path.read_text(), id=str(path.relative_to(CHECKOUT)))
    page = (CHECKOUT / "docs/plan-reference.md").read_text()
    for number, text in enumerate(re.findall(r"```yaml plan\n(.*?)```", page, re.DOTALL), 1):
        yield pytest.param(text, id=f"plan-reference.md {number}")


RIGHT_PLANS = list(plans_to_read())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize("text", RIGHT_PLANS)
def test_a_right_plan_is_valid_however_its_scalars_are_typed(text):
    for plan in (as_editor_sees(text), yaml.load(text, yaml.BaseLoader)):
        empty_to_null(plan)
        assert [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(plan)] == []


def empty_to_null(node):
    """BaseLoader reads an absent value as ""."""
    if isinstance(node, dict):
        for key, value in node.items():
            if value == "" and key in ("connect", "listen", "close", "drop", "expect", "ping", "reconnect"):
                node[key] = None
            empty_to_null(value)
    elif isinstance(node, list):
        for value in node:
            empty_to_null(value)


@pytest.mark.parametrize("name", ["unknown-keys", "not-yet", "numbers", "scripts", "stages", "missing", "merge-key",
                                  "search", "search-2", "search-3", "search-4"])
def test_plans_that_the_reader_refuses_for_keys_and_types_are_not_valid(name):
    text = (CHECKOUT / f"tests/golden/plans/{name}.yaml").read_text()
    assert not VALIDATOR.is_valid(as_editor_sees(text))


def closed_maps(plan):
    """Every map of the plan whose keys belong to the language, with its path."""
    yield "plan", plan
    for name, scenario in plan["scenarios"].items():
        yield name, scenario
        yield from maps_of_steps(scenario["script"])
    for stage in plan.get("stages", []):
        yield stage["name"], stage
    if "search" in plan:
        yield "search", plan["search"]
    for observed in plan.get("observe", []):
        yield observed["name"], observed


def maps_of_steps(steps):
    for step in steps:
        if isinstance(step, dict):
            yield "step", step
            (name, options), = step.items()
            if isinstance(options, dict) and name != "set":  # whose keys are the user's own names
                yield name, options
                yield from maps_of_steps(options.get("do", []))
            for branch in options if name == "choose" else []:
                yield "branch", branch
                yield from maps_of_steps(branch["do"])


@pytest.mark.parametrize("text", RIGHT_PLANS)
def test_an_unknown_key_is_marked_wherever_it_stands(text):
    plan = as_editor_sees(text)
    places = list(closed_maps(plan))
    assert len(places) >= 5
    for index, (name, _) in enumerate(places):
        changed = copy.deepcopy(plan)
        list(closed_maps(changed))[index][1]["nonsense"] = "1"
        assert not VALIDATOR.is_valid(changed), name


@pytest.mark.parametrize("key, value", [("users", "1e3"), ("users", "5K"), ("users", -1), ("users", 1.5),
                                        ("users", None), ("over", "10"), ("over", 10), ("rate", "100"),
                                        ("arrivals", "fast"), ("for", "1:30"), ("name", "two words"), ("name", "")])
def test_a_figure_in_a_form_that_the_reader_refuses_is_marked(key, value):
    plan = as_editor_sees((CHECKOUT / "plans/hello.yaml").read_text())
    assert VALIDATOR.is_valid(plan)
    plan["stages"][0] = {"name": "ramp", "users": 200, "for": "5s", key: value}
    assert not VALIDATOR.is_valid(plan)
