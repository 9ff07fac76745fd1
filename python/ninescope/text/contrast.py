"""Which colour text has on a colour: that of the higher contrast.

Web Content Accessibility Guidelines 2.1 (W3C, 2018): relative luminance, and the contrast of two colours.
"""

from __future__ import annotations


def luminance(colour: str, opacity: float = 1.0) -> float:
    """Return how light `#rrggbb` is over white, from 0 (black) to 1 (white)."""
    parts = (int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5))
    red, green, blue = (_linear(1 - opacity * (1 - part)) for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: float, other: float) -> float:
    """Return the contrast of two luminances, from 1 to 21."""
    light, dark = max(one, other), min(one, other)
    return (light + 0.05) / (dark + 0.05)


def readable_on(colour: str, *, dark: str, opacity: float = 1.0) -> str:
    """Return white or the dark colour, whichever is read better on this one, as it looks over white."""
    ground = luminance(colour, opacity)
    return "white" if contrast(1.0, ground) > contrast(luminance(dark), ground) else dark


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
