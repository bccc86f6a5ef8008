//! The dialogs of accounts on servers.

pub mod account_form;
pub mod account_list;
pub mod add_dialog;
