//! From the bytes of a document to text.

pub(super) mod charset;
pub(super) mod decode;
