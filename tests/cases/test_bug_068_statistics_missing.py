"""Bug 68: only params are there, and evaluation needs the running statistics."""

from __future__ import annotations

import pytest

from inspector.engine.messages.calling import Call
from inspector.errors import LoadModuleError
from inspector.models.abstract_call import abstract_values, trace_abstractly
from inspector.models.loading import explained, load_subject
from inspector.models.resolve import resolve
from inspector.variables.plain import PlainTree
from tests.models.loading import quiet, spec_of


def test_says_what_is_missing_and_where_before_anything_runs() -> None:
    subject = load_subject(spec_of("Normed", "f32[1,8,8,1]"), quiet)
    whole = subject.traced.tree()
    params = PlainTree(tuple(one for one in whole.leaves if one[0][0] == "params"))
    assert len(params.leaves) < len(whole.leaves)
    call = resolve(subject, Call(inputs=("f32[1,8,8,1]",), mode="eval"))
    with (
        pytest.raises(LoadModuleError) as caught,
        explained(subject.imported, "Running nets.py:Normed"),
    ):
        trace_abstractly(subject, call, subject.build(abstract_values(params)))
    assert caught.value.message == (
        "Running nets.py:Normed failed: batch_stats is missing for BatchNorm_0 "
        "(mean, var) (ScopeCollectionNotFound)."
    )
    assert "from a checkpoint" in caught.value.hint
    assert "from init" in caught.value.hint
