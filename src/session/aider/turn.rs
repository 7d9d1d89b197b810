//! What stands in the lines of one voice.

use super::Talk;
use crate::session::builder::Event;
use crate::session::{ObservationKind as Kind, Speaker};

/// Commands whose text is what a person asks the model.
const ASKING: [&str; 4] = ["/ask", "/code", "/architect", "/context"];

/// Commands that run something in the shell, and what stands before their text there.
const RUNNING: [(&str, &str); 4] = [("/run", ""), ("/test", ""), ("/lint", "lint"), ("/git", "git")];

/// Beginnings of aider's lines that say nothing about the work.
const NOISE: [&str; 28] = [
    "Added ",
    "Add ",
    "Aider respects",
    "Can't initialize",
    "Cost estimates",
    "Create new file",
    "Detected dumb terminal",
    "Dropping ",
    "Editor model:",
    "Git repo:",
    "Main model:",
    "Model:",
    "Models:",
    "Multiline mode",
    "Newer aider version",
    "Re-run aider",
    "Removed ",
    "Repo-map:",
    "Restored previous conversation",
    "Tokens:",
    "Update git",
    "Use /help",
    "VSCode terminal",
    "Warning: it's best to only add",
    "Weak model:",
    "You can use /undo",
    "http://aider.chat",
    "https://aider.chat",
];

/// A command whose output is being gathered.
pub(super) struct Open {
    /// Its call; `None`: it was dropped, and its output goes too.
    call: Option<String>,
    tool: &'static str,
    output: Vec<String>,
    /// A person ran it: all that aider says until somebody speaks is its output.
    by_person: bool,
}

