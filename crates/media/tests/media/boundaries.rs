//! What this crate must not know.

use std::path::Path;

/// The text of every source file below `folder`.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            sources(&path, texts);
        } else {
            texts.push(std::fs::read_to_string(&path).expect("a text file"));
        }
    }
}

#[test]
fn media_know_neither_logical_addresses_nor_sources_of_traffic() {
    let mut texts = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
    assert!(texts.len() > 5, "the sources were found");
    for word in ["Lpa", "Lba", "HostCommand", "Source", "GarbageCollection"] {
        assert!(!texts.iter().any(|text| text.contains(word)), "the word {word} must not appear in media");
    }
}
