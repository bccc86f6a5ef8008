//! Tests with bodies that are complete, split, truncated, corrupt, or decompression bombs (SPEC D.8, G.31).

use std::io::Write;

use super::*;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn decoded(wire: &[u8], encoding: &str) -> Result<Vec<u8>, FetchFailure> {
    decode(wire, encoding, BodyLimits::default())
}

#[test]
fn each_accepted_encoding_is_decoded() {
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
        assert_eq!(decoded(&wire, encoding), Ok(text.clone()), "{encoding}");
    }
}

#[test]
fn unannounced_gzip_and_mislabelled_plain_text_are_read() {
    assert_eq!(decoded(&gzip(b"<rss/>"), ""), Ok(b"<rss/>".to_vec()));
    assert_eq!(decoded(b"<rss/>", "gzip"), Ok(b"<rss/>".to_vec()));
    for encoding in ["br", "deflate", "aws-chunked, br"] {
        assert_eq!(decoded(b"<?xml?>", encoding), Ok(b"<?xml?>".to_vec()), "{encoding}");
    }
}

/// SPEC D.8: unknown encoding names are ignored, even if a known name is also given.
#[test]
fn unknown_encoding_is_ignored_and_the_body_decides() {
    let text = b"<rss/>".to_vec();
    for name in
        ["aws-chunked", "UTF-8", "none", "binary", "chunked", "7bit", "identity, utf-8", "zstd"]
    {
        assert_eq!(decoded(&text, name), Ok(text.clone()), "{name}");
        assert_eq!(decoded(&gzip(&text), name), Ok(text.clone()), "{name}");
        assert_eq!(decoded(&gzip(&text), &format!("{name}, gzip")), Ok(text.clone()), "{name}");
    }
}

#[test]
fn unknown_encoding_is_named_without_control_characters() {
    let why = |encoding: &str| {
        let decoding = Decoding::new(encoding, BodyLimits::default()).unwrap();
        decoding.unknown_encoding().map(|why| why.to_string())
    };
    let told = "the response could not be decoded: it uses the encoding 'zstd, \u{e9}', which backissue did not request and cannot read";
    assert_eq!(why("gzip, ZSTD, \u{1b}\u{e9}\u{202e}").as_deref(), Some(told));
    assert!(why(&"x".repeat(60_000)).unwrap().len() < 300);
    assert_eq!(why("identity, gzip"), None);
}

/// RFC 1952 §2.2: members follow each other; any other trailing bytes are not part of the document.
#[test]
fn data_after_a_gzip_stream_is_ignored() {
    let whole = gzip(b"<rss/>");
    let tails: [&[u8]; 6] =
        [b"\r\n", b" ", b"\0\0\0\0", b"\r\n<!-- x -->", b"0\r\n\r\n", &[0xff; 100]];
    for tail in tails {
        let wire = [&whole, tail].concat();
        for piece in [1, 5, wire.len()] {
            let mut decoding = Decoding::new("gzip", BodyLimits::default()).unwrap();
            for bytes in wire.chunks(piece) {
                decoding.decode_chunk(bytes).unwrap();
            }
            assert_eq!(decoding.finish(), Ok(b"<rss/>".to_vec()), "{}", tail.escape_ascii());
        }
        let two = [&whole, &whole, tail].concat();
        assert_eq!(decoded(&two, "gzip"), Ok(b"<rss/><rss/>".to_vec()));
    }
    let many = gzip(b"").repeat(GZIP_MEMBERS_MAX + 1);
    assert!(matches!(decoded(&many, "gzip"), Err(FetchFailure::Encoding(_))));
}

#[test]
fn a_body_compressed_twice_is_refused() {
    assert!(matches!(decoded(&gzip(&gzip(b"x")), "gzip"), Err(FetchFailure::Encoding(_))));
    assert!(matches!(decoded(&gzip(b"x"), "gzip, br"), Err(FetchFailure::Encoding(_))));
}

#[test]
fn a_truncated_stream_is_reported_as_cut_off() {
    let mut wire = gzip(&[7; 5000]);
    wire.truncate(wire.len() - 9);
    assert_eq!(decoded(&wire, "gzip"), Err(FetchFailure::CutOff));
}

