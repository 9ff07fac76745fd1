"""The options of `ninescope ecc`: what each is called and takes."""

from __future__ import annotations

from typing import Annotated

import typer

UserData = Annotated[
    str, typer.Option(metavar="SIZE[,SIZE]", help="User data of a codeword, as 512B or 1KiB.")
]
Correctable = Annotated[
    str | None,
    typer.Option(metavar="T[,T|T..T]", help="Errors corrected in a codeword: 1,10,35 or 1..35."),
]
Rate = Annotated[
    float | None,
    typer.Option(metavar="R", help="Up to the strongest code of this rate instead; 0.9 by default."),
]
FieldDegree = Annotated[
    int | None,
    typer.Option(
        min=3, max=24, metavar="M", help="Degree of the field GF(2^M); the smallest that fits by default."
    ),
]
Crc = Annotated[
    int | None,
    typer.Option(min=1, max=64, metavar="WIDTH", help="A checksum of so many bits beside them."),
]
Uber = Annotated[float, typer.Option(metavar="U", help="The target of the uncorrectable bit error rate.")]
Rber = Annotated[
    float | None,
    typer.Option(metavar="P", help="Say how codes do at this raw bit error rate, and which is enough."),
]
Page = Annotated[str, typer.Option(metavar="SIZE", help="User data of the page whose failure is told.")]
VerifyCycles = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=1000,
        metavar="N",
        help="The weakest code for 0 to N verify cycles of SCM, which cut --rber (49 % at 20).",
    ),
]
PulseNs = Annotated[
    float,
    typer.Option(min=0.0, metavar="NS", help="With --verify-cycles: a pulse that writes a sector."),
]
VerifyReadNs = Annotated[
    float, typer.Option(min=0.0, metavar="NS", help="With --verify-cycles: a read of a sector.")
]
BitsPerCycle = Annotated[
    int, typer.Option(min=1, max=1 << 20, metavar="N", help="Codec: bits that go in per cycle.")
]
Cycle = Annotated[str, typer.Option(metavar="TIME", help="Codec: a cycle; 10ns are 100 MHz.")]
KeyEquation = Annotated[
    str,
    typer.Option(metavar="linear|quadratic", help="Codec: the key equation takes --factor x t or t^2."),
]
Factor = Annotated[float, typer.Option(metavar="X", help="Codec: cycles of that.")]
Overlapped = Annotated[
    bool,
    typer.Option(
        "--overlapped/--in-turn", help="Codec: whether the search shares a pass with the syndromes."
    ),
]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="Draw the codes into a .png, .svg or .pdf.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
