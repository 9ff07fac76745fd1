//! Golden: 1,000 draws of each distribution, folded into a digest, are the same on every machine and in
//! every version. A change here changes every result and belongs under *Model changes* in the changelog.

use ninescope_kernel::{RandomStream, RunDigest, Zipf};

fn digest_of(mut draw: impl FnMut(&mut RandomStream) -> u64) -> String {
    let mut stream = RandomStream::new(42, "golden", "draws");
    let mut digest = RunDigest::default();
    (0..1_000).for_each(|_| digest.word(draw(&mut stream)));
    digest.to_hex()
}

#[test]
fn a_thousand_draws_of_each_distribution_are_pinned() {
    let zipf = Zipf::new(1_000_000, 0.99);
    let steep = Zipf::new(1_000, 1.2);
    let drawn = [
        ("bits", digest_of(RandomStream::bits)),
        ("below 1000", digest_of(|stream| stream.below(1_000))),
        ("unit", digest_of(|stream| stream.unit().to_bits())),
        ("exponential", digest_of(|stream| stream.exponential(1e6).to_bits())),
        ("zipf 0.99", digest_of(|stream| zipf.draw(stream))),
        ("zipf 1.2", digest_of(|stream| steep.draw(stream))),
    ];
    let pinned: [(&str, &str); 6] = [
        ("bits", "fb7f8ed4a2c275ecdba4ea4007fba09c"),
        ("below 1000", "f28be7b7ae2f628cbc8506cc609fad02"),
        ("unit", "6cc7e363a2fdb2215594f8ac441b9ce0"),
        ("exponential", "35089e85f7f59839dc5c4386474956e1"),
        ("zipf 0.99", "ebf7bafeb20a7c9f8dce352d8cc4c5b1"),
        ("zipf 1.2", "f97d2158d680f0e6852e73906b09f52f"),
    ];
    for ((name, drawn), (_, pinned)) in drawn.iter().zip(pinned) {
        println!("(\"{name}\", \"{drawn}\"),");
        assert_eq!(drawn, pinned, "{name}");
    }
}
