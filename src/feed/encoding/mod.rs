//! Decodes the bytes of documents and pages to text.

pub(super) mod charset;
pub(super) mod decode;
