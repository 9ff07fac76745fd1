"""Codes by themselves: against whole numbers, a naive codec, and what is published; the verb `ecc`."""

from __future__ import annotations

import json
import math
import random
import re
import zlib

import numpy as np
import pytest

import ninescope
from naive_codes import Bch, above
from ninescope import Code
from ninescope.pictures.codes import plot
from ninescope.simulation.codes import JointChoice, best, joint_choices

# Mathematics.


@pytest.mark.parametrize(
    ("user_data", "correctable", "degree", "bits"), [("512B", 35, 13, 4551), ("8KiB", 428, 17, 72812)]
)
def test_the_strongest_codes_of_paper_000_come_out(user_data, correctable, degree, bits):
    code = Code.bch(user_data, rate=0.9)
    assert (code.correctable, code.field_degree, code.codeword_bits) == (correctable, degree, bits)
    assert code.rate >= 0.9 > Code.bch(user_data, correctable + 1).rate
    assert code.parity_bits == degree * correctable


@pytest.mark.parametrize(
    ("correctable", "aber"), [(1, 6.97e-10), (10, 1.12e-4), (20, 6.51e-4), (35, 1.92e-3)]
)
def test_acceptable_rates_are_those_of_the_published_arithmetic(correctable, aber):
    assert Code.bch("512B", correctable).aber(1e-15) == pytest.approx(aber, rel=0.005)


@pytest.mark.parametrize("rber", [2.0**-7, 2.0**-10, 2.0**-15, 2.0**-27])
@pytest.mark.parametrize("correctable", [1, 8, 35])
def test_failures_are_those_of_whole_numbers(correctable, rber):
    code = Code.bch("512B", correctable)
    exact = above(code.codeword_bits, correctable, rber)
    if exact < 10**-290:
        assert code.failure(rber) < 1e-285
        return
    assert code.failure(rber) == pytest.approx(float(exact), rel=1e-11)
    assert code.uber(rber) == pytest.approx(float(exact / 4096), rel=1e-11)
    assert code.page_failure(rber, 32) == pytest.approx(float(1 - (1 - exact) ** 32), rel=1e-11)


def test_rates_may_be_arrays_of_any_shape():
    code = Code.bch("512B", 35)
    rates = np.geomspace(1e-4, 1e-2, 6).reshape(2, 3)
    failures = code.failure(rates)
    assert failures.shape == (2, 3)
    assert failures[1, 2] == code.failure(float(rates[1, 2]))
    assert isinstance(code.uber(1e-3), float)
    assert isinstance(code.uber(np.float64(1e-3)), float)
    assert code.uber([1e-3]).shape == (1,)
    assert code.uber(rates[:, ::2]).tolist() == code.uber(rates)[:, ::2].tolist()
    assert np.all(np.diff(code.aber([1e-17, 1e-15, 1e-13])) > 0)
    assert code.page_failure(rates, 16).shape == (2, 3)
    assert code.uber([]).shape == (0,)


def test_a_rate_meets_its_target_exactly():
    code = Code.bch("1KiB", 40)
    for target in (1e-13, 1e-17, 1e-100):
        rate = code.aber(target)
        assert code.uber(rate) <= target * (1 + 1e-10)
        assert code.uber(rate * (1 + 1e-9)) > target


def test_the_weakest_code_is_the_first_that_suffices():
    code = Code.weakest_bch("512B", rber=1e-3)
    assert code is not None
    assert code.aber() >= 1e-3 > Code.bch("512B", code.correctable - 1).aber()
    assert Code.weakest_bch("512B", rber=0.4) is None
    assert Code.weakest_bch("512B", rber=0) == Code.bch("512B", 1, field_degree=13)


