//! Which agents there are, and which files each of them has at each place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::program::Program;
use super::{Error, block};

/// A coding agent that can be installed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// OpenCode.
    OpenCode,
    /// Cursor.
    Cursor,
}

impl Agent {
    /// All of them.
    pub const ALL: [Agent; 4] = [Agent::Claude, Agent::Codex, Agent::OpenCode, Agent::Cursor];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::OpenCode => "opencode",
            Agent::Cursor => "cursor",
        }
    }
}

/// Where to install.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the work tree with this top folder.
    Project(PathBuf),
    /// In the user's own configuration, for every repository.
    User,
}

impl Place {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Place::Project(_) => "project",
            Place::User => "user",
        }
    }
}

/// What a file of an agent is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Claude Code's settings, with our hooks among others.
    ClaudeHooks,
    /// Cursor's hooks, with ours among others.
    CursorHooks,
    /// Codex's settings, with the program that it notifies.
    Notify,
    /// Instructions for agents, with a block of ours.
    Block,
    /// A plugin of ours for OpenCode.
    Plugin,
    /// A rule of ours for Cursor.
    Rule,
    /// A skill of ours.
    Skill,
    /// The MCP servers of Claude Code or Cursor, with ours among them.
    Servers,
    /// OpenCode's settings, with our MCP server among others.
    OpenCodeServers,
    /// Codex's settings, with our MCP server among others.
    CodexServers,
}

impl Kind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ClaudeHooks | Kind::CursorHooks => "hooks",
            Kind::Notify => "notify",
            Kind::Block => "instructions",
            Kind::Plugin => "plugin",
            Kind::Rule => "rule",
            Kind::Skill => "skill",
            Kind::Servers | Kind::OpenCodeServers | Kind::CodexServers => "mcp",
        }
    }
}

/// A file of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgentFile {
    pub kind: Kind,
    pub path: PathBuf,
    /// Other agents, or other places, may use the same one.
    pub shared: bool,
}

impl AgentFile {
    /// Under which name it is recorded what was inserted into the file itself (behind links). Codex has two parts of
    /// ours in one file.
    pub fn record(&self, real: &Path) -> PathBuf {
        let mut name = real.as_os_str().to_owned();
        if self.kind.is_optional() {
            name.push("#mcp");
        }
        name.into()
    }
}

/// The folders of the agents' own configuration.
#[derive(Debug, Clone)]
pub struct Homes {
    home: PathBuf,
    claude: PathBuf,
    codex: PathBuf,
    opencode: PathBuf,
    cursor: PathBuf,
    /// OpenCode's data, which is there once it has been used.
    opencode_data: PathBuf,
    /// Our own state.
    pub(super) state: PathBuf,
    /// Our own configuration.
    pub(super) config: PathBuf,
}

impl Homes {
    /// As the environment names them.
    ///
    /// # Errors
    /// When there is no home folder.
    pub fn from_environment() -> Result<Homes, Error> {
        let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or(Error::NoHome)?;
        let named = |variable: &str| {
            let value: Option<OsString> = std::env::var_os(variable);
            value.map(PathBuf::from).filter(|folder| folder.is_absolute())
        };
        let config = named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let data = named("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
        let state = named("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        Ok(Homes {
            claude: named("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")),
            codex: named("CODEX_HOME").unwrap_or_else(|| home.join(".codex")),
            opencode: config.join("opencode"),
            cursor: home.join(".cursor"),
            opencode_data: data.join("opencode"),
            state: state.join("git-memory"),
            config: config.join("git-memory"),
            home,
        })
    }
}

/// Where and how to install.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The place.
    pub place: Place,
    /// The agents' own folders.
    pub homes: Homes,
    /// The local folder of the repository at hand (`$GIT_COMMON_DIR/memory`).
    pub memory: Option<PathBuf>,
    /// The MCP server is asked for as well.
    pub mcp: bool,
    program: Program,
}

impl Ground {
    /// This very program, at a place.
    ///
    /// # Errors
    /// When there is no home folder.
    pub fn new(place: Place, memory: Option<PathBuf>) -> Result<Ground, Error> {
        Ok(Ground { place, homes: Homes::from_environment()?, memory, mcp: false, program: Program::this() })
    }

    /// Who relies on a file that this agent has at this place.
    pub(super) fn user(&self, agent: Agent) -> String {
        match &self.place {
            Place::Project(top) => format!("{}@{}", agent.name(), top.display()),
            Place::User => agent.name().to_owned(),
        }
    }

    /// How a file of this path calls the program: files that a team shares by its name, the user's own by its path.
    pub(super) fn program(&self, path: &Path) -> Program {
        match &self.place {
            Place::Project(top) if path.starts_with(top) => Program::by_name(),
            _ => self.program.clone(),
        }
    }

    /// Whether signs of the agent are there: its folder in the home or, for a project, in the work tree.
    pub fn has(&self, agent: Agent) -> bool {
        let homes = &self.homes;
        let (own, name): (&[&PathBuf], &str) = match agent {
            Agent::Claude => (&[&homes.claude], ".claude"),
            Agent::Codex => (&[&homes.codex], ".codex"),
            Agent::OpenCode => (&[&homes.opencode, &homes.opencode_data], ".opencode"),
            Agent::Cursor => (&[&homes.cursor], ".cursor"),
        };
        let in_project = matches!(&self.place, Place::Project(top) if top.join(name).is_dir());
        in_project || own.iter().any(|folder| folder.is_dir())
    }

