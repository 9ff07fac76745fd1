//! Codes as latency, against the decoders of published papers and cycles counted by hand.

use ninescope_ecc::{EccSchemeConfig, Scheme};
use ninescope_kernel::Ns;

fn build(text: &str) -> Scheme {
    #[derive(serde::Deserialize)]
    struct Nand {
        ecc: EccSchemeConfig,
    }
    toml::from_str::<Nand>(&format!("ecc = {text}")).expect(text).ecc.build().expect(text)
}

fn bch(user_data: &str, correctable: u32, latency: &str) -> Scheme {
    build(&format!("{{ policy = 'bch', user_data = '{user_data}', correctable = {correctable}, latency = {latency} }}"))
}

const FAST: &str = "{ policy = 'cycles', bits_per_cycle = 32, cycle = '5ns', key_equation = 'linear', factor = 2.0, \
                    overlapped = false }";
const SLOW: &str = "{ policy = 'cycles', bits_per_cycle = 8, cycle = '10ns', key_equation = 'linear', factor = 2.0, \
                    overlapped = false }";
const QUADRATIC: &str = "{ policy = 'cycles', bits_per_cycle = 8, cycle = '10ns', key_equation = 'quadratic', \
                         factor = 0.16, overlapped = true }";

/// Decoders of Sun, Rose and Zhang (`SiPS` 2006), as on the slides of `FlexECC`.
#[test]
fn six_published_decoders_lie_within_a_tenth() {
    for (user_data, correctable, bits, published) in [
        ("1KiB", 5, 8262, 10.4),
        ("1KiB", 12, 8360, 10.9),
        ("1KiB", 67, 9130, 17.6),
        ("2KiB", 5, 16_459, 20.7),
        ("2KiB", 15, 16_609, 21.4),
        ("2KiB", 102, 17_914, 40.2),
    ] {
        let scheme = bch(user_data, correctable, QUADRATIC);
        assert_eq!(scheme.codeword_bits(), bits);
        let measured = scheme.decode_time(1, 1).0 as f64 / 1e3;
        assert!((measured / published - 1.0).abs() < 0.1, "{bits} bits: {measured} us instead of {published}");
        assert_eq!(
            build(&format!("{{ policy = 'bch', user_data = '{user_data}', correctable = {correctable} }}")),
            scheme
        );
    }
}

#[test]
fn cycles_are_those_counted_by_hand() {
    // ceil(n / p) + KES(t) + ceil(k / p) cycles: (129 + 2 + 128) 5 ns, (143 + 70 + 128) 5 ns, …
    for (user_data, correctable, latency, expected) in [
        ("512B", 1, FAST, 1295),
        ("512B", 35, FAST, 1705),
        ("8KiB", 1, FAST, 20_495),
        ("8KiB", 428, FAST, 25_900),
        ("512B", 1, SLOW, 10_280),
        ("512B", 35, SLOW, 11_510),
        ("8KiB", 1, SLOW, 163_890),
        ("8KiB", 428, SLOW, 181_500),
        // (514 + 1) and (569 + 196) 10 ns: the search shares the pass of the syndromes.
        ("512B", 1, QUADRATIC, 5150),
        ("512B", 35, QUADRATIC, 7650),
    ] {
        let scheme = bch(user_data, correctable, latency);
        assert_eq!(scheme.decode_time(1, 1), Ns(expected), "{user_data} {correctable}");
    }
}

#[test]
fn a_clean_codeword_takes_the_syndromes_and_an_encoder_the_same_pass() {
    let scheme = bch("512B", 35, SLOW);
    assert_eq!((scheme.encode_time(1), scheme.decode_time(1, 0)), (Ns(5690), Ns(5690)));
    assert_eq!(scheme.encode_time(16), Ns(16 * 5690));
}

#[test]
fn encoding_hardly_grows_with_the_errors_corrected_and_decoding_does() {
    for (user_data, most) in [("512B", 35), ("8KiB", 428)] {
        for latency in [FAST, SLOW, QUADRATIC] {
            let schemes: Vec<Scheme> = (1..=most).map(|t| bch(user_data, t, latency)).collect();
            let (first, last) = (schemes[0].encode_time(1), schemes[schemes.len() - 1].encode_time(1));
            assert!(last.0 as f64 <= 1.15 * first.0 as f64);
            let rises = |pair: &[Scheme]| pair[0].decode_time(1, 1) < pair[1].decode_time(1, 1);
            assert!(schemes.windows(2).all(rises), "{user_data}");
        }
    }
}

#[test]
fn codewords_follow_each_other_through_a_pipeline() {
    let apart = bch("8KiB", 428, &SLOW.replace(" }", ", pipelined = false }"));
    let pipelined = bch("8KiB", 428, &SLOW.replace(" }", ", pipelined = true }"));
    // Stages of 91 020, 8 560 and 81 920 ns: the second codeword leaves a slowest stage later.
    assert_eq!(apart.decode_time(2, 2), Ns(363_000));
    assert_eq!(pipelined.decode_time(2, 2), Ns(181_500 + 91_020));
    assert_eq!(pipelined.decode_time(2, 0), Ns(2 * 91_020));
    assert_eq!(pipelined.decode_time(2, 1), Ns(91_020 + 181_500));
    // A key equation that is the slowest stage: 0.16 102^2 = 1664.64 cycles against 2240 of the pass, then 2 102^2.
    let slow = bch("2KiB", 102, &QUADRATIC.replace("0.16", "2.0").replace(" }", ", pipelined = true }"));
    assert_eq!(slow.decode_time(3, 3), Ns(22_400 + 3 * 208_080));
}

#[test]
fn a_code_that_corrects_nothing_only_passes_its_bits() {
    let scheme = build("{ policy = 'crc', user_data = '4KiB', latency = { policy = 'cycles', cycle = '1ns' } }");
    assert_eq!(scheme.decode_time(1, 1), Ns(4100));
    assert_eq!(scheme.decode_time(1, 1), scheme.decode_time(1, 0));
}

/// The latencies of `FlexECC`: a page of 4 KiB under one checksum, and under eight BCH codewords of 512 B.
#[test]
fn fixed_times_are_per_codeword() {
    let page = build("{ policy = 'bch', user_data = '4KiB', correctable = 5, latency = 'fixed' }");
    assert_eq!([page.encode_time(1), page.decode_time(1, 0), page.decode_time(1, 1)], [Ns(800), Ns(5000), Ns(10_000)]);
    let sectors = build("{ policy = 'bch', user_data = '512B', correctable = 5, latency = 'fixed' }");
    assert_eq!(sectors.decode_time(8, 0), Ns(40_000));
    assert_eq!(sectors.decode_time(8, 3), Ns(55_000));
    let check = build("{ policy = 'crc' }");
    assert_eq!([check.encode_time(1), check.decode_time(1, 0), check.decode_time(1, 1)], [Ns(800); 3]);
}
