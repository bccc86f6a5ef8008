//! Records that leave out what is as it is by default: most feeds say little, and every poll writes what they say.

/// Whether a field need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
