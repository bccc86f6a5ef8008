//! Runs in cargo-fuzz the fuzz targets that `cargo test` also runs on stable Rust. Both start from the same seeds and mutate
//! inputs in the same way; here libFuzzer mutates them too.
#![allow(dead_code, reason = "the tests use the rest")]

#[path = "../../it/fuzzing/mod.rs"]
mod fuzzing;
mod support;

use std::cell::OnceCell;

use backissue::io::store::fuzzed;
use fuzzing::Target;
pub use libfuzzer_sys;
use support::dice::Dice;

/// Every fourth input is made from a seed; libFuzzer mutates the others.
const FROM_SEEDS: u32 = 4;

thread_local! {
    static TARGET: OnceCell<Target> = const { OnceCell::new() };
}

/// Defines the entry points that libFuzzer calls for the target with this name.
#[macro_export]
macro_rules! fuzz {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::check($name, bytes));
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8],
                                              size: usize,
                                              max_size: usize,
                                              seed: u32| {
            $crate::change($name, data, size, max_size, seed)
        });
    };
}

fn target(name: &str) -> Target {
    if name == "records" {
        return Target {
            name: "records",
            seeds: fuzzed::examples(),
            pieces: fuzzed::PIECES,
            inputs: 0,
            check: Box::new(|bytes, _| fuzzed::check(bytes)),
        };
    }
    fuzzing::targets().into_iter().find(|target| target.name == name).expect("a target")
}

fn with_target<T>(name: &str, work: impl FnOnce(&Target) -> T) -> T {
    TARGET.with(|cell| work(cell.get_or_init(|| target(name))))
}

/// Checks an input of a target. The number of the input is derived from its bytes, so that a saved input fails again.
pub fn check(name: &str, bytes: &[u8]) {
    let number = bytes.iter().map(|byte| usize::from(*byte)).sum();
    with_target(name, |target| (target.check)(bytes, number));
}

/// Mutates an input of a target in place and returns its new length.
pub fn change(name: &str, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    if size > 1 && !seed.is_multiple_of(FROM_SEEDS) {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let made = with_target(name, |target| target.changed(&mut Dice::of(seed.into(), name, 0)));
    let length = made.len().min(max_size).min(data.len());
    data[..length].copy_from_slice(&made[..length]);
    length
}
