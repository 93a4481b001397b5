//! A faulty proxy in front of another server, on loopback.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The way in which a proxy fails.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Every n-th request gets a server error as the response. Half of these requests still reach
    /// the server.
    Every(u64),
    /// After n requests, no request gets a response.
    After(u64),
}

/// A proxy in front of the server at a local port.
pub struct Proxy {
    port: u16,
    requests: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Proxy {
    /// Starts a proxy.
    pub fn start(server: u16, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (requests, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, over) = (Arc::clone(&requests), Arc::clone(&is_over));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(client), counted) = (client, Arc::clone(&counted)) else {
                    continue;
                };
                // If a client disconnects during a request, its thread ends.
                std::thread::spawn(move || serve(client, server, fault, &counted));
            }
        });
        Self {
            port,
            requests,
            is_over,
        }
    }

    /// Returns the URL of the proxy.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the number of requests so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// Forwards a request and returns the server's response, unless the request should fail.
fn serve(mut client: TcpStream, server: u16, fault: Fault, requests: &AtomicU64) -> io::Result<()> {
    let (head, body) = request(&mut client)?;
    let number = requests.fetch_add(1, Ordering::Relaxed) + 1;
    let (fails, reaches) = match fault {
        Fault::Every(every) => {
            let fails = number.is_multiple_of(every);
            (fails, !fails || (number / every).is_multiple_of(2))
        }
        Fault::After(last) => (number > last, number <= last),
    };
    let mut answer = vec![];
    if reaches {
        let mut server = TcpStream::connect(("127.0.0.1", server))?;
        server.write_all(&head)?;
        server.write_all(&body)?;
        server.read_to_end(&mut answer)?;
    }
    match (fails, fault) {
        (false, _) => client.write_all(&answer),
        (true, Fault::Every(_)) => {
            client.write_all(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        (true, Fault::After(_)) => Ok(()),
    }
}

/// Reads a request. Changes its header so that the connection ends after the request.
fn request(client: &mut TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(|_| io::ErrorKind::InvalidData)?;
        }
        if lower.starts_with("connection:") {
            continue;
        }
        if line == "\r\n" {
            head += "Connection: close\r\n\r\n";
            break;
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head.into_bytes(), body))
}
