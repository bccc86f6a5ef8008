//! Recognises services that keep programs away from a site by the marks that they leave in a response (SPEC D.2). The program never
//! tries to get past one: it says which service refused it.

/// A service that answered instead of the site, because a program requested the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotWall {
    /// Name of the service.
    pub service: &'static str,
    /// `false` if the service guards the site, but the refusal may also come from the site itself.
    pub is_certain: bool,
}

impl BotWall {
    /// Describes a refusal, as a sentence fragment after "answered". `status` is the status in words.
    pub fn words(self, status: &str) -> String {
        let Self { service, is_certain } = self;
        if is_certain {
            format!("{status}: {service} guards the site and lets only browsers in")
        } else {
            format!("{status}: probably {service}, which guards the site against programs")
        }
    }
}

/// What shows that a bot wall answered instead of the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// The service adds the mark only to a refusal or a challenge.
    Always,
    /// The service adds the mark to every response, so the mark counts only with status 403.
    WithForbidden,
}

/// A mark of a bot wall in the headers of a response: the name of the service, the header, a part of the header in lower case, and
/// what it shows.
type HeaderMark = (&'static str, &'static str, &'static str, Shows);

const HEADERS: &[HeaderMark] = &[
    ("Cloudflare", "cf-mitigated", "", Shows::Always),
    ("Cloudflare", "server", "cloudflare", Shows::WithForbidden),
    ("DataDome", "x-datadome", "", Shows::WithForbidden),
    ("DataDome", "x-dd-b", "", Shows::Always),
    ("Akamai", "server", "akamaighost", Shows::WithForbidden),
    ("Akamai", "akamai-grn", "", Shows::WithForbidden),
    ("PerimeterX", "set-cookie", "_pxhd=", Shows::WithForbidden),
    ("PerimeterX", "x-px-block", "", Shows::Always),
    ("AWS WAF", "x-amzn-waf-action", "", Shows::Always),
    ("Imperva", "x-iinfo", "", Shows::WithForbidden),
    ("Imperva", "set-cookie", "incap_ses_", Shows::WithForbidden),
    ("Imperva", "x-cdn", "imperva", Shows::WithForbidden),
    ("Anubis", "set-cookie", "-anubis-", Shows::Always),
    ("Sucuri", "x-sucuri-block", "", Shows::Always),
    ("Sucuri", "server", "sucuri", Shows::WithForbidden),
    ("Vercel", "x-vercel-mitigated", "", Shows::Always),
    ("Kasada", "x-kpsdk-ct", "", Shows::Always),
    ("DDoS-Guard", "server", "ddos-guard", Shows::WithForbidden),
];

/// Parts of the titles of challenge pages in lower case, which answer with a successful status, and the names of the services.
const TITLES: &[(&str, &str)] = &[
    ("Cloudflare", "just a moment..."),
    ("Cloudflare", "attention required! | cloudflare"),
    ("Anubis", "making sure you're not a bot"),
    ("AWS WAF", "human verification"),
    ("Imperva", "pardon our interruption"),
    ("Imperva", "_incapsula_resource"),
    ("Vercel", "vercel security checkpoint"),
    ("DDoS-Guard", "ddos-guard"),
];

/// Returns the bot wall that answered with this status, according to the response's headers. `header` returns all lines
/// of a header.
pub fn named_by_headers(
    status: u16,
    header: impl Fn(&'static str) -> Option<String>,
) -> Option<BotWall> {
    let is_mark = |(_, name, part, shows): &&HeaderMark| {
        (*shows == Shows::Always || status == 403)
            && header(name).is_some_and(|value| value.to_ascii_lowercase().contains(part))
    };
    let mark = HEADERS.iter().find(is_mark);
    mark.map(|(service, _, _, shows)| BotWall { service, is_certain: *shows == Shows::Always })
}

/// Returns the bot wall whose challenge page has this title.
pub fn named_by_title(title: &str) -> Option<BotWall> {
    let title = title.to_lowercase().replace('’', "'");
    let found = TITLES.iter().find(|(_, part)| title.contains(part));
    found.map(|(service, _)| BotWall { service, is_certain: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(status: u16, name: &str, value: &str) -> Option<&'static str> {
        let header = |asked| (asked == name).then(|| value.to_owned());
        named_by_headers(status, header).map(|wall| wall.service)
    }

    #[test]
    fn services_are_recognised_by_their_headers() {
        for (name, value, service) in [
            ("cf-mitigated", "challenge", "Cloudflare"),
            ("x-dd-b", "1", "DataDome"),
            ("x-amzn-waf-action", "captcha", "AWS WAF"),
            ("set-cookie", "a=b, techaro.lol-anubis-cookie-verification=x; Path=/", "Anubis"),
            ("x-vercel-mitigated", "challenge", "Vercel"),
        ] {
            assert_eq!(named(200, name, value), Some(service), "{name}");
            assert_eq!(named(403, name, value), Some(service), "{name}");
        }
        for (name, value, service) in [
            ("server", "cloudflare", "Cloudflare"),
            ("server", "AkamaiGHost", "Akamai"),
            ("x-datadome", "protected", "DataDome"),
            ("set-cookie", "_pxhd=abc", "PerimeterX"),
            ("set-cookie", "incap_ses_1=x", "Imperva"),
            ("x-iinfo", "9-1", "Imperva"),
        ] {
            assert_eq!(named(403, name, value), Some(service), "{name}");
            assert_eq!(named(200, name, value), None, "{name}: every response has it");
            assert_eq!(named(429, name, value), None, "{name}: the site itself asks for a pause");
        }
        assert_eq!(named(403, "server", "nginx"), None);
    }

    #[test]
    fn challenge_pages_are_recognised_by_their_titles() {
        let named = |title| named_by_title(title).map(|wall| wall.service);
        assert_eq!(named("Just a moment..."), Some("Cloudflare"));
        assert_eq!(named("Making sure you’re not a bot!"), Some("Anubis"));
        assert_eq!(named("_Incapsula_Resource"), Some("Imperva"));
        assert_eq!(named("Just a moment of silence"), None);
    }
}
