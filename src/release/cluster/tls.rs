//! Encrypted connections whose two sides authenticate each other with certificates.
//!
//! Each side has a folder with its certificate (`tls.crt`), its key (`tls.key`), and the authority
//! that signed the certificates of both sides (`ca.crt`). Kubernetes secrets and cert-manager use
//! the same names.

use crate::base::error::{Error, ErrorKind, Result};
use futures::{Stream, stream};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};
use tonic::transport::server::Connected;
use url::Url;

const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const AUTHORITY: &str = "ca.crt";
/// The protocol inside the encrypted connection: HTTP/2.
const PROTOCOL: &[u8] = b"h2";
/// The maximum number of accepted connections that are queued for the server.
const WAITING: usize = 16;
/// The maximum time until the other side presents its certificate.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The delay before accepting the next connection after the system failed to accept one, for
/// example because of too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// The certificate of this side, and the authority that verifies the certificate of the other side.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Reads the certificate files of a folder. Fails with `ErrorKind::Usage` if a file is missing
    /// or unusable.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let file = |name: &str| folder.join(name);
        let chain = certificates(&file(CERTIFICATE))?;
        let mut authorities = RootCertStore::empty();
        for authority in certificates(&file(AUTHORITY))? {
            authorities.add(authority).map_err(|_| unusable(&file(AUTHORITY)))?;
        }
        let authorities = Arc::new(authorities);
        let key = || PrivateKeyDer::from_pem_file(file(KEY)).map_err(|_| unusable(&file(KEY)));
        let provider: Arc<CryptoProvider> = Arc::new(aws_lc_rs::default_provider());
        let wrong = |_| unusable(folder);

        let client = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let client = client.map_err(wrong)?.with_root_certificates(Arc::clone(&authorities));
        let mut client = client.with_client_auth_cert(chain.clone(), key()?).map_err(wrong)?;
        client.alpn_protocols = vec![PROTOCOL.to_vec()];

        let known = WebPkiClientVerifier::builder_with_provider(authorities, Arc::clone(&provider)).build();
        let known = known.map_err(|_| unusable(&file(AUTHORITY)))?;
        let server = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let server = server.map_err(wrong)?.with_client_cert_verifier(known);
        let mut server = server.with_single_cert(chain, key()?).map_err(wrong)?;
        server.alpn_protocols = vec![PROTOCOL.to_vec()];

        Ok(Self {
            connector: TlsConnector::from(Arc::new(client)),
            acceptor: TlsAcceptor::from(Arc::new(server)),
        })
    }

    /// Connects to a worker. The worker's certificate must be valid for the name in the fragment of
    /// `url`, or for the host if `url` has no fragment. A fragment is present if the host of `url`
    /// is an IP address to which this name was resolved.
    pub(super) async fn connect(self, url: Url) -> io::Result<TokioIo<client::TlsStream<TcpStream>>> {
        let wrong = || io::Error::from(io::ErrorKind::InvalidInput);
        let (host, port) = url.host_str().zip(url.port_or_known_default()).ok_or_else(wrong)?;
        let host = host.trim_matches(['[', ']']);
        let name = ServerName::try_from(url.fragment().unwrap_or(host).to_string()).map_err(|_| wrong())?;
        let open = TcpStream::connect((host, port)).await?;
        open.set_nodelay(true)?;
        Ok(TokioIo::new(self.connector.connect(name, open).await?))
    }

    /// Accepts connections. Returns those in which the other side presented a valid certificate;
    /// any other connection is closed after at most [`HANDSHAKE`].
    pub(super) fn accepted(self, listener: TcpListener) -> impl Stream<Item = io::Result<Accepted>> {
        let (ready, connections) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            loop {
                let open = tokio::select! {
                    open = listener.accept() => open,
                    () = ready.closed() => return,
                };
                let Ok((open, _)) = open else {
                    sleep(PAUSE).await;
                    continue;
                };
                let (acceptor, ready) = (self.acceptor.clone(), ready.clone());
                tokio::spawn(async move {
                    let _ = open.set_nodelay(true);
                    if let Ok(Ok(shown)) = timeout(HANDSHAKE, acceptor.accept(open)).await {
                        let _ = ready.send(Ok(Accepted(shown))).await;
                    }
                });
            }
        });
        stream::unfold(connections, |mut connections| async move {
            connections.recv().await.map(|next| (next, connections))
        })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|_| unusable(path))?;
    match read.is_empty() {
        true => Err(unusable(path)),
        false => Ok(read),
    }
}

/// Returns the error for an unusable file. The message does not quote the content of the file,
/// which may be a private key.
fn unusable(path: &Path) -> Error {
    Error::new(
        ErrorKind::Usage,
        format!(
            "{} is missing or unusable; encryption needs a folder with the certificate of this side ({CERTIFICATE}), \
            its key ({KEY}) and the authority of all certificates ({AUTHORITY}), as PEM",
            path.display()
        ),
    )
}

/// A connection that a worker accepted.
pub(super) struct Accepted(server::TlsStream<TcpStream>);

impl Connected for Accepted {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Accepted {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, into)
    }
}

impl AsyncWrite for Accepted {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
