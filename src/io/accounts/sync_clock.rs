//! Syncs accounts while the program runs.
