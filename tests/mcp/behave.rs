//! Several at once, clients that go, and what is left behind.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Sandbox;
use crate::server::Server;
use crate::{fixture, proposal, wiki};

/// Long enough for a loaded machine; a server that hangs is far beyond it.
const SOON: Duration = Duration::from_secs(20);

fn open(sandbox: &Sandbox) -> usize {
    sandbox.json(&["proposal", "list"])["proposals"].as_array().expect("a list").len()
}

#[test]
fn a_client_that_closes_its_end_at_any_time_gets_a_good_end_and_leaves_nothing_half_done() {
    let sandbox = wiki();
    let before = sandbox.state();
    let said: [&[u8]; 6] = [
        b"",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}",
        b"\n\n",
        b"nonsense\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    ];
    for bytes in said {
        let mut server = Server::raw(&sandbox, &[]);
        server.bytes(bytes);
        server.close();
        assert!(server.wait(SOON).success(), "{}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(sandbox.state(), before);
    // Everything that was asked before the end is answered.
    let mut server = Server::start(&sandbox, &[]);
    server.ask_tool(1, "memory_status", json!({}));
    server.ask_tool(2, "memory_read", json!({ "path": "decisions/sqlite.md" }));
    server.ask(3, "resources/list", json!({}));
    server.close();
    for id in 1..=3 {
        assert!(server.answer(id)["result"].is_object());
    }
    assert!(server.wait(SOON).success());
}

#[test]
fn a_client_that_stops_listening_ends_the_server() {
    let sandbox = wiki();
    let mut command = sandbox.program(crate::common::BIN);
    command.arg("mcp").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("the server starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("its input");
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let end = Instant::now() + SOON;
    while child.try_wait().expect("its state").is_none() {
        assert!(Instant::now() < end, "the server goes on talking to nobody");
        let _ = std::io::Write::write_all(&mut input, ping);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(child.wait().expect("its end").success());
}

#[test]
fn killed_in_the_middle_of_a_run_it_leaves_what_a_killed_command_leaves() {
    let full = std::env::var_os("GIT_MEMORY_TEST_FULL").is_some();
    let delays: &[u64] = if full { &[5, 20, 40, 60, 80, 120, 160, 250] } else { &[20, 100] };
    for &delay in delays {
        for signal in ["TERM", "KILL"] {
            let sandbox = wiki();
            sandbox.run(&["capture", &fixture("made-twin-laptop"), &fixture("real-init")]);
            let mut server = Server::start(&sandbox, &[]);
            server.ask_tool(1, "memory_improve", json!({ "limits": { "max_sessions": 5 } }));
            server.ask_tool(
                2,
                "memory_propose",
                proposal("one-more", "# One more\n\nSet the folder before the build.\n"),
            );
            std::thread::sleep(Duration::from_millis(delay));
            let id = server.child.id().to_string();
            let sent = sandbox.program("kill").args(["-s", signal, &id]).status().expect("kill");
            assert!(sent.success());
            server.wait(SOON);
            // What git programs it had started come to their ends by themselves.
            std::thread::sleep(Duration::from_millis(200));
            sandbox.fsck();
            sandbox.json(&["status"]);
            sandbox.run(&["improve", "--all"]);
            sandbox.fsck();
            assert_eq!(sandbox.git(&["status", "--porcelain"]), "", "{signal} after {delay} ms");
        }
    }
}

#[test]
fn a_ping_is_answered_while_a_proposal_waits_and_what_is_called_off_is_not_answered() {
    let sandbox = wiki();
    let lock = sandbox.path(".git/memory/decide.lock");
    std::fs::create_dir_all(lock.parent().expect("a folder")).expect("folders");
    let held = File::create(&lock).expect("the lock");
    held.lock().expect("held");
    let mut server = Server::start(&sandbox, &[]);
    server.ask_tool("a", "memory_propose", proposal("first", "# First\n\nSet the folder before the build begins.\n"));
    server.ask_tool("b", "memory_propose", proposal("second", "# Second\n\nNo cache survives a change of branch.\n"));
    server.ask_tool("c", "memory_propose", proposal("third", "# Third\n\nTests want a clean home folder each.\n"));
    // Both reads and pings pass by those that wait.
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    assert_eq!(server.value("memory_read", json!({ "path": "decisions/sqlite.md" }))["kind"], "decision");
    let again = server.request("ping", json!({}));
    assert_eq!(again["result"], json!({}));
    // The second has not begun and never will; the first is at work.
    for id in ["a", "b"] {
        let reason = json!({ "requestId": id, "reason": "changed my mind" });
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": reason }));
    }
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    drop(held);
    let third = server.answer("c");
    assert_eq!(third["result"]["structuredContent"]["outcome"], "staged", "{third}");
    let answered: Vec<Value> = server.rest().into_iter().map(|frame| frame["id"].clone()).collect();
    assert_eq!(answered, Vec::<Value>::new(), "neither of those that were called off is answered");
    server.finish();
    let paths = sandbox.json(&["proposal", "list"])["proposals"].to_string();
    assert!(paths.contains("first") && paths.contains("third") && !paths.contains("second"), "{paths}");
}

#[test]
fn two_requests_at_once_are_both_done() {
    let sandbox = wiki();
    let mut server = Server::start(&sandbox, &[]);
    server.ask_tool(1, "memory_propose", proposal("first", "# First\n\nSet the folder before the build begins.\n"));
    server.ask_tool(2, "memory_propose", proposal("second", "# Second\n\nNo cache survives a change of branch.\n"));
    server.ask_tool(1, "memory_status", json!({}));
    let mut answers = [server.answer(1), server.answer(1)];
    answers.sort_by_key(|answer| answer["error"].is_object());
    assert_eq!(answers[0]["result"]["structuredContent"]["outcome"], "staged", "{answers:?}");
    assert_eq!(answers[1]["error"]["code"], -32600, "an id that is in use: {answers:?}");
    assert_eq!(server.answer(2)["result"]["structuredContent"]["outcome"], "staged");
    server.finish();
    assert_eq!(open(&sandbox), 2);
}

#[test]
fn twenty_servers_in_one_repository_lose_nothing() {
    let sandbox = wiki();
    let mut servers: Vec<Server> = (0..20).map(|_| Server::raw(&sandbox, &[])).collect();
    for server in &mut servers {
        server.begin();
    }
    let page = |n: usize| {
        let word = ["alpha", "bravo", "china", "delta", "early"][n % 5];
        let text =
            format!("# Case {n} of {word}\n\nThe {word} job {n} needs {n} workers and {word} memory, or it stops.\n");
        proposal(&format!("case-{n}"), &text)
    };
    for (n, server) in servers.iter_mut().enumerate() {
        server.ask_tool(1, "memory_propose", page(n));
        server.ask_tool(2, "memory_read", json!({ "path": "gotchas/openssl-dir.md" }));
        server.ask_tool(3, "memory_search", json!({ "query": "openssl" }));
    }
    for (n, server) in servers.iter_mut().enumerate() {
        assert_eq!(server.answer(2)["result"]["isError"], false);
        let found = server.answer(3);
        assert_eq!(found["result"]["structuredContent"]["results"][0]["path"], "gotchas/openssl-dir.md", "{found}");
        let mut result = server.answer(1)["result"].clone();
        // Whoever waited too long for its turn is told so, and asks again.
        while result["isError"] == true {
            assert!(result.to_string().contains("(busy)"), "{result}");
            result = server.call("memory_propose", page(n));
        }
        assert_eq!(result["structuredContent"]["outcome"], "staged", "{result}");
    }
    for server in &mut servers {
        server.finish();
    }
    assert_eq!(open(&sandbox), 20);
    sandbox.fsck();
}