impl Talk<'_> {
    /// What a person typed: a prompt, or a command of aider's.
    pub(super) fn typed(&mut self, text: &str) {
        self.close();
        self.announced = true;
        // An empty input, and the answer to a question that aider gave itself.
        if text.is_empty() || text == "<blank>" || text.contains("(Y)es/(N)o") {
            return;
        }
        if let Some(command) = text.strip_prefix('!') {
            return self.run(command.trim(), "Bash", Speaker::System, true, self.began);
        }
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        if let Some((_, program)) = RUNNING.iter().find(|(command, _)| *command == name) {
            return self.run(format!("{program} {rest}").trim(), "Bash", Speaker::System, true, self.began);
        }
        // A person's words may begin with a path, which has a second slash.
        let command = name.starts_with('/') && !name[1..].contains(['/', '.']) && name.len() > 1;
        let words = if ASKING.contains(&name) { rest } else { text };
        if command && !ASKING.contains(&name) || words.is_empty() {
            if !self.gathered.policy().exclusions.names(text) {
                self.say(self.began, Kind::Notification, Speaker::System, text);
            }
            return;
        }
        self.gathered.asked(words);
        if std::mem::take(&mut self.scripted) {
            return self.say(self.began, Kind::Other, Speaker::System, words);
        }
        self.say(self.began, Kind::Prompt, Speaker::Human, words);
    }

    /// What aider said: commands that it ran, files that it wrote, and notices.
    pub(super) fn told(&mut self, lines: &[String]) {
        let mut notices: Vec<&str> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let number = self.began + at;
            if let Some(rest) = line.strip_prefix("Aider v") {
                self.announced = true;
                self.gathered.about.version = rest.split_whitespace().next().map(str::to_owned);
            } else if let Some(command) = line.strip_prefix("Running ") {
                notices.clear();
                self.run(command, "Bash", Speaker::Assistant, false, number);
            } else if let Some(path) = line.strip_prefix("Applied edit to ") {
                self.close();
                self.edited(path.trim(), number);
            } else if line.starts_with("Run shell command") {
                // The lines before are the commands that are asked about.
                notices.clear();
            } else if line.starts_with("Commit ") {
                self.close();
                self.say(number, Kind::Notification, Speaker::System, line);
            } else if !self.announced && at == 0 {
                // The command line. A prompt that is given there was not typed into the chat.
                self.scripted |= [" --message", " --msg", " -m "].iter().any(|option| line.contains(option));
            } else if NOISE.iter().any(|front| line.starts_with(front)) || line.contains("(Y)es/(N)o") {
                if self.open.as_ref().is_some_and(|open| !open.by_person) {
                    self.close();
                }
            } else if let Some(open) = &mut self.open {
                open.output.push(line.clone());
            } else if !self.gathered.policy().exclusions.names(line) {
                notices.push(line);
            }
        }
        let began = self.began;
        self.say_as(&format!("{began}n"), Kind::Notification, Speaker::System, &notices.join("\n"));
    }

    /// What the model answered; edits of excluded files are cut out.
    pub(super) fn answered(&mut self, lines: &[String]) {
        self.close();
        let text = self.without_excluded(lines);
        match self.announced {
            true => self.say(self.began, Kind::Answer, Speaker::Assistant, text.trim()),
            // The rest of a command line of several lines.
            false => self.say(self.began, Kind::Other, Speaker::System, text.trim()),
        }
    }

    /// The text without the code fences of excluded files: a file's path stands in front of its fence, on its first
    /// line, or behind the opening mark.
    fn without_excluded(&self, lines: &[String]) -> String {
        let exclusions = &self.gathered.policy().exclusions;
        let bare = |line: &str| line.trim().trim_matches(['`', '*', '#', ':', '"']).trim().to_owned();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < lines.len() {
            let line = &lines[at];
            let body = line.trim_start();
            let Some(mark) = ["```", "~~~"].into_iter().find(|mark| body.starts_with(mark)) else {
                out.push(line.as_str());
                at += 1;
                continue;
            };
            let length =
                lines[at + 1..].iter().position(|line| line.trim() == mark).map_or(lines.len() - at, |end| end + 2);
            let before = lines[..at].iter().rev().find(|line| !line.trim().is_empty());
            let inside = lines.get(at + 1).filter(|_| length > 2);
            let excluded = [before, Some(line), inside].into_iter().flatten().any(|line| {
                let line = bare(line);
                exclusions.path(&line) || line.split_whitespace().any(|word| exclusions.path(&bare(word)))
            });
            if excluded {
                out.push("[an excluded file, left out]");
            } else {
                out.extend(lines[at..at + length].iter().map(String::as_str));
            }
            at += length;
        }
        out.join("\n")
    }

    /// A command begins; what it gives follows.
    fn run(&mut self, command: &str, tool: &'static str, speaker: Speaker, by_person: bool, number: usize) {
        self.close();
        let dropped = self.gathered.policy().exclusions.names(command);
        let call = self.id(&number.to_string());
        self.open = Some(Open { call: (!dropped).then(|| call.clone()), tool, output: Vec::new(), by_person });
        if !dropped {
            let event = Event::new(Kind::ToolCall, speaker, command);
            self.tool(&call, &call, Event { tool: Some(tool), title: Some(command), ..event });
        }
    }

    /// The command that was running is over.
    pub(super) fn close(&mut self) {
        if let Some(Open { call: Some(call), tool, output, .. }) = self.open.take()
            && !output.is_empty()
        {
            let (id, body) = (format!("{call}r"), output.join("\n"));
            let event = Event::new(Kind::ToolResult, Speaker::Tool, &body);
            self.tool(&id, &call, Event { tool: Some(tool), ..event });
        }
    }

    fn edited(&mut self, path: &str, number: usize) {
        if self.gathered.policy().exclusions.path(path) {
            return;
        }
        let call = self.id(&number.to_string());
        let edit = Event { tool: Some("Edit"), ..Event::new(Kind::ToolCall, Speaker::Assistant, path) };
        self.tool(&call, &call, Event { title: Some(path), ..edit });
        let result = Event { kind: Kind::ToolResult, speaker: Speaker::Tool, body: "Applied", exit: Some(0), ..edit };
        self.tool(&format!("{call}r"), &call, result);
    }

    fn tool(&mut self, id: &str, call: &str, event: Event) {
        self.gathered.push(&Event { id, call: Some(call), ..event });
    }

    fn say(&mut self, number: usize, kind: Kind, speaker: Speaker, body: &str) {
        self.say_as(&number.to_string(), kind, speaker, body);
    }

    fn say_as(&mut self, name: &str, kind: Kind, speaker: Speaker, body: &str) {
        if body.trim().is_empty() {
            return;
        }
        let id = self.id(name);
        self.gathered.push(&Event { id: &id, ..Event::new(kind, speaker, body) });
    }

    /// By the line within the session: a file that grows keeps the names of what it had.
    fn id(&self, name: &str) -> String {
        format!("{}.{name}", self.id)
    }
}
