//! Profiles.

use ninescope::{Workload, drawn_from_profile, parse_profile, profile_text};
use ninescope_generators::profile::ObjectLaw;
use ninescope_model::Op;

use super::refusal;

/// Requests that are drawn from an accepted profile.
const DRAWN: u64 = 300;
/// Objects up to which a profile is drawn from: the planning of one stretch takes memory for all that are born in it.
const OBJECTS_MAX: u64 = 1 << 16;

/// A profile in TOML is refused with a reason, or reads back as it is written, and what is drawn from it is in order
/// and within its span.
///
/// # Panics
/// When none of these holds.
pub fn profile(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let profile = match parse_profile("profile", text) {
        Ok(profile) => profile,
        Err(error) => return drop(refusal(&error)),
    };
    let written = profile_text(&profile).expect("an accepted profile can be written");
    let again = parse_profile("written", &written).expect("what was written is a profile");
    assert_eq!(again, profile, "what was written reads otherwise");
    if profile.objects.iter().map(ObjectLaw::objects).fold(0, u64::saturating_add) > OBJECTS_MAX {
        return;
    }
    let (_, mut drawn) = match drawn_from_profile("profile", text, Some(DRAWN), 1) {
        Ok(drawn) => drawn,
        Err(error) => return drop(refusal(&error)),
    };
    let (mut now, mut requests) = (None, 0);
    while let Ok(Some(request)) = drawn.next_request() {
        assert!(now <= Some(request.submitted), "times do not decrease");
        now = Some(request.submitted);
        requests += 1;
        assert_eq!(request.sectors == 0, request.op == Op::Flush, "only a flush has no sectors");
        assert!(request.end() * 512 <= profile.addresses.span.0, "a request beyond the span");
    }
    assert!(requests <= DRAWN);
}
