//! The dialogs of accounts on servers.

pub mod account_form;
pub mod account_list;
pub mod add_dialog;

use crate::ui::scroll_list::ScrollList;

/// The list of accounts on servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountList {
    /// The selected account and the first visible one.
    pub list: ScrollList,
    /// Name of the account to be removed, while the user is asked what becomes of its feeds.
    pub leaving: Option<String>,
}
