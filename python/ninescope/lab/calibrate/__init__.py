"""Calibrating a drive: what is not known of it is fitted to some figures, and the others are predicted.

`calibrate(DeviceFile.read("device.toml"), "out").median("holdout")` is by how much they are missed.
"""

from ninescope.lab.calibrate.calibrate import calibrate, tried
from ninescope.lab.calibrate.file import DeviceFile
from ninescope.lab.calibrate.record import Calibration

__all__ = ["Calibration", "DeviceFile", "calibrate", "tried"]