def test_verify_cycles_that_halve_errors_spare_parity():
    rber = Code.bch("512B", 35).aber(1e-15)
    choices = joint_choices("512B", rber=rber, verify_cycles=20)
    assert [choice.verify_cycles for choice in choices] == list(range(21))
    assert choices[0].code == Code.bch("512B", 35, field_degree=13)
    assert choices[20].rber == pytest.approx(0.51 * rber)
    # Written: encoded, a pulse, and per cycle a read and a pulse more. Read: sensed and decoded.
    third = choices[3]
    assert third.write_ns == third.code.encode_time(1) + 250 + 3 * 350
    assert third.read_ns == 100 + third.code.decode_time(1, 1)
    assert best(choices, 0.0) == choices[0]
    assert best(choices, 1.0).code == choices[20].code
    assert best([]) is None
    assert best([JointChoice(0, 0.4, None)]) is None
    assert choices[20].code == Code.bch("512B", 25, field_degree=13)  # published: 35 -> 25
    strengths = [choice.code.correctable for choice in choices if choice.code]
    assert strengths == sorted(strengths, reverse=True)


def test_what_is_undetected_is_theory():
    assert Code.crc("4KiB").undetected == 2.0**-32
    n = 4096 + 3 * 13
    assert Code.bch("512B", 3).undetected == pytest.approx(
        sum(math.comb(n, errors) for errors in range(4)) / 2**39, rel=1e-12
    )
    assert Code.ldpc("2KiB", "256B", 70).undetected == 0


# Times.


def test_times_are_cycles_counted_by_hand():
    fast = {
        "policy": "cycles",
        "bits_per_cycle": 32,
        "cycle": "5ns",
        "key_equation": "linear",
        "factor": 2,
        "overlapped": False,
    }
    code = Code.bch("512B", 35, latency=fast)
    assert (code.encode_time(), code.decode_time()) == (143 * 5, (143 + 70 + 128) * 5)
    assert code.decode_time(4, 0) == 4 * 143 * 5
    assert code.codewords("16KiB") == 32
    assert Code.crc("4KiB").decode_time(2) == 1600
    assert Code.bch("4KiB", 5, latency="fixed").decode_time(3, 1) == 20_000


# The real codec against the naive one.


@pytest.mark.parametrize(
    ("user_bytes", "correctable", "degree"), [(1, 1, 4), (1, 2, 5), (2, 3, 5), (3, 2, 6)]
)
def test_every_word_near_a_codeword_is_decoded_as_the_table_says(user_bytes, correctable, degree):
    """Words with any number of errors, those that are miscorrected included."""
    naive = Bch(user_bytes, correctable, degree)
    code = Code.bch(user_bytes, correctable, field_degree=degree)
    assert code.parity_bits >= naive.parity_bits
    patterns = naive.syndrome_table()
    random_ = random.Random(1)
    outcomes = set()
    for _ in range(600):
        user = random_.getrandbits(naive.user_bits)
        word = user << naive.parity_bits | naive.encode(user)
        assert code.encode(user.to_bytes(user_bytes, "big")) == parity_bytes(naive, code, word)
        errors = random_.sample(range(naive.bits), random_.randrange(2 * correctable + 3))
        received = word ^ sum(1 << place for place in errors)
        # The word with what its remainder stands for taken away, if that is a pattern of up to t errors.
        found = patterns.get(
            naive.encode(received >> naive.parity_bits) ^ received & (1 << naive.parity_bits) - 1
        )
        decoded = code.decode(
            (received >> naive.parity_bits).to_bytes(user_bytes, "big"), parity_bytes(naive, code, received)
        )
        expected = received if found is None else received ^ found
        assert decoded.user == (expected >> naive.parity_bits).to_bytes(user_bytes, "big")
        assert decoded.parity == parity_bytes(naive, code, expected)
        assert decoded.corrected == (None if found is None else bin(found).count("1"))
        outcomes.add("lost" if found is None else "right" if expected == word else "miscorrected")
    assert "right" in outcomes
    assert outcomes & {"lost", "miscorrected"}


def parity_bytes(naive: Bch, code: Code, word: int) -> bytes:
    """The parity of a word as bytes: highest bit first, zeros behind."""
    parity = word & ((1 << naive.parity_bits) - 1)
    return (parity << 8 * code.parity_bytes - naive.parity_bits).to_bytes(code.parity_bytes, "big")


