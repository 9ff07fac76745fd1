"""What codes found and what was done about it, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ninescope.result.reliability import CacheUse, CodeUse, ReadsOfClass, Reliability

CODES = {
    "nand": "flash, ECC",
    "nand_edc": "flash, EDC",
    "scm": "SCM",
    "storage_scm": "storage-type SCM",
}
"""Which code of the drive, by key."""
DAY = 86_400_000_000_000
"""[ns]"""


def facts(reliability: Reliability) -> Iterator[tuple[str, str]]:
    """Yield lines on what codes found and what was done about it."""
    for name, code in reliability.codes.items():
        if code.codewords:
            yield f"code ({CODES.get(name, name)})", _code_words(code)
    counters = reliability.counters
    yield from _read_again(counters)
    yield from _by_age(reliability.reads_by_age)
    lost = [
        (counters.get("reads_reported", 0), "host reads reported an error"),
        (counters.get("units_lost", 0), "units lost in moves and merges"),
        (counters.get("reads_wrong", 0), "host reads returned wrong data that passed as good"),
        (counters.get("units_wrong", 0), "units went wrong unnoticed"),
    ]
    told = [f"{count:,} {words}" for count, words in lost if count]
    if told:
        yield "data", ", ".join(told)
    if reliability.cache is not None:
        yield from _cache_facts(reliability.cache)
    yield from _corruption_facts(counters)
    reasons = {reason: counters.get(f"refreshes_by_{reason}", 0) for reason in ("reads", "age", "rate")}
    if any(reasons.values()):
        by_reason = ", ".join(f"{count:,} by {reason}" for reason, count in reasons.items() if count)
        yield "refresh", f"{sum(reasons.values()):,} block groups ({by_reason})"
    if counters.get("scrub_page_reads"):
        passes = counters["scrub_passes"]
        yield "scrubber", f"{counters['scrub_page_reads']:,} pages read, {passes:,} passes ended"


def _code_words(code: CodeUse) -> str:
    words = f"{code.codewords:,} codewords of {code.user_bytes:,} B"
    if code.corrupted_codewords:
        share = code.corrupted_codewords / code.codewords
        words += f", {share:.1%} of them with errors" if share >= 1e-3 else f", {share:.1e} with errors"
    if code.failed_codewords:
        words += f", {code.failed_codewords:,} beyond the code"
    if code.undetected_codewords:
        words += f", {code.undetected_codewords:,} of which passed as good"
    if code.decoder_utilisation:
        words += f"; decoders busy {code.decoder_utilisation:.1%}"
    return words


def _read_again(counters: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    retried = counters.get("retried_reads", 0)
    if retried:
        attempts = counters["retries"] / retried
        yield "read retry", f"{retried:,} page reads, {attempts:.2f} attempts each"
    degraded = counters.get("degraded_reads", 0)
    if degraded:
        pages, units = counters["stripe_page_reads"], counters["units_rebuilt"]
        words = f"{degraded:,} page reads, for which {pages:,} others were read; {units:,} units found"
        yield "found by parity", words
    dies = counters.get("die_failures", 0)
    if dies:
        pages, lost = counters["pages_rebuilt"], counters["rebuild_pages_lost"]
        words = f"{dies:,}, {pages:,} pages written again by {counters['rebuild_page_reads']:,} reads"
        words += f", {lost:,} lost" if lost else ""
        if counters["dies_rebuilt"]:
            each = counters["rebuild_ns"] / counters["dies_rebuilt"] / 1e6
            words += f"; {counters['dies_rebuilt']:,} rebuilt in {each:,.1f} ms each"
        yield "dies failed", words
    failed = counters.get("failed_reads", 0)
    if failed:
        yield "given up", f"{failed:,} page reads"


def _by_age(classes: Sequence[ReadsOfClass]) -> Iterator[tuple[str, str]]:
    """Yield a line for each class of age, where anything was read again or not decoded."""
    if not any(of.retried or of.undecoded for of in classes):
        return
    for of in classes:
        words = f"{of.reads:,} page reads, {of.mean_attempts:.2f} attempts each"
        words += f", {len(of.attempts) - 1} at most" if of.retried else ""
        words += f", {of.soft:,} decoded softly" if of.soft else ""
        words += f", {of.undecoded:,} not decoded" if of.undecoded else ""
        yield f"data {_age_words(of)}", words


def _age_words(of: ReadsOfClass) -> str:
    """Return how old the data of a class of age is: from which age on, and up to which."""
    if of.until_ns is None:
        return f"of {_whole(of.from_ns or 0)} and more"
    if not of.from_ns:
        return f"under {_whole(of.until_ns)} old"
    return f"{_whole(of.from_ns)} to {_whole(of.until_ns)} old"


def _whole(ns: int) -> str:
    """Write an age at which a class begins, with the largest unit of which it is a whole number."""
    units = (("y", 365 * DAY), ("d", DAY), ("h", DAY // 24), ("min", DAY // 1440), ("s", DAY // 86_400))
    unit, size = next((unit, size) for unit, size in (*units, ("ns", 1)) if ns % size == 0)
    return f"{ns // size} {unit}"


def _cache_facts(cache: CacheUse) -> Iterator[tuple[str, str]]:
    reads = cache.ecc_reads + cache.edc_reads
    share = f" ({cache.edc_reads / reads:.1%})" if reads else ""
    yield "clean data", f"{cache.edc_reads:,} of {reads:,} units read under EDC{share}"
    moved = cache.ecc_moved + cache.edc_moved + cache.ecc_to_edc
    if moved:
        yield (
            "moved",
            f"{cache.edc_moved:,} units under EDC, {cache.ecc_moved:,} under ECC, "
            f"{cache.ecc_to_edc:,} from ECC to EDC",
        )
    fetched = {
        "by the scrubber": cache.prefetched,
        "that the host waited for": cache.refetches,
        "that moves waited for": cache.refetches_for_moves,
    }
    if any(fetched.values()):
        yield "fetched", ", ".join(f"{count:,} units {whom}" for whom, count in fetched.items() if count)


def _corruption_facts(counters: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield who met what was corrupt; the numbers add up."""
    corruptions = counters.get("corruptions", 0)
    if not corruptions:
        return
    met = {
        "corrected": counters["corruptions_corrected"],
        "found bad by the scrubber": counters["corruptions_met_by_scrub"],
        "by a read of the host": counters["corruptions_met_by_host"],
        "by a move": counters["corruptions_met_by_moves"],
        "erased before anybody read them": counters["corruptions_erased"],
    }
    left = corruptions - sum(met.values())
    words = [f"{count:,} {what}" for what, count in met.items() if count]
    yield "corrupt units", f"{corruptions:,}: " + ", ".join([*words, f"{left:,} still there, met by nobody"])