    /// The files of an agent, the one that captures first, that of the MCP server last.
    pub(super) fn files(&self, agent: Agent) -> Vec<AgentFile> {
        let mut files = self.usual(agent);
        files.extend(self.servers(agent));
        files
    }

    /// Where the agent looks for MCP servers. Claude Code keeps the user's own among its state, which it writes all the
    /// time: nobody else should.
    fn servers(&self, agent: Agent) -> Option<AgentFile> {
        let homes = &self.homes;
        let (kind, path) = match (agent, &self.place) {
            (Agent::Claude, Place::Project(top)) => (Kind::Servers, top.join(".mcp.json")),
            (Agent::Claude, Place::User) => return None,
            // Codex asks before it heeds a project's settings.
            (Agent::Codex, _) => (Kind::CodexServers, homes.codex.join("config.toml")),
            (Agent::OpenCode, Place::Project(top)) => (Kind::OpenCodeServers, opencode_settings(top)),
            (Agent::OpenCode, Place::User) => (Kind::OpenCodeServers, opencode_settings(&homes.opencode)),
            (Agent::Cursor, Place::Project(top)) => (Kind::Servers, top.join(".cursor/mcp.json")),
            (Agent::Cursor, Place::User) => (Kind::Servers, homes.cursor.join("mcp.json")),
        };
        Some(AgentFile { kind, path, shared: agent == Agent::Codex })
    }

    fn usual(&self, agent: Agent) -> Vec<AgentFile> {
        let homes = &self.homes;
        let own = |kind, path| AgentFile { kind, path, shared: false };
        let shared = |kind, path| AgentFile { kind, path, shared: true };
        let skill = |folder: PathBuf| folder.join("skills/git-memory/SKILL.md");
        match (agent, &self.place) {
            (Agent::Claude, Place::Project(top)) => vec![
                own(Kind::ClaudeHooks, top.join(".claude/settings.json")),
                shared(Kind::Block, top.join("CLAUDE.md")),
                own(Kind::Skill, skill(top.join(".claude"))),
            ],
            (Agent::Claude, Place::User) => vec![
                own(Kind::ClaudeHooks, homes.claude.join("settings.json")),
                shared(Kind::Block, homes.claude.join("CLAUDE.md")),
                own(Kind::Skill, skill(homes.claude.clone())),
            ],
            // Codex heeds `notify` in the user's own settings alone.
            (Agent::Codex, Place::Project(top)) => vec![
                shared(Kind::Notify, homes.codex.join("config.toml")),
                shared(Kind::Block, top.join("AGENTS.md")),
                shared(Kind::Skill, skill(top.join(".agents"))),
            ],
            (Agent::Codex, Place::User) => vec![
                shared(Kind::Notify, homes.codex.join("config.toml")),
                shared(Kind::Block, homes.codex.join("AGENTS.md")),
                shared(Kind::Skill, skill(homes.home.join(".agents"))),
            ],
            (Agent::OpenCode, Place::Project(top)) => vec![
                own(Kind::Plugin, top.join(".opencode/plugins/git-memory.js")),
                shared(Kind::Block, read_by_opencode(top.join("AGENTS.md"), top.join("CLAUDE.md"))),
                shared(Kind::Skill, skill(top.join(".agents"))),
            ],
            (Agent::OpenCode, Place::User) => vec![
                own(Kind::Plugin, homes.opencode.join("plugins/git-memory.js")),
                shared(Kind::Block, read_by_opencode(homes.opencode.join("AGENTS.md"), homes.claude.join("CLAUDE.md"))),
                shared(Kind::Skill, skill(homes.home.join(".agents"))),
            ],
            (Agent::Cursor, Place::Project(top)) => vec![
                own(Kind::CursorHooks, top.join(".cursor/hooks.json")),
                own(Kind::Rule, top.join(".cursor/rules/git-memory.mdc")),
            ],
            // The user's own rules stand in Cursor's settings, which are no file.
            (Agent::Cursor, Place::User) => vec![own(Kind::CursorHooks, homes.cursor.join("hooks.json"))],
        }
    }
}

/// OpenCode's settings in a folder, under the name that they have there.
fn opencode_settings(folder: &Path) -> PathBuf {
    let commented = folder.join("opencode.jsonc");
    if commented.exists() { commented } else { folder.join("opencode.json") }
}

/// OpenCode reads CLAUDE.md only where there is no AGENTS.md: making one would take CLAUDE.md away from it.
fn read_by_opencode(agents: PathBuf, claude: PathBuf) -> PathBuf {
    let ours = |path: &Path| {
        std::fs::read_to_string(path).is_ok_and(|text| block::find(&text).is_ok_and(|found| found.is_some()))
    };
    if !agents.exists() && claude.exists() || !ours(&agents) && ours(&claude) { claude } else { agents }
}
