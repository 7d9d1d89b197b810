//! Frames that are none, or come at the wrong time.

use serde_json::{Value, json};

use crate::server::Server;
use crate::wiki;

#[test]
fn what_is_no_message_is_answered_and_the_next_line_is_read() {
    let sandbox = wiki();
    let mut server = Server::start(&sandbox, &[]);
    for (line, code, id) in [
        (&b"nonsense"[..], -32700, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, Value::Null),
        (b"\xff\xfe", -32700, Value::Null),
        (b"\"text\"", -32600, Value::Null),
        (b"7", -32600, Value::Null),
        (b"null", -32600, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, Value::Null),
        (b"{}", -32600, Value::Null),
        (b"{\"id\":1,\"method\":\"ping\"}", -32600, json!(1)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":[]}", -32600, json!("a")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":[]}", -32602, json!(2)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{}}", -32602, json!(3)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"nobody/knows\"}", -32601, json!(4)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"x\"}}",
            -32601,
            json!(5),
        ),
    ] {
        server.bytes(&[line, b"\n"].concat());
        let answer = server.answer(id);
        assert_eq!(answer["error"]["code"], code, "{}: {answer}", String::from_utf8_lossy(line));
        assert!(answer["error"]["message"].as_str().is_some_and(|words| words.len() > 10), "{answer}");
        assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    }
    // So deep that a reader by recursion would fall over.
    server.bytes(&[b"[".repeat(200_000), b"\n".to_vec()].concat());
    assert_eq!(server.answer(Value::Null)["error"]["code"], -32700);
    // Nothing is said to what needs no answer.
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/nobody/knows", "params": { "a": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }),
        json!({ "jsonrpc": "2.0", "method": "tools/call", "params": { "name": "memory_status" } }),
        json!({ "jsonrpc": "2.0", "id": 99, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 98, "error": { "code": 1, "message": "no" } }),
    ] {
        server.send(&message);
    }
    server.bytes(b"\n\r\n   \n");
    assert_eq!(server.request("ping", Value::Null)["result"], json!({}), "`params: null` is as none");
    assert_eq!(server.rest(), Vec::<Value>::new());
    server.finish();
}

#[test]
fn a_line_of_64_mib_is_passed_over_without_being_held() {
    let sandbox = wiki();
    let mut server = Server::start(&sandbox, &[]);
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..64 {
        server.bytes(&piece);
    }
    server.bytes(b"\n");
    let answer = server.answer(Value::Null);
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).expect("its status");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
        assert!(peak < 60 << 10, "{peak} KiB");
    }
    server.finish();
}

#[test]
fn before_initialize_only_a_ping_is_answered() {
    let sandbox = wiki();
    let mut server = Server::raw(&sandbox, &[]);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    for method in ["tools/list", "tools/call", "resources/list", "prompts/list"] {
        let answer = server.request(method, json!({ "name": "memory_status" }));
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|words| words.contains("`initialize` first")));
    }
    // What a newer client tries before it falls back.
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    assert_eq!(server.request("server/discover", meta.clone())["error"]["code"], -32601);
    let answer = server.request("tools/list", meta);
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    assert_eq!(answer["error"]["data"]["supported"][0], "2025-11-25");
    assert_eq!(server.request("initialize", json!({}))["error"]["code"], -32602);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(server.begin()["protocolVersion"], "2025-06-18");
    assert!(server.request("tools/list", json!({}))["result"]["tools"].is_array());
    server.finish();
}

#[test]
fn a_version_that_nobody_knows_gets_the_newest() {
    let sandbox = wiki();
    for (asked, given) in [("1999-01-01", "2025-11-25"), ("2999-01-01", "2025-11-25"), ("2024-11-05", "2024-11-05")] {
        let mut server = Server::raw(&sandbox, &[]);
        let answer = server.request("initialize", json!({ "protocolVersion": asked, "capabilities": {} }));
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
        server.finish();
    }
}