@pytest.mark.parametrize(("user_bytes", "correctable", "degree"), [(32, 5, 9), (16, 4, 8)])
def test_longer_words_are_decoded_as_peterson_gorenstein_and_zierler_do(user_bytes, correctable, degree):
    naive = Bch(user_bytes, correctable, degree)
    code = Code.bch(user_bytes, correctable, field_degree=degree)
    random_ = random.Random(2)
    for errors in range(correctable + 4):
        user = random_.getrandbits(naive.user_bits)
        word = user << naive.parity_bits | naive.encode(user)
        received = word ^ sum(1 << place for place in random_.sample(range(naive.bits), errors))
        found = naive.peterson(received)
        decoded = code.decode(
            (received >> naive.parity_bits).to_bytes(user_bytes, "big"), parity_bytes(naive, code, received)
        )
        assert decoded.corrected == (None if found is None else bin(found).count("1"))
        expected = received if found is None else received ^ found
        assert decoded.user == (expected >> naive.parity_bits).to_bytes(user_bytes, "big")
        assert errors > correctable or expected == word


def test_a_generator_is_the_one_in_print():
    """User data of a single one leaves the generator without its leading term, here that of (31, 16, 3)."""
    assert Code.bch(2, 3, field_degree=5).encode(b"\0\1") == ((0o107657 ^ 1 << 15) << 1).to_bytes(2, "big")
    assert Bch(2, 3, 5).generator == 0o107657
    assert Bch(1, 2, 4).generator == 0b111010001  # x^8 + x^7 + x^6 + x^4 + 1


def test_a_sector_of_paper_000_comes_back_from_35_errors_and_not_from_36():
    naive = Bch(512, 35, 13)
    assert naive.parity_bits == 455
    code = Code.bch("512B", 35)
    user = random.Random(3).randbytes(512)
    parity = code.encode(user)
    assert int.from_bytes(parity, "big") >> 8 * 57 - 455 == naive.encode(int.from_bytes(user, "big"))
    wrong = bytearray(user)
    for place in range(35):
        wrong[7 * place] ^= 1 << place % 8
    assert code.decode(bytes(wrong), parity) == (user, parity, 35)
    wrong[511] ^= 1
    assert code.decode(bytes(wrong), parity) == (bytes(wrong), parity, None)


def test_a_checksum_is_that_of_zlib():
    code = Code.crc("4KiB")
    user = random.Random(4).randbytes(4096)
    parity = zlib.crc32(user).to_bytes(4, "big")
    assert code.encode(user) == parity
    assert code.decode(user, parity).corrected == 0
    assert code.decode(user[:-1] + bytes([user[-1] ^ 4]), parity).corrected is None


