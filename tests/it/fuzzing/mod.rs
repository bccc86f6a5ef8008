//! Texts and bytes changed at random: whatever comes, reading ends soon, never panics, and what must hold of any result
//! holds.
//!
//! Each target runs for so many inputs, or as long as `BACKISSUE_FUZZ_SECONDS=600` says; `BACKISSUE_FUZZ_SEED=8` makes other
//! ones. An input at which a target fails is printed, and goes into its seeds once the cause is mended.

mod documents;
mod frames;
mod layout;
mod lists;
mod target;
mod typed;

use backissue::io::clock;

use crate::support::dice;
pub use target::{INPUT_MAX, Target};

/// Every target that is not one of the store's own, which has `records`.
pub fn targets() -> Vec<Target> {
    vec![
        documents::documents(),
        lists::lists(),
        layout::layout(),
        typed::configurations(),
        typed::queries(),
        typed::patterns(),
        frames::frames(),
    ]
}

#[test]
fn every_target_exists_for_cargo_fuzz_too() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/fuzz_targets");
    // A package from a registry comes without it.
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let there: std::collections::BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let here = targets().iter().map(|target| format!("{}.rs", target.name)).collect::<Vec<_>>();
    assert_eq!(there, here.into_iter().chain(["records.rs".to_owned()]).collect());
}

#[test]
fn seed_determines_the_generated_inputs() {
    let target = typed::queries();
    let inputs = |seed| {
        let mut dice = dice::Dice::of(seed, target.name, 0);
        (0..20).map(|_| target.changed(&mut dice)).collect::<Vec<_>>()
    };
    assert_eq!(inputs(7), inputs(7));
    assert_ne!(inputs(7), inputs(8));
}
