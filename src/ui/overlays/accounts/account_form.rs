//! The form in which the user types the login of an account on a server.

use crate::engine::settings::Secret;
use crate::ui::effect::NewLogin;
use crate::ui::overlays::form::{Form, FormRow, FormValue};
use crate::ui::overlays::prompt::{Prompt, PromptPurpose};

const SERVER: &str = "server";
const USER: &str = "user";
const PASSWORD: &str = "password";

/// The form in which the user types the login of an account on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountForm {
    /// The input lines, each identified by its label.
    pub form: Form<&'static str>,
    /// `true` while the server is asked.
    pub is_waiting: bool,
    /// Address of a server without encryption of which the user was warned.
    pub(in crate::ui) warned_of: Option<String>,
}

impl AccountForm {
    pub(in crate::ui) fn new() -> Self {
        let row = |label, purpose, hint: &str| FormRow {
            field: label,
            value: FormValue::Line(Prompt::new(purpose)),
            hint: hint.to_owned(),
            offered: None,
        };
        let rows = vec![
            row(SERVER, PromptPurpose::Field(SERVER), "its address, such as rss.example"),
            row(
                USER,
                PromptPurpose::Field(USER),
                "empty: the password is an API token of Miniflux",
            ),
            row(PASSWORD, PromptPurpose::Password, "FreshRSS: the API password"),
        ];
        Self { form: Form::new(rows, 0), is_waiting: false, warned_of: None }
    }

    /// Returns what was typed. If a line is empty that must not be, the error is its index and a sentence.
    pub(in crate::ui) fn login(&self) -> Result<NewLogin, (usize, String)> {
        let (address, user) = (self.form.text(&SERVER), self.form.text(&USER));
        // A password can begin or end with a space.
        let password = self.form.rows.iter().find_map(|row| match &row.value {
            FormValue::Line(prompt) if row.field == PASSWORD => Some(prompt.text.clone()),
            FormValue::Line(_) | FormValue::Choice { .. } => None,
        });
        let password = password.unwrap_or_default();
        if address.is_empty() {
            return Err((0, "type the address of the server".to_owned()));
        }
        if password.is_empty() {
            return Err((2, "type the password, or the API token".to_owned()));
        }
        let (address, user) = (address.to_owned(), user.to_owned());
        Ok(NewLogin { address, user, password: Secret::new(password) })
    }
}
