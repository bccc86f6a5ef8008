//! Decoding the body of an answer within limits (SPEC D.8, G.31).

use std::io::Read;

use crate::app::fetching::Failure;

/// Decoded bytes below which the ratio is not judged (SPEC 0, `RATIO_MAX`).
const RATIO_FROM_BYTES: usize = 1024 * 1024;
/// Steps in which a body is decoded.
const STEP_BYTES: usize = 64 * 1024;
/// How every gzip stream begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Limits on bodies (SPEC 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// Bytes over the wire.
    pub wire_max: usize,
    /// Bytes decoded.
    pub body_max: usize,
    /// Decoded bytes to a byte on the wire.
    pub ratio_max: usize,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { wire_max: 16 * 1024 * 1024, body_max: 32 * 1024 * 1024, ratio_max: 200 }
    }
}

/// Decodes a body that came with a `Content-Encoding`.
///
/// A gzip stream that nobody announced is decoded, a plain body announced as gzip is taken as it is, and two
/// encodings over each other are refused.
pub fn decode(wire: Vec<u8>, encoding: &str, limits: BodyLimits) -> Result<Vec<u8>, Failure> {
    let names: Vec<String> =
        encoding.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let mut names =
        names.iter().map(String::as_str).filter(|name| !matches!(*name, "" | "identity"));
    let is_gzip = wire.starts_with(&GZIP_MAGIC);
    let decoded = match (names.next(), names.next()) {
        (Some(_), Some(_)) => {
            return Err(Failure::Encoding(format!("it is encoded twice ({encoding})")));
        }
        (None, _) | (Some("gzip" | "x-gzip"), None) => {
            if !is_gzip {
                return Ok(wire);
            }
            drain(flate2::read::MultiGzDecoder::new(wire.as_slice()), wire.len(), limits)?
        }
        (Some("deflate"), None) => inflate(&wire, limits)?,
        (Some("br"), None) => {
            drain(brotli::Decompressor::new(wire.as_slice(), STEP_BYTES), wire.len(), limits)?
        }
        (Some(other), None) => {
            return Err(Failure::Encoding(format!("the encoding '{other}' was not asked for")));
        }
    };
    if decoded.starts_with(&GZIP_MAGIC) {
        return Err(Failure::Encoding("it is compressed twice".into()));
    }
    Ok(decoded)
}

/// `deflate` means zlib, but some servers send the bare stream.
fn inflate(wire: &[u8], limits: BodyLimits) -> Result<Vec<u8>, Failure> {
    match drain(flate2::read::ZlibDecoder::new(wire), wire.len(), limits) {
        Err(Failure::Encoding(_)) => {
            drain(flate2::read::DeflateDecoder::new(wire), wire.len(), limits)
        }
        other => other,
    }
}

fn drain(mut reader: impl Read, wire_bytes: usize, limits: BodyLimits) -> Result<Vec<u8>, Failure> {
    let mut decoded = Vec::new();
    let mut step = vec![0; STEP_BYTES];
    loop {
        let read = match reader.read(&mut step) {
            Ok(0) => return Ok(decoded),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Err(Failure::CutOff);
            }
            Err(error) => return Err(Failure::Encoding(error.to_string())),
        };
        decoded.extend_from_slice(step.get(..read).unwrap_or_default());
        if decoded.len() > limits.body_max {
            return Err(Failure::TooLarge(format!(
                "more than {} MiB when decompressed",
                limits.body_max >> 20
            )));
        }
        if decoded.len() > RATIO_FROM_BYTES
            && decoded.len() > wire_bytes.saturating_mul(limits.ratio_max)
        {
            return Err(Failure::TooLarge(format!(
                "it decompresses to more than {} times its size",
                limits.ratio_max
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(wire: Vec<u8>, encoding: &str) -> Result<Vec<u8>, Failure> {
        decode(wire, encoding, BodyLimits::default())
    }

    #[test]
    fn each_encoding_we_ask_for_is_decoded() {
        let text = b"<rss/>".to_vec();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).unwrap();
        let mut bare = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        bare.write_all(&text).unwrap();
        let mut brotli_bytes = Vec::new();
        brotli::CompressorWriter::new(&mut brotli_bytes, 4096, 5, 20).write_all(&text).unwrap();
        for (wire, encoding) in [
            (text.clone(), ""),
            (text.clone(), "identity"),
            (gzip(&text), "gzip"),
            (gzip(&text), "X-GZIP"),
            (zlib.finish().unwrap(), "deflate"),
            (bare.finish().unwrap(), "deflate"),
            (brotli_bytes, "br"),
        ] {
            assert_eq!(decoded(wire, encoding), Ok(text.clone()), "{encoding}");
        }
    }

    #[test]
    fn gzip_nobody_announced_is_decoded_and_plain_text_announced_as_gzip_is_taken() {
        assert_eq!(decoded(gzip(b"<rss/>"), ""), Ok(b"<rss/>".to_vec()));
        assert_eq!(decoded(b"<rss/>".to_vec(), "gzip"), Ok(b"<rss/>".to_vec()));
    }

    #[test]
    fn a_body_compressed_twice_is_refused() {
        assert!(matches!(decoded(gzip(&gzip(b"x")), "gzip"), Err(Failure::Encoding(_))));
        assert!(matches!(decoded(gzip(b"x"), "gzip, br"), Err(Failure::Encoding(_))));
    }

    #[test]
    fn a_truncated_stream_is_reported_as_cut_off() {
        let mut wire = gzip(&[7; 5000]);
        wire.truncate(wire.len() - 9);
        assert_eq!(decoded(wire, "gzip"), Err(Failure::CutOff));
    }

    #[test]
    fn a_bomb_ends_at_the_limits() {
        let bomb = gzip(&vec![0; 3 * 1024 * 1024]);
        assert!(matches!(decoded(bomb, "gzip"), Err(Failure::TooLarge(_))));
        let limits = BodyLimits { body_max: 100, ..BodyLimits::default() };
        assert!(matches!(decode(gzip(&[1; 200]), "gzip", limits), Err(Failure::TooLarge(_))));
    }
}
