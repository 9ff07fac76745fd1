"""Where examples and experiments are: in the checkout that this package is of, or else within the package."""

from __future__ import annotations

from pathlib import Path

from ninescope._native import ConfigError

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str, otherwise: str = "") -> Path:
    """Return the folder of that name; where there is none, say so, and what may be given otherwise."""
    places = (_PACKAGE.parents[1] / name, _PACKAGE / "shipped" / name)
    # Beside an installed package there may be a folder of that name that is somebody else's.
    is_checkout = (_PACKAGE.parents[1] / "Cargo.toml").is_file()
    for place in places if is_checkout else places[1:]:
        if place.is_dir():
            return place
    raise ConfigError(
        f"the {name} are not here: neither in a checkout of ninescope, nor installed with it{otherwise}"
    )
