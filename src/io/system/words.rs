//! Describes system errors in words, without error numbers. The description contains a reason even if the system gives none.

use std::io::{Error, ErrorKind};

/// EMFILE and ENFILE: too many open files in this process, or in the system. They have no [`ErrorKind`].
const TOO_MANY_FILES: [i32; 2] = [24, 23];
/// EIO: an input/output error of the device.
const DEVICE_FAILS: i32 = 5;

/// Checks whether an error means that the system allows no further open file or connection.
pub fn is_out_of_files(error: &Error) -> bool {
    error.raw_os_error().is_some_and(|code| TOO_MANY_FILES.contains(&code))
}

/// Checks whether the system allows no further open file or connection now, because libraries do not always report this as the
/// reason of a failure.
pub fn is_out_of_files_now() -> bool {
    std::fs::File::open("/dev/null").is_err_and(|error| is_out_of_files(&error))
}

/// Checks whether an error means that there is no space left to write to.
pub fn is_out_of_room(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem
    )
}

/// Joins the lines of a system message: our messages have one line.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a description of a system error that can end a sentence.
pub fn system_words(error: &Error) -> String {
    if is_out_of_files(error) {
        return "too many files and connections are open ('ulimit -n' allows more)".into();
    }
    if error.raw_os_error() == Some(DEVICE_FAILS) {
        return "the disk reports an error".into();
    }
    if let Some(words) = words_of(error.kind()) {
        return words.into();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().trim();
    if text.is_empty() || text == "other error" || text == "uncategorized error" {
        return "the system gave no reason".into();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds are the standard library's, and grow"
)]
const fn words_of(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => "access is denied",
        ErrorKind::AlreadyExists => "it already exists",
        ErrorKind::NotADirectory => "part of the path is not a folder",
        ErrorKind::IsADirectory => "it is a folder",
        ErrorKind::DirectoryNotEmpty => "the folder is not empty",
        ErrorKind::ReadOnlyFilesystem => "nothing can be written to this disk",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::FileTooLarge => {
            "the file would be larger than the system allows ('ulimit -f' allows more)"
        }
        ErrorKind::QuotaExceeded => "your disk quota is used up",
        ErrorKind::InvalidFilename => "the name is too long or not allowed",
        ErrorKind::CrossesDevices => "it is on another disk",
        ErrorKind::ConnectionRefused => "the connection was refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => "the connection was cut",
        ErrorKind::HostUnreachable => "the host cannot be reached",
        ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => "the network cannot be reached",
        ErrorKind::AddrInUse => "the address is in use",
        ErrorKind::AddrNotAvailable => "the address does not belong to this machine",
        ErrorKind::NotConnected => "there is no connection",
        ErrorKind::BrokenPipe => "the other side closed the connection",
        ErrorKind::TimedOut => "it took too long",
        ErrorKind::OutOfMemory => "there is not enough memory",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_are_described_without_numbers() {
        for (error, expected) in [
            (Error::from_raw_os_error(2), "there is no such file or folder"),
            (Error::from_raw_os_error(5), "the disk reports an error"),
            (
                Error::from_raw_os_error(24),
                "too many files and connections are open ('ulimit -n' allows more)",
            ),
            (Error::from_raw_os_error(28), "the disk is full"),
            (Error::from(ErrorKind::Other), "the system gave no reason"),
            (Error::other("what\nelse"), "what else"),
        ] {
            assert_eq!(system_words(&error), expected);
        }
        for code in 1..140 {
            let words = system_words(&Error::from_raw_os_error(code));
            assert!(!words.is_empty() && !words.contains("os error"), "{code}: {words}");
        }
    }
}