# What is refused.


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Code.bch("512B"), "not both"),
        (lambda: Code.bch("512B", 35, rate=0.9), "not both"),
        (lambda: Code.bch("512B", 0), "correctable is 0"),
        (lambda: Code.bch("512B", 35, field_degree=12), "the smallest field that holds it has degree 13"),
        (lambda: Code.bch("512B", 700, field_degree=13), "correctable is 700, beyond the field of degree 13"),
        (lambda: Code.bch("512B", rate=0.999), "rate is 0.999"),
        (lambda: Code.bch("512B", 3, latency={"policy": "cycles", "cycle": 0}), "latency.cycle is 0"),
        (lambda: Code.bch("512B", 3, latency="cylces"), "did you mean `cycles`?"),
        (lambda: Code.bch("512X", 3), "`512X` is not a size"),
        (lambda: Code.crc("4KiB", 65), "width is 65"),
        (lambda: Code({"policy": "bch", "corectable": 3}), "did you mean `correctable`?"),
        (lambda: Code({"policy": "bch", "correctable": object()}), "describes no code"),
        (lambda: Code.bch("512B", 3).uber(0.6), "rber is 0.6"),
        (lambda: Code.bch("512B", 3).uber([1e-3, -1e-3]), "rber is -0.001"),
        (lambda: Code.bch("512B", 3).uber(math.nan), "rber is NaN"),
        (lambda: Code.bch("512B", 3).uber("often"), "neither a rate"),
        (lambda: Code.bch("512B", 3).aber(1.0), "uber is 1"),
        (lambda: Code.bch("512B", 3).page_failure(1e-3, -1), "codewords is -1"),
        (lambda: Code.bch("512B", 3).encode(b"short"), "user data of 5 B, a codeword holds 512 B"),
        (lambda: Code.bch("512B", 3).decode(bytes(512), b""), "parity of 0 B, a codeword holds 5 B"),
        (lambda: Code.crc("4KiB", 16).encode(bytes(4096)), "width is 16"),
        (lambda: Code.ldpc("2KiB", "256B", 70).encode(bytes(2048)), "only BCH codes"),
        (lambda: Code.weakest_bch("512B", rber=0.7), "rber is 0.7"),
        (lambda: joint_choices("512B", rber=1e-3, verify_cycles=-1), "verify_cycles is -1"),
        (lambda: plot([]), "no code"),
        (lambda: Code.bch("512B", 3).plot("codes.gif"), "'codes.gif': figures end in"),
    ],
)
def test_what_no_code_can_be_is_named(make, words):
    with pytest.raises(ninescope.ConfigError, match=re.escape(words)):
        make()


def test_codes_are_values():
    code = Code.bch("512B", np.int64(35))
    assert code == Code.bch("512B", 35) == Code.bch(512, rate=0.9) == Code.bch("512B", 35, latency="cycles")
    assert code != Code.bch("512B", 35, latency="fixed")
    assert len({code, Code.bch("512B", 35), Code.bch("512B", 34)}) == 2
    assert repr(code.crc("4KiB", 16)) == "Code.crc(user_data='4KiB', width=16)"
    assert (code.policy, code.user_bytes, code.parity_bytes) == ("bch", 512, 57)


def test_figures_are_drawn(tmp_path):
    figure = Code.bch("512B", 35).plot(tmp_path / "one.svg")
    [axes] = figure.axes
    assert axes.get_legend() is None  # the title names it
    # Of less than two decades some of the minor ticks have numbers too: they were larger than the others.
    ticks = [*axes.xaxis.get_major_ticks(), *axes.xaxis.get_minor_ticks()]
    assert {tick.label1.get_fontsize() for tick in ticks} == {8}
    codes = [Code.bch("512B", errors) for errors in range(1, 20)] + [Code.crc("512B")]
    figure = plot(codes, tmp_path / "several.png", uber=1e-13, rber=1e-3)
    assert len(figure.axes) == 2
    assert (tmp_path / "one.svg").read_text().startswith("<?xml")
    assert (tmp_path / "several.png").read_bytes().startswith(b"\x89PNG")


# The command.


def test_the_table_leads_up_to_the_strongest_code(cli):
    code, out, err = cli("ecc", "--user-data", "512B", "--rate", "0.9")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines() if line.split()[1:2] == ["13"]]
    assert [row[0] for row in rows] == ["1", "5", "10", "15", "20", "25", "30", "35"]
    assert rows[-1][2:7] == ["4551", "57", "B", "0.9000", "1.92e-3"]
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_weakest_code_and_the_joint_choice_are_told(cli):
    code, out, _ = cli("ecc", "--user-data", "512B", "--rber", "1.92e-3", "--verify-cycles", "20")
    assert code == 0
    assert "512 B: t = 35 is the least that meets UBER 1e-15 at RBER 0.00192" in out
    assert "V = 0, t = 35 to write" in out.splitlines()[-1]
    assert out.splitlines()[-2].split()[:5] == ["20", "9.79e-4", "25", "41", "B"]
    code, out, _ = cli("ecc", "--user-data", "512B", "--correctable", "1", "--rber", "0.4")
    assert (code, "512B: no BCH code meets UBER 1e-15 at RBER 0.4" in out) == (0, True)


