"""What other shapes of a stand-in would come to: the tool behind docs/prxy_1-shape.md."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from conftest import NATIVE, ROOT
from ninescope.papers.experiment import Settings

pytestmark = pytest.mark.skipif(not NATIVE, reason="the engine is not built")


@pytest.fixture(scope="module")
def tool() -> Any:
    sys.path.insert(0, str(ROOT / "tools/stand_ins"))
    try:
        return importlib.import_module("shape")
    finally:
        sys.path.pop(0)


def test_each_number_of_the_shape_is_changed_alone(tool):
    _, volumes = tool.table.load()
    volume = next(each for each in volumes if each.name == tool.VOLUME)
    shapes = list(tool.shapes(volume))
    assert len(shapes) == 1 + 2 * len(volume.shape) == 5
    assert tool.varied(volume, shapes[0]) == volume
    for shape in shapes[1:]:
        ratios = {key: tool.varied(volume, shape).shape[key] / value for key, value in volume.shape.items()}
        assert ratios.pop(shape.key) == pytest.approx(shape.factor)
        assert set(ratios.values()) == {1.0}
        assert tool.varied(volume, shape).constraints == volume.constraints


def test_the_best_placement_is_marked_and_the_impossible_is_said(tool):
    iops = {
        (placement, ratio): 1000.0 * place + ratio
        for place, placement in enumerate(("wb", "wo-dm", "rwb-dm"))
        for ratio in tool.RATIOS
    }
    found = tool.Found(tool.Shape("hot_slope", 0.5), 3 << 20, iops, 1.25, 3.0)
    line = tool.row(found, 2.0)
    assert line.startswith("| slope of popularity x 0.5 | 3 MiB | 1 / 1,001 / **2,001** |")
    assert line.endswith("| +125% | 3.00 | 1.50 |")
    page = tool.page([found, "written hot x 0.5: impossible: too few pages"], 2.0)
    assert page.count("\n| ") == 2 + 1
    assert page.endswith("- written hot x 0.5: impossible: too few pages\n")


def test_the_papers_run_a_profile_of_ones_own(tool, monkeypatch):
    monkeypatch.setattr(tool, "Settings", lambda **words: Settings(**words, length=0.001))
    found = tool.run(tool.Shape("", 1.0), str(ROOT / "presets/profiles/prxy_1.toml"))
    assert found.footprint > 0
    assert len(found.iops) == 9
    assert min(found.iops.values()) > 0
    assert found.gain > -1
    assert found.reads_per_program > 0
