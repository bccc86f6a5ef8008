//! Why something that a person typed cannot be used.

use std::ops::Deref;

/// A sentence, or the end of one, about what a person typed or wrote into a file. It is shown as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InputFlaw(String);

/// Creates an [`InputFlaw`] like `format!`.
#[macro_export]
macro_rules! flaw {
    ($($text:tt)*) => {
        $crate::words::InputFlaw::from(format!($($text)*))
    };
}

impl From<String> for InputFlaw {
    fn from(sentence: String) -> Self {
        Self(sentence)
    }
}

impl From<&str> for InputFlaw {
    fn from(sentence: &str) -> Self {
        Self(sentence.to_owned())
    }
}

impl From<InputFlaw> for String {
    fn from(flaw: InputFlaw) -> Self {
        flaw.0
    }
}

impl Deref for InputFlaw {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}
