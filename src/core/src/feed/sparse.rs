//! Lets stored records leave out fields that have their default value. Most feeds state little, and every poll writes it.

/// Whether a field has its default value and need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