/// SPEC D.8: a body is decoded while it arrives, however it is split.
#[test]
fn body_chunk_sizes_do_not_matter() {
    let text: Vec<u8> = (0..200_000_u32).flat_map(|n| (n % 251).to_le_bytes()).collect();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(&text).unwrap();
    let mut brotli_bytes = Vec::new();
    brotli::CompressorWriter::new(&mut brotli_bytes, 4096, 5, 20).write_all(&text).unwrap();
    let two = [gzip(&text[..70_000]), gzip(&text[70_000..])].concat();
    for (wire, encoding) in [
        (text.clone(), ""),
        (gzip(&text), "gzip"),
        (two, "gzip"),
        (zlib.finish().unwrap(), "deflate"),
        (brotli_bytes, "br"),
    ] {
        for piece in [1, 7, 4096] {
            let limits = BodyLimits { ratio_max: 10_000, ..BodyLimits::default() };
            let mut decoding = Decoding::new(encoding, limits).unwrap();
            for bytes in wire.chunks(piece) {
                decoding.decode_chunk(bytes).unwrap();
            }
            assert_eq!(decoding.wire_bytes(), wire.len() as u64);
            assert!(decoding.finish() == Ok(text.clone()), "{encoding} in pieces of {piece}");
        }
    }
}

/// SPEC D.8: no step keeps more than the limit, whatever the compression ratio.
#[test]
fn compression_bomb_is_stopped_while_it_expands() {
    let bomb = gzip(&vec![0; 8 * 1024 * 1024]);
    let limits = BodyLimits { ratio_max: 1_000_000, body_max: 100_000, ..BodyLimits::default() };
    let mut decoding = Decoding::new("gzip", limits).unwrap();
    let why = decoding.decode_chunk(&bomb).unwrap_err();
    assert_eq!(why.to_string(), "the response is too large: more than 97 KiB when decompressed");
    assert!(decoding.decoded_bytes() <= limits.body_max);
}

#[test]
fn short_and_empty_bodies_are_read_as_sent() {
    for encoding in ["", "gzip", "deflate", "br"] {
        assert_eq!(decoded(b"", encoding), Ok(Vec::new()), "{encoding}");
    }
    assert_eq!(decoded(b"x", "gzip"), Ok(b"x".to_vec()));
    assert_eq!(decoded(&GZIP_MAGIC[..1], ""), Ok(GZIP_MAGIC[..1].to_vec()));
    assert_eq!(decoded(&GZIP_MAGIC, ""), Err(FetchFailure::CutOff));
}

#[test]
fn truncated_or_corrupt_body_is_reported_in_words() {
    let text = b"<rss version=\"2.0\"><channel><title>A title</title></channel></rss>";
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    zlib.write_all(text).unwrap();
    let mut brotli_bytes = Vec::new();
    brotli::CompressorWriter::new(&mut brotli_bytes, 4096, 5, 20).write_all(text).unwrap();
    for (wire, encoding) in
        [(gzip(text), "gzip"), (zlib.finish().unwrap(), "deflate"), (brotli_bytes, "br")]
    {
        for cut in MARK_BYTES..wire.len() {
            let got = decoded(&wire[..cut], encoding);
            assert_eq!(got, Err(FetchFailure::CutOff), "{encoding} cut after {cut}");
        }
        for broken in 0..wire.len() {
            let mut wire = wire.clone();
            wire[broken] ^= 0x55;
            // Decoding must not panic. It may succeed, because not every corruption can be detected.
            decoded(&wire, encoding).ok();
        }
    }
}

#[test]
fn compression_bomb_stops_at_the_limits() {
    let bomb = gzip(&vec![0; 3 * 1024 * 1024]);
    assert!(matches!(decoded(&bomb, "gzip"), Err(FetchFailure::TooLarge(_))));
    let limits = BodyLimits { body_max: 100, ..BodyLimits::default() };
    assert!(matches!(decode(&gzip(&[1; 200]), "gzip", limits), Err(FetchFailure::TooLarge(_))));
}
