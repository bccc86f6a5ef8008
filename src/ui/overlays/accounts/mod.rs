//! The dialog of accounts on servers.

pub mod account_form;
pub mod add_dialog;
