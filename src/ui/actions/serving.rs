//! Serving the store to the user's devices while the screen is open.

use backissue_core::InputFlaw;

use crate::ui::app::Cx;
use crate::ui::effect::ScreenEffect;

/// Shows the address at which devices are served, or explains how to serve them.
pub fn tell(cx: &mut Cx<'_>) {
    match cx.app.ui.serving.clone() {
        Some(address) => cx.say(format!("devices are served at {address} · 'serve off' ends it")),
        None => cx.say("say where, like 'serve 8086', or 'serve 10.8.0.1:8086'"),
    }
}

/// Serves devices at a typed address. `off` stops serving them.
pub fn serve(cx: &mut Cx<'_>, typed: &str) {
    let address = Some(typed.trim().to_owned()).filter(|typed| typed != "off");
    cx.out.push(ScreenEffect::Serve(address));
}

/// Shows the address at which devices are served now, and the result of the request. The error is a sentence.
pub fn show(cx: &mut Cx<'_>, address: Option<String>, told: Result<String, InputFlaw>) {
    cx.app.ui.serving = address;
    match told {
        Ok(told) => cx.answer(told),
        Err(why) => cx.complain(why.to_string()),
    }
}
