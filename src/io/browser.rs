//! Opening an address in the reader's browser.

/// Opens an address; only http, https and mailto ones (SPEC G.52). The browser goes on by itself.
pub fn open(address: &str) -> Result<(), String> {
    let scheme = url::Url::parse(address).map(|url| url.scheme().to_owned());
    match scheme.as_deref() {
        Ok("http" | "https" | "mailto") => open::that_detached(address).map_err(|error| {
            format!("no browser could be started ({error}); the address is {address}")
        }),
        Ok(_) | Err(_) => {
            Err(format!("'{address}' is not an address a browser may open from here"))
        }
    }
}
