//! Explains why a feed has no entries: it contains none, or its entries are in the wrong place or have the wrong name.

use super::names::Ns;
use super::tree::XmlElement;
use crate::feed::flaws::Flaws;

/// Records a flaw that explains why no entry was found in the feed with this root element.
pub(super) fn explain_missing_entries(root: XmlElement<'_, '_>, flaws: &mut Flaws) {
    let Some((parent, found)) = find_like_entry(root) else {
        flaws.add("document", root.raw(), "no entries: it contains no item or entry element");
        return;
    };
    if is_entry(found) {
        let reason = "no entries: they are inside this element, where readers do not look for them";
        flaws.add("document", parent.raw(), reason);
    } else {
        let reason = match (found.ns(), found.local()) {
            (Ns::Atom, _) => "no entries: in Atom an entry is called entry",
            (Ns::Rss, _) => "no entries: in RSS an entry is called item",
            (_, _) => "no entries: the namespace of this element is not a feed namespace",
        };
        flaws.add("document", found.raw(), reason);
    }
}

/// Checks whether an element is an RSS or Atom entry.
pub(super) fn is_entry(element: XmlElement<'_, '_>) -> bool {
    element.is(Ns::Rss, "item") || element.is(Ns::Atom, "entry")
}

/// Finds the first element that is named like an entry. Returns its parent and the element.
fn find_like_entry<'t, 'a>(
    parent: XmlElement<'t, 'a>,
) -> Option<(XmlElement<'t, 'a>, XmlElement<'t, 'a>)> {
    parent.children().find_map(|child| {
        if matches!(child.local(), "item" | "entry") {
            Some((parent, child))
        } else {
            find_like_entry(child)
        }
    })
}
