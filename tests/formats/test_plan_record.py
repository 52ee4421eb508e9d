from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.formats.plan_record import plan_from_dict, plan_to_dict
from skill_assay.model.trial import Arm
from tests.made import made_plan

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_every_field_survives_the_file() -> None:
    arms = (
        Arm("with_skill", "primary", "claude-code", "m", Path("a/b"), "pdf", "d", "slash"),
        Arm("bare", "baseline", "claude-code", environment_note=False, origin="bare"),
    )
    plan = made_plan(("1", "b"), 2, arms, agents={"bare": {"version": "2"}}, versions={"x": "1"}, created_at="now")
    assert plan_from_dict(json.loads(json.dumps(plan_to_dict(plan)))) == plan


@pytest.mark.parametrize("version", [None, 2, "1"])
def test_another_version_is_refused(version: object) -> None:
    with pytest.raises(InputError, match="another version"):
        plan_from_dict({**plan_to_dict(made_plan()), "schema_version": version})


@pytest.mark.parametrize("key", sorted(plan_to_dict(made_plan()).keys() - {"schema_version"}))
@settings(max_examples=20, deadline=None)
@given(value=JSON)
def test_damage_is_a_message_and_never_a_crash(key: str, value: Any) -> None:
    record = {**plan_to_dict(made_plan()), key: value}
    try:
        plan_from_dict(record)
    except InputError:
        pass
    del record[key]
    with pytest.raises(InputError, match="damaged"):
        plan_from_dict(record)