def test_several_sizes_and_a_checksum_stand_side_by_side(cli):
    code, out, _ = cli("ecc", "--user-data", "512B,8KiB", "--rate", "0.9", "--crc", "32", "--rber", "1e-3")
    assert code == 0
    first = [line.split()[:3] for line in out.splitlines() if line.split()[1:2] in (["B"], ["KiB"])]
    assert first == [["512", "B", "35"], ["8", "KiB", "428"], ["512", "B", "CRC"], ["8", "KiB", "CRC"]]
    assert all(len(line) <= 100 for line in out.splitlines())


def test_json_is_all_of_it(cli, tmp_path):
    arguments = ("--user-data", "512B", "--correctable", "1,34..35", "--rber", "1e-3", "--verify-cycles", "2")
    code, out, _ = cli("ecc", *arguments, "--json", "--plot", tmp_path / "codes.png")
    assert code == 0
    document = json.loads(out)
    assert [entry["correctable"] for entry in document["codes"]] == [1, 34, 35]
    last = document["codes"][-1]
    assert (last["codeword_bits"], last["parity_bits"], last["parity_bytes"]) == (4551, 455, 57)
    assert last["aber"] == Code.bch("512B", 35).aber(1e-15)
    assert last["decode_corrupted_ns"] == 7650  # (569 + 196) cycles of 10 ns
    assert last["page_failure"] == pytest.approx(32 * 4096 * last["uber"], rel=1e-6)
    assert document["weakest"][0]["correctable"] == 25
    assert [choice["verify_cycles"] for choice in document["joint_choices"]] == [0, 1, 2]
    assert (tmp_path / "codes.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rber", "0.7"), "--rber is 0.7, a raw bit error rate is from 0 to 0.5"),
        (("--rber", "nan"), "--rber is NaN"),
        (("--uber", "0"), "--uber is 0"),
        (
            ("--correctable", "700", "--field-degree", "13"),
            "--correctable is 700, beyond the field of degree 13",
        ),
        (("--correctable", "35", "--field-degree", "12"), "--field-degree is 12, too small"),
        (("--correctable", "0"), "--correctable is 0"),
        (("--correctable", "few"), "--correctable wants numbers"),
        (("--correctable", "5..1"), "runs backwards"),
        (("--correctable", "1..99999"), "more than 2000 codes"),
        (("--correctable", "1" * 30), "more than the longest codeword"),
        (("--rate", "1.5"), "--rate is 1.5"),
        (("--rate", "0.9", "--correctable", "3"), "not both"),
        (("--verify-cycles", "20"), "needs --rber"),
        (("--rber", "1e-3", "--verify-cycles", "1001"), "--verify-cycles"),
        (("--rber", "1e-3", "--verify-cycles", "1", "--user-data", "1k,2k"), "one size"),
        (("--page", "3X"), "--page: `3X` is not a size"),
        (("--page", "0"), "a page holds at least a byte"),
        (("--user-data", "5X"), "--user-data: `5X` is not a size"),
        (("--user-data", "0"), "--user-data is 0"),
        (("--user-data", "16GiB"), "--user-data is more than a codeword holds"),
        (("--user-data", "1k,"), "--user-data wants sizes"),
        (("--cycle", "0"), "--cycle is 0"),
        (("--factor", "-1"), "--factor is -1"),
        (("--factor", "nan"), "--factor nan is not a number"),
        (("--bits-per-cycle", "0"), "--bits-per-cycle"),
        (("--key-equation", "liner"), "did you mean 'linear'"),
        (("--crc", "65"), "--crc"),
        (("--plot", "codes.gif"), "figures end in .png, .svg or .pdf"),
        (("--plot", "/nowhere/codes.png"), "cannot write /nowhere/codes.png"),
    ],
)
def test_bad_input_is_named_and_exits_with_2(cli, arguments, message):
    code, out, err = cli("ecc", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_help_has_examples(cli):
    code, out, _ = cli("ecc", "--help")
    assert code == 0
    assert "ninescope ecc --user-data 512B --rate 0.9" in out
