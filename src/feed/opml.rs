//! Stand-in.
use std::collections::BTreeMap;
#[derive(Debug, Clone, Default)]
pub struct Opml {
    pub title: Option<String>,
    pub outlines: Vec<OpmlFeed>,
    pub bad: Vec<BadOutline>,
    pub flaws: Vec<super::Flaw>,
}
#[derive(Debug, Clone, Default)]
pub struct OpmlFeed {
    pub xml_url: String,
    pub html_url: Option<String>,
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub settings: BTreeMap<String, String>,
}
#[derive(Debug, Clone, Default)]
pub struct BadOutline {
    pub text: String,
    pub reason: String,
    pub line: u32,
}
pub fn read(_: &[u8]) -> Result<Opml, String> {
    Err(String::new())
}
pub fn write(_: &Opml) -> String {
    String::new()
}
