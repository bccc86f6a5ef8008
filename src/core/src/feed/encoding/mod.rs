//! Decodes the bytes of documents and pages to text.

pub(super) mod decode;
pub(super) mod internal_entities;
