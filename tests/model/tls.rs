//! HTTPS against a real server: its certificate counts when an authority that the system trusts has signed it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::Sandbox;

struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes an authority and a certificate of its for `localhost`; false without openssl.
fn certificates(folder: &Path) -> bool {
    std::fs::create_dir_all(folder).expect("a folder");
    let names = "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n";
    std::fs::write(folder.join("names"), names).expect("a file");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    [
        format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=Authority -addext basicConstraints=critical,CA:TRUE"),
        format!("req {key} -keyout server.key -out server.csr -subj /CN=localhost"),
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem".into(),
    ]
    .iter()
    .all(|words| {
        let done = Command::new("openssl").args(words.split(' ')).current_dir(folder).stderr(Stdio::null()).status();
        done.is_ok_and(|status| status.success())
    })
}

fn serve(folder: &Path) -> Option<Server> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/model/tls.py");
    let mut python = Command::new("python3");
    python.arg(script).args(["server.pem", "server.key"]).current_dir(folder);
    let mut child = python.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
    Some(Server { port: line.trim().parse().ok()?, child })
}

#[test]
fn a_server_is_believed_when_a_trusted_authority_vouches_for_its_name() {
    let mut sandbox = Sandbox::new();
    sandbox.run(&["init", "--no-hooks"]);
    let folder = sandbox.root().join("tls");
    let Some(server) = certificates(&folder).then(|| serve(&folder)).flatten() else {
        eprintln!("skipped: no openssl or no python3");
        return;
    };
    let key = "sk-0123456789abcdefghij";
    let authority = folder.join("ca.pem").display().to_string();
    for (host, trusted, word) in [
        ("localhost", true, "answered by  behind-tls"),
        ("localhost", false, "UnknownIssuer"),
        ("127.0.0.1", true, "not valid for name"),
    ] {
        sandbox.env = vec![("OPENAI_API_KEY".into(), key.into())];
        sandbox.env.extend(trusted.then(|| ("SSL_CERT_FILE".to_owned(), authority.clone())));
        let url = format!("https://{host}:{}/v1", server.port);
        for (name, value) in [
            ("provider", "openai"),
            ("model", "m"),
            ("baseUrl", &url),
            ("maxRetries", "0"),
            ("apiKeyEnv", "OPENAI_API_KEY"),
        ] {
            sandbox.git(&["config", &format!("memory.model.{name}"), value]);
        }
        let output = sandbox.memory(&["model", "test"]).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.success(), host == "localhost" && trusted, "{said}");
        assert!(said.contains(word) && !said.contains(key), "{host} {trusted}: {said}");
    }
    // What speaks no TLS is told as such, with its address.
    let plain = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = plain.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in plain.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
            // Until the other side has read it.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    sandbox.git(&["config", "memory.model.baseUrl", &format!("https://127.0.0.1:{port}/v1")]);
    let (said, _) = sandbox.fails(1, &["model", "test", "--stage", "review"]);
    assert!(said.contains(&port.to_string()) && said.contains("http, without s"), "{said}");
}
