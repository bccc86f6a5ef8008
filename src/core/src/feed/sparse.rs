//! Omits default values when records are serialised. Most feeds state few values, and every poll writes a record.

/// Checks whether a field has its default value and can be omitted.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
