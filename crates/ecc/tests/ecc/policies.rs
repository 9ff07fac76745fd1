//! Every scheme of the registry builds from its defaults, and what no code can have is refused by its key.

use ninescope_ecc::{CodeError, EccSchemeConfig, Scheme};
use ninescope_kernel::Ns;

fn build(text: &str) -> Result<Scheme, CodeError> {
    #[derive(serde::Deserialize)]
    struct Nand {
        ecc: EccSchemeConfig,
    }
    toml::from_str::<Nand>(&format!("ecc = {text}")).expect(text).ecc.build()
}

#[track_caller]
fn refused(text: &str, key: &str, words: &[&str]) {
    let error = build(text).expect_err(text);
    assert_eq!(error.key, key, "{error}");
    for word in words {
        assert!(error.message.contains(word), "{word}: {error}");
    }
}

#[test]
fn every_scheme_builds_from_its_defaults_and_survives_a_round_trip() {
    assert_eq!(EccSchemeConfig::all().len(), EccSchemeConfig::LIST.len());
    for (config, (name, _)) in EccSchemeConfig::all().into_iter().zip(EccSchemeConfig::LIST) {
        assert_eq!(config.name(), *name);
        let scheme = config.build().expect(name);
        // What is not coded takes no time.
        let takes_time = scheme.encode_time(1) > Ns::ZERO && scheme.decode_time(1, 0) > Ns::ZERO;
        assert_eq!(takes_time, *name != "none");
        assert!(scheme.decode_time(4, 4) >= scheme.decode_time(4, 0));
        let text = toml::to_string(&config).expect(name);
        assert_eq!(toml::from_str::<EccSchemeConfig>(&text).expect(&text), config, "{text}");
    }
}

#[test]
fn without_a_code_every_error_passes_as_good() {
    let scheme = build("{ policy = 'none', user_data = '4KiB' }").expect("no code");
    assert_eq!((scheme.user_bytes(), scheme.codeword_bits(), scheme.parity_bytes()), (4096, 32_768, 0));
    assert_eq!((scheme.correctable(), scheme.undetected()), (0, 1.0));
    assert_eq!((scheme.encode_time(8), scheme.decode_time(8, 8)), (Ns::ZERO, Ns::ZERO));
    refused("{ policy = 'none', user_data = '0B' }", "user_data", &[]);
}

#[test]
fn codewords_cover_what_they_are_asked_to() {
    let scheme = build("{ policy = 'bch', user_data = '1KiB', correctable = 40 }").expect("a code");
    assert_eq!((scheme.user_bytes(), scheme.codeword_bits(), scheme.correctable()), (1024, 8192 + 14 * 40, 40));
    assert_eq!(scheme.parity_bytes(), 70);
    assert_eq!([1, 1024, 1025, 4096].map(|bytes| scheme.codewords(bytes)), [1, 1, 2, 4]);
    assert_eq!((scheme.decoders(), scheme.shared(), scheme.moves_parity()), (1, false, false));
}

#[test]
fn a_codeword_that_is_longer_than_its_field_names_the_one_that_fits() {
    // 4096 + 12 * 35 = 4516 > 4095; 4096 + 13 * 35 = 4551 <= 8191.
    let words = ["4096 bits of user data", "12 x 35 = 420", "4516", "2^12 - 1 = 4095", "degree 13"];
    refused("{ policy = 'bch', user_data = '512B', correctable = 35, field_degree = 12 }", "field_degree", &words);
    // Parity alone, 13 * 700 = 9100, is more than 8191.
    let words = ["9100", "2^13 - 1 = 8191", "degree 14"];
    refused("{ policy = 'bch', user_data = '512B', correctable = 700, field_degree = 13 }", "correctable", &words);
    let words = ["2^24 - 1 = 16777215", "degree 24 is the largest"];
    refused("{ policy = 'bch', user_data = '512B', correctable = 4000000 }", "correctable", &words);
}

#[test]
fn what_no_code_can_have_is_refused_by_its_key() {
    refused("{ policy = 'bch', correctable = 0 }", "correctable", &["is 0"]);
    refused("{ policy = 'bch', user_data = 0 }", "user_data", &["is 0"]);
    refused("{ policy = 'bch', user_data = '16TiB' }", "user_data", &["1 MiB"]);
    refused("{ policy = 'bch', field_degree = 25 }", "field_degree", &["from 3 to 24"]);
    refused("{ policy = 'bch', decoders = 0 }", "decoders", &["at least 1"]);
    refused("{ policy = 'crc', width = 0 }", "width", &["1 to 64"]);
    refused("{ policy = 'crc', width = 65 }", "width", &["1 to 64"]);
    refused("{ policy = 'ldpc', parity = 0 }", "parity", &["from 1 B to 1 MiB"]);
    refused("{ policy = 'ldpc', parity = '16B', correctable = 65 }", "correctable", &["128 bits", "from 1 to 64"]);
    refused("{ policy = 'ldpc', latency = 'cycles' }", "latency", &["`cycles`", "`fixed`"]);
}

#[test]
fn what_no_codec_can_have_is_refused_by_its_key() {
    let refused = |latency: &str, key: &str, words: &[&str]| {
        refused(&format!("{{ policy = 'bch', latency = {latency} }}"), key, words);
    };
    refused("{ policy = 'cycles', cycle = 0 }", "latency.cycle", &["is 0"]);
    refused("{ policy = 'cycles', cycle = '1ms' }", "latency.cycle", &["more than 1s"]);
    refused("{ policy = 'cycles', bits_per_cycle = 0 }", "latency.bits_per_cycle", &["is 0"]);
    refused("{ policy = 'cycles', factor = -1.0 }", "latency.factor", &["is -1"]);
    refused("{ policy = 'fixed', encode = '2s' }", "latency.encode", &["more than 1s"]);
    let words = ["is 10us", "(20us)"];
    refused("{ policy = 'fixed', clean = '20us' }", "latency.corrupted", &words);
}
