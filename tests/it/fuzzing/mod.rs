//! Fuzzing with random changes to texts and bytes: reading any input ends soon, never panics, and keeps its invariants.
//!
//! Each target runs a fixed number of inputs, or for ten minutes with `BACKISSUE_FUZZ_SECONDS=600`; `BACKISSUE_FUZZ_SEED=8` chooses
//! other inputs. A failing input is printed, and is added to the seeds once the cause is fixed.

mod documents;
mod frames;
mod layout;
mod lists;
mod target;
mod typed;

use backissue::io::clock;

use crate::support::dice;
pub use target::{INPUT_MAX, Target};

/// Returns every fuzz target except `records`, which is part of the store's tests.
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
    // The folder is missing in a package from a registry; then there is nothing to compare.
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
