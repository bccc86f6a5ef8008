//! Writes XML elements. Characters that XML does not allow are left out.

use crate::feed::outgoing::push_escaped;

/// A growing XML document, with one element in each line.
#[derive(Debug, Default)]
pub(super) struct XmlText(String);

/// Name and value of an attribute; without a value it is left out.
pub(super) type Attribute<'a> = (&'a str, Option<&'a str>);

impl XmlText {
    /// Adds a line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Adds an element without content.
    pub(super) fn empty(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.0.push_str("/>\n");
    }

    /// Adds an element that contains only text.
    pub(super) fn element(&mut self, name: &str, attributes: &[Attribute<'_>], text: &str) {
        self.start(name, attributes);
        self.0.push('>');
        push_escaped(&mut self.0, text, false);
        self.line(&format!("</{name}>"));
    }

    fn start(&mut self, name: &str, attributes: &[Attribute<'_>]) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            let Some(value) = value else { continue };
            for part in [" ", name, "=\""] {
                self.0.push_str(part);
            }
            push_escaped(&mut self.0, value, true);
            self.0.push('"');
        }
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}
