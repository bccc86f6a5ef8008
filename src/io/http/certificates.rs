//! The trusted server certificates: the system's authorities, and certificates that the user configured.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::io::small_files;
use crate::io::system::words::system_words;
use backissue_core::{InputFlaw, flaw};

/// Maximum size of a certificate file, bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads the certificates that the user trusts in addition from PEM files. The error is a sentence.
pub(super) fn read_extra_roots(
    files: &[PathBuf],
) -> Result<Vec<CertificateDer<'static>>, InputFlaw> {
    let mut all = Vec::new();
    for file in files {
        let wrong =
            |why: String| flaw!("[network] extra_roots: {} cannot be used: {why}", file.display());
        let bytes = small_files::read(file, FILE_BYTES_MAX);
        let bytes = bytes.map_err(|error| wrong(system_words(&error)))?;
        let here: Result<Vec<CertificateDer<'static>>, _> =
            CertificateDer::pem_slice_iter(&bytes).collect();
        let here = here.map_err(|_| wrong("it is damaged".into()))?;
        if here.is_empty() {
            return Err(wrong("it contains no certificate ('-----BEGIN CERTIFICATE-----')".into()));
        }
        all.extend(here);
    }
    Ok(all)
}

/// Trusts the certificates that another verifier trusts, and the exact certificates that the user configured, which may be
/// self-signed. The server name must match in both cases.
#[derive(Debug)]
struct WithOwn {
    others: Arc<dyn ServerCertVerifier>,
    own: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for WithOwn {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.own.iter().any(|own| own == shown) {
            verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.others.verify_server_cert(shown, between, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls12_signature(message, shown, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.others.verify_tls13_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.others.supported_verify_schemes()
    }
}

/// Returns the TLS configuration. `roots` replaces the platform's authorities; `own` is trusted in addition.
pub(super) fn tls(
    roots: Option<&Arc<RootCertStore>>,
    own: Vec<CertificateDer<'static>>,
) -> Result<rustls::ClientConfig, Error> {
    // This fails only if the same provider is already installed, so the error is ignored.
    rustls::crypto::ring::default_provider().install_default().ok();
    let builder = rustls::ClientConfig::builder();
    let mut tls = if let Some(roots) = roots.filter(|_| own.is_empty()) {
        builder.with_root_certificates(Arc::clone(roots)).with_no_client_auth()
    } else {
        let verifier = verifier(roots, own)?;
        builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
    };
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

/// Returns the certificate verifier. `roots` replaces the platform's authorities, or Mozilla's if the platform has none.
fn verifier(
    roots: Option<&Arc<RootCertStore>>,
    own: Vec<CertificateDer<'static>>,
) -> Result<Arc<WithOwn>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let others: Arc<dyn ServerCertVerifier> = match roots {
        Some(roots) => trusting(RootCertStore::clone(roots), &own, provider)?,
        None => match Verifier::new_with_extra_roots(own.iter().cloned(), Arc::clone(&provider)) {
            Ok(platform) => Arc::new(platform),
            Err(_) => trusting(mozilla(), &own, provider)?,
        },
    };
    Ok(Arc::new(WithOwn { others, own }))
}

fn trusting(
    mut roots: RootCertStore,
    own: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, Error> {
    roots.add_parsable_certificates(own.iter().cloned());
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    built.map_err(|error| Error::General(error.to_string()))
}

fn mozilla() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    roots
}
