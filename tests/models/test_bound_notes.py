"""A bound module as a constructor argument: that init drops its variables is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.engine.messages.module import LoadModule
from inspector.models import service
from tests.models.loading import Write, quiet
from tests.models.running import spec_in

FILE = """
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    class Backbone(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Dense(4, name="conv")(x)
            return nn.BatchNorm(use_running_average=True, name="norm")(x)

    class Classifier(nn.Module):
        backbone: nn.Module
        others: tuple = ()

        @nn.compact
        def __call__(self, x):
            x = self.backbone(x)
            for other in self.others:
                x = x + other(x)
            return nn.Dense(2, name="head")(x)

    pretrained = Backbone().init(jax.random.key(7), jnp.ones((1, 3)))
    bound = Backbone().bind(pretrained)
    model = Classifier(bound)
    inside = Classifier(Backbone(), (nn.Dense(4), nn.Dense(4).bind({})))
"""


def notes(write: Write, name: str, **kwargs: object) -> tuple[str, ...]:
    spec = spec_in(
        write("net.py", FILE), name, "float32[2,3]", kwargs=json.dumps(kwargs)
    )
    return service.load_module(LoadModule(spec), quiet).notes


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [("model", {}), ("Classifier", {"backbone": {"module": "bound"}})],
)
def test_the_transfer_that_was_meant_is_said(
    write: Write, name: str, kwargs: dict[str, object], tmp_path: Path
) -> None:
    del tmp_path
    assert notes(write, name, **kwargs) == (
        "The field backbone is bound to variables (Module.bind), and init drops them: "
        "Backbone gets new initial values at params/backbone and batch_stats/backbone. "
        "To keep the old ones, write what it is bound to into a checkpoint "
        "(backbone.variables), open that, and drag it onto params/backbone and "
        "batch_stats/backbone.",
    )


def test_a_bound_module_in_a_sequence_has_flaxs_own_name(write: Write) -> None:
    (note,) = notes(write, "inside")
    assert note.startswith("The field others_1 is bound to variables")
    assert "at params/others_1." in note


def test_a_module_that_is_not_bound_is_not_talked_about(write: Write) -> None:
    assert notes(write, "Classifier", backbone={"module": "Backbone"}) == ()
