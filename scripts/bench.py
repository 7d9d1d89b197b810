"""Measures git-memory against git, and against itself, on data made here; see BENCHMARKS.md.

Every row is a ratio between two commands that ran in turns (A B A B ...) on the same machine at the same time, so
that a busy machine slows both. Medians count. `cpu` is user and system time of the commands and what they waited for.
"""

import argparse
import glob
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass, field

ROWS = {}


def row(name):
    """Registers a measurement under the name that --only takes."""

    def add(function):
        ROWS[name] = function
        return function

    return add


@dataclass
class Run:
    """What one process took: seconds, and the most memory in bytes."""

    wall: float
    cpu: float
    memory: int


@dataclass
class Line:
    """One line of the table. `target` is the ratio that may not be passed, None when there is nothing to reach."""

    what: str
    ours: str
    theirs: str
    ratio: float | None = None
    cpu: float | None = None
    target: float | None = None
    at_least: bool = False
    unit: str = "×"

    def met(self):
        """Whether the target is met; None without one."""
        if self.target is None or self.ratio is None:
            return None
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target

    def cells(self):
        """The cells of the table."""
        number = lambda value: "–" if value is None else f"{value:.2f} {self.unit}"
        wanted = "–" if self.target is None else f"{'≥' if self.at_least else '≤'} {self.target:g} {self.unit}"
        met = {None: "–", True: "yes", False: "**no**"}[self.met()]
        return [self.what, self.ours, self.theirs, number(self.ratio), number(self.cpu), wanted, met]


@dataclass
class Bench:
    """Where the data stands and what runs."""

    binary: str
    parser: str
    folder: str
    runs: int
    small: bool
    env: dict = field(default_factory=dict)

    def count(self, many):
        """How many of something: a hundredth with --small, to try the script out."""
        return max(many // 100, 10) if self.small else many

    def run(self, argv, cwd, env=None, check=True):
        """One process, timed from start to end. Its output goes nowhere."""
        env = {**self.env, **(env or {})}
        null = os.open(os.devnull, os.O_RDWR)
        here = os.getcwd()
        os.chdir(cwd)
        try:
            streams = [(os.POSIX_SPAWN_DUP2, null, stream) for stream in (0, 1, 2)]
            start = time.perf_counter()
            child = os.posix_spawnp(argv[0], argv, env, file_actions=streams)
            _, status, usage = os.wait4(child, 0)
            wall = time.perf_counter() - start
        finally:
            os.chdir(here)
            os.close(null)
        if check and os.waitstatus_to_exitcode(status) != 0:
            sys.exit(f"bench: {' '.join(argv)} in {cwd} ended with {os.waitstatus_to_exitcode(status)}")
        return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

    def git(self, cwd, *args, text=None):
        """Git's output; the bench ends when git fails."""
        done = subprocess.run(["git", *args], cwd=cwd, env=self.env, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: git {' '.join(args)} in {cwd}: {done.stderr.strip()}")
        return done.stdout

    def memory(self, cwd, *args, text=None, env=None):
        """Our program's output; the bench ends when it fails."""
        env = {**self.env, **(env or {})}
        done = subprocess.run([self.binary, *args], cwd=cwd, env=env, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: git-memory {' '.join(args)} in {cwd}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def wiki(self, name, *init):
        """A new repository with one commit and a wiki in it."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        self.git(folder, "init", "-q", "-b", "main")
        with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
            file.write("# A project\n")
        self.git(folder, "add", ".")
        self.git(folder, "commit", "-q", "-m", "Begin")
        self.memory(folder, "init", *(init or ["--no-hooks"]))
        return folder

    def turns(self, commands, runs=None):
        """Runs the commands in turns and gives the medians of each. A command is a function that gives a Run."""
        found = [[] for _ in commands]
        for number in range((runs or self.runs) + 1):
            for place, command in enumerate(commands):
                took = command()
                if number > 0:  # The first round warms caches up.
                    found[place].append(took)
        median = lambda runs, part: statistics.median(getattr(run, part) for run in runs)
        return [Run(median(runs, "wall"), median(runs, "cpu"), max(run.memory for run in runs)) for runs in found]


def ms(run):
    """Milliseconds, wall and cpu."""
    digits = 1 if run.wall < 1 else 0
    return f"{run.wall * 1e3:.{digits}f} ms (cpu {run.cpu * 1e3:.{digits}f})"


def against(what, ours, theirs, target, at_least=False):
    """A line of two runs: ours over theirs, or with `at_least` how many times faster ours is."""
    ratio = lambda a, b: (b / a if at_least else a / b) if a and b else None
    return Line(
        what, ms(ours), ms(theirs), ratio(ours.wall, theirs.wall), ratio(ours.cpu, theirs.cpu), target, at_least
    )


# Data


class Words:
    """Pages of made-up words, no two alike, the same in every run."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        part = lambda: self.random.choice("bdfgklmnprstvz") + self.random.choice("aeiou")
        self.all = sorted({"".join(part() for _ in range(self.random.randint(2, 4))) for _ in range(4000)})

    def some(self, count):
        """So many words."""
        return " ".join(self.random.choices(self.all, k=count))

    def candidate(self, number):
        """A proposal for a new page, as a line of a batch."""
        title = f"{self.some(3)} {number}".capitalize()
        body = "\n\n".join(f"{self.some(12).capitalize()}." for _ in range(6))
        return json.dumps(
            {
                "operation": "create",
                "path": f"notes/{self.some(1)}-{number:05}.md",
                "title": title,
                "rationale": f"The {self.some(4)} comes up again.",
                "body_markdown": f"# {title}\n\n{body}\n",
            }
        )


def stage(bench, repo, count):
    """Stages new pages through the program; gives the seconds it took."""
    words = Words(count)
    text = "\n".join(words.candidate(number) for number in range(count))
    start = time.perf_counter()
    bench.memory(repo, "proposal", "propose", "--batch", "-", text=text)
    took = time.perf_counter() - start
    staged = len(bench.git(repo, "for-each-ref", "refs/memory/pending").splitlines())
    if staged != count:
        sys.exit(f"bench: {staged} of {count} proposals were staged")
    return took


ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(milliseconds, number):
    """An event's id: its time, then the number."""
    value, text = (milliseconds << 80) | number, ""
    for _ in range(26):
        value, digit = divmod(value, 32)
        text = ALPHABET[digit] + text
    return text


def ledger(bench, repo, count):
    """Writes a ledger with so many events: half of proposals that were rejected, half of sessions."""
    begin = 1_767_225_600_000  # 2026-01-01, then a minute between events.
    tip = bench.git(repo, "rev-parse", "HEAD").strip()
    events = []

    def event(kind, **more):
        at = begin + len(events) * 60_000
        seconds = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at / 1000))
        who = "Bench <bench@example.org>"
        made = {"v": 1, "id": ulid(at, len(events)), "kind": kind, "at": seconds, "scope": "global", "actor": who}
        events.append({**made, **more})
        return events[-1]["id"]

    number = 0
    while len(events) < count:
        number += 1
        proposal, session = f"{number:016x}", f"session-{number}"
        what = {
            "lane": "review", "kind": "note", "operation": "create", "paths": [f"notes/n{number}.md"],
            "title": f"Note {number}", "confidence": 0.9, "base": tip, "tip": tip, "session": session,
        }
        event("captured", data={"session": session, "blob": tip, "observations": 20})
        event("released", data={"session": session, "blob": tip, "outcome": "reviewed"})
        staged = event("staged", proposal=proposal, data=what)
        event("rejected", proposal=proposal, after=staged, data={"reason": "not worth a page", "merit": True})
    stream = ["commit refs/memory/log\ncommitter Bench <bench@example.org> 1767225600 +0000\ndata 6\nevents\n"]
    for first in range(0, count, 100):
        segment = "\n".join(json.dumps(made) for made in events[first : min(first + 100, count)]) + "\n"
        day = events[first]["at"][:10].replace("-", "/")
        stream.append(f"M 100644 inline events/{day}/{events[first]['id']}.jsonl\ndata {len(segment)}\n{segment}\n")
    bench.git(repo, "update-ref", "-d", "refs/memory/log")
    bench.git(repo, "fast-import", "--quiet", text="".join(stream))


IDS = re.compile(r'"(uuid|parentUuid|leafUuid|sessionId|id|tool_use_id|messageId|requestId)":"')


def transcripts(folder, size):
    """A folder of transcripts of about `size` bytes: real ones over and over, each time with other identities."""
    corpus = os.environ.get("GIT_MEMORY_CORPUS")
    place = os.path.join(corpus, "transcripts/claude/**/*.jsonl") if corpus else "fixtures/sessions/*.jsonl"
    sources = []
    for path in sorted(glob.glob(place, recursive=True)):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if "/made/" not in path and (len(text) > 20_000 or not corpus):
            sources.append((os.path.basename(path), text.rstrip("\n") + "\n"))
    os.makedirs(folder)
    written = turn = 0
    while written < size:
        for name, text in sources:
            text = IDS.sub(lambda found: f"{found.group(0)}{turn:04}-", text).encode()
            with open(os.path.join(folder, f"{turn:04}-{name}"), "wb") as file:
                file.write(text)
            written += len(text)
        turn += 1
    return written


# Rows


@row("empty")
def empty(bench):
    """A command with nothing to do, against the smallest thing that git does."""
    repo = bench.wiki("empty")
    bench.memory(repo, "proposal", "list")
    rounds = max(bench.runs, 31)
    theirs = lambda: bench.run(["git", "rev-parse", "HEAD"], repo)
    listed = lambda: bench.run([bench.binary, "proposal", "list"], repo)
    hook = lambda: bench.run([bench.binary, "hook", "post-commit"], repo, {"GIT_MEMORY_HOOK": "0"})
    a, b, git = bench.turns([listed, hook, theirs], rounds)
    yield against("`proposal list`, none there / `git rev-parse HEAD`", a, git, 1.5)
    yield against("`hook post-commit`, switched off / `git rev-parse HEAD`", b, git, 1.5)


@row("hook")
def hook(bench):
    """What a hook of ours adds to a commit, against a hook that does nothing."""
    plain, exits, ours = bench.wiki("hook-none"), bench.wiki("hook-exit"), bench.wiki("hook-ours", "--hooks")
    script = os.path.join(exits, ".git/hooks/post-commit")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexit 0\n")
    os.chmod(script, 0o755)

    def commit(repo):
        took = bench.run(["git", "commit", "-q", "--allow-empty", "-m", "Work"], repo)
        time.sleep(0.25)  # What the hook left in the background is not part of the next commit.
        return took

    rounds = max(bench.runs, 21)
    none, theirs, mine = bench.turns([lambda: commit(plain), lambda: commit(exits), lambda: commit(ours)], rounds)
    yield against("`git commit` with our hooks / with an `exit 0` hook", mine, theirs, 1.3)
    added = lambda run: Run(max(run.wall - none.wall, 1e-5), max(run.cpu - none.cpu, 1e-5), 0)
    yield against("the same, only what the hook adds", added(mine), added(theirs), None)


@row("list")
def listing(bench):
    """A list of everything that is pending, against git's list of the same refs."""
    count = bench.count(10_000)
    repo = bench.wiki("list")
    took = stage(bench, repo, count)
    yield Line(f"staging {count} in one batch", f"{took:.1f} s", "–")
    ours = lambda: bench.run([bench.binary, "proposal", "list", "--porcelain"], repo)
    theirs = lambda: bench.run(["git", "for-each-ref", "--format=%(refname) %(subject)", "refs/memory/pending"], repo)

    def cold():
        shutil.rmtree(os.path.join(repo, ".git/memory/index"), ignore_errors=True)
        return ours()

    first, git = bench.turns([cold, theirs])
    a, git = bench.turns([ours, theirs])
    yield against(f"`proposal list --porcelain`, {count} pending, warm / `git for-each-ref` with subjects", a, git, 1.5)
    yield against("the same, without the cache", first, git, None)
    bench.git(repo, "pack-refs", "--all")
    a, git = bench.turns([ours, theirs])
    yield against("the same, warm, refs packed", a, git, 1.5)


@row("accept")
def accept(bench):
    """Accepting many at once, against as many merges."""
    count = bench.count(1_000)
    merges = (
        "for ref in $(git for-each-ref --format='%(refname)' refs/memory/pending); do"
        ' git merge -q --no-ff -m "Merge $ref" "$ref" || exit 1; done'
    )

    def fresh(template, then):
        copy = os.path.join(bench.folder, "accept-copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(template, copy, symlinks=True)
        bench.git(copy, "status")  # The copy's files have other inodes: let the index know.
        return then(copy)

    places = [("checked out", ["--no-hooks"]), ("not checked out", ["--no-hooks", "--branch", "wiki"])]
    templates = []
    for name, init in places:
        template = bench.wiki(f"accept-{name.replace(' ', '-')}", *init)
        stage(bench, template, count)
        templates.append(template)
    ours = lambda copy: bench.run([bench.binary, "proposal", "accept", "--all", "--yes"], copy)
    theirs = lambda copy: bench.run(["sh", "-c", merges], copy)
    here, away, git = bench.turns(
        [lambda: fresh(templates[0], ours), lambda: fresh(templates[1], ours), lambda: fresh(templates[0], theirs)]
    )
    yield against(f"accept {count} at once, branch checked out / {count} × `git merge --no-ff`", here, git, 20, True)
    yield against("the same, branch not checked out", away, git, 20, True)


@row("capture")
def capture(bench):
    """Capturing transcripts, against only parsing their lines."""
    data = os.path.join(bench.folder, "transcripts")
    size = transcripts(data, 100_000_000 if not bench.small else 5_000_000)
    repo = bench.wiki("capture")

    def ours():
        for ref in bench.git(repo, "for-each-ref", "--format=%(refname)", "refs/memory").splitlines():
            bench.git(repo, "update-ref", "-d", ref)
        shutil.rmtree(os.path.join(repo, ".git/memory"), ignore_errors=True)
        return bench.run([bench.binary, "capture", "--from", "claude", data], repo)

    a, parsed = bench.turns([ours, lambda: bench.run([bench.parser, "parse", data], repo)])
    what = f"`capture` of {size / 1e6:.0f} MB / parsing the same lines into `serde_json::Value`, speed"
    yield against(what, a, parsed, 0.5, True)
    again = lambda: bench.run([bench.binary, "capture", "--from", "claude", data], repo)
    b, parsed = bench.turns([again, lambda: bench.run([bench.parser, "parse", data], repo)])
    yield against("the same again, nothing new in it", b, parsed, None, True)
    first = sorted(os.listdir(data))[0]
    more = 0

    def grown():
        nonlocal more
        more += 1
        line = {
            "type": "user",
            "uuid": f"more-{more}",
            "sessionId": first.removesuffix(".jsonl"),
            "timestamp": "2026-03-01T10:00:00Z",
            "message": {"role": "user", "content": f"and once more, {more}"},
        }
        with open(os.path.join(data, first), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return again()

    c, parsed = bench.turns([grown, lambda: bench.run([bench.parser, "parse", data], repo)])
    yield against("the same again, one file grown by a line", c, parsed, None, True)
    most = a.memory / 1e6
    yield Line("most memory of `capture`", f"{most:.0f} MB", "–", most, None, 200, unit="MB")


@row("ledger")
def events(bench):
    """The state of a wiki with many events, against one with few."""
    few, many = 1_000, bench.count(100_000)
    small, large = bench.wiki("ledger-small"), bench.wiki("ledger-large")
    ledger(bench, small, few)
    ledger(bench, large, many)
    status = lambda repo: bench.run([bench.binary, "status"], repo)

    def cold(repo):
        shutil.rmtree(os.path.join(repo, ".git/memory/index"), ignore_errors=True)
        return status(repo)

    a, b = bench.turns([lambda: status(large), lambda: status(small)], max(bench.runs, 15))
    yield against(f"`status` with {many} events / with {few}, warm", a, b, 2)
    a, b = bench.turns([lambda: cold(large), lambda: cold(small)])
    yield against("the same, without the cache", a, b, None)


def pages(bench, folder, count):
    """So many pages below a folder: recorded ones where the corpus is at hand, else made-up ones; gives what they are."""
    corpus = os.environ.get("GIT_MEMORY_CORPUS")
    archive = corpus and os.path.join(corpus, "wikis/llm-wiki-large.full.tar.xz")
    if archive and os.path.exists(archive):
        with tarfile.open(archive) as tar:
            names = sorted(file.name for file in tar if file.isfile() and file.name.endswith(".md"))
        wanted = set(names[:: max(len(names) // count, 1)][:count])
        with tarfile.open(archive, "r|xz") as tar:  # In the archive's order: each step back would unpack it anew.
            for file in tar:
                if file.name in wanted:
                    tar.extract(file, folder, filter="data")
        return "recorded"
    words = Words(count)
    os.makedirs(os.path.join(folder, "notes"), exist_ok=True)
    for number in range(count):
        with open(os.path.join(folder, f"notes/n{number:05}.md"), "w", encoding="utf-8") as file:
            file.write(json.loads(words.candidate(number))["body_markdown"] * 3)
    return "made-up"


@row("search")
def search(bench):
    """Search, against git's search over the same files and git's reading of the same pages."""
    for count in (bench.count(10_000), bench.count(20_691)):
        repo = bench.wiki(f"search-{count}", "--no-hooks", "--root", "wiki")
        kind = pages(bench, os.path.join(repo, "wiki"), count)
        bench.git(repo, "add", "-A")
        bench.git(repo, "commit", "-q", "-m", "Pages")
        bench.git(repo, "gc", "-q")
        blobs = [line.split()[2] for line in bench.git(repo, "ls-tree", "-r", "HEAD", "wiki").splitlines()]
        wanted = os.path.join(bench.folder, f"blobs-{count}")
        with open(wanted, "w", encoding="utf-8") as file:
            file.write("\n".join(blobs) + "\n")
        index = os.path.join(repo, ".git/memory/index")
        word = "pipeline" if kind == "recorded" else Words(count).all[7]
        ours = lambda: bench.run([bench.binary, "search", "--no-record", word], repo)
        recording = lambda: bench.run([bench.binary, "search", word], repo)
        grep = lambda: bench.run(["git", "grep", "-c", word, "--", "wiki"], repo, check=False)
        read = lambda: bench.run(["sh", "-c", f"exec git cat-file --batch <{wanted}"], repo)

        def first():
            shutil.rmtree(index, ignore_errors=True)
            return ours()

        number = 0

        def changed():
            nonlocal number
            number += 1
            with open(os.path.join(repo, "wiki/changed.md"), "w", encoding="utf-8") as file:
                file.write(f"# Changed\n\nOnce more, {number}: {word}\n")
            bench.git(repo, "add", "wiki/changed.md")
            bench.git(repo, "commit", "-q", "-m", "Change")
            return ours()

        what = f"{len(blobs)} {kind} pages"
        a, b = bench.turns([first, read])
        yield against(f"first index of {what} / `git cat-file --batch` of the same blobs", a, b, 3)
        ours()
        a, b = bench.turns([ours, grep])
        yield against(f"`search` over {what}, warm / `git grep -c` over the same files", a, b, 0.2)
        c, b = bench.turns([recording, ours])
        yield against("the same, recorded as an episode / not recorded", c, b, None)
        c, a = bench.turns([changed, ours])
        yield against("`search` after one commit / warm", c, a, 2)
        start = lambda: bench.run([bench.binary, "session-start"], repo)
        c, a = bench.turns([start, ours])
        yield against(f"`session-start` over {what} / `search`, warm", c, a, 3)


@row("size")
def size(bench):
    """The program's size."""
    megabytes = os.path.getsize(bench.binary) / 1e6
    yield Line("release binary, stripped", f"{megabytes:.1f} MB", "–", megabytes, None, 15, unit="MB")


def environment(folder):
    """Nothing of the person's settings: their hooks, helpers and caches would be measured too."""
    home = os.path.join(folder, "home")
    os.makedirs(home)
    config = os.path.join(home, "gitconfig")
    with open(config, "w", encoding="utf-8") as file:
        file.write("[user]\n\tname = Bench\n\temail = bench@example.org\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
    keep = {key: os.environ[key] for key in ("PATH", "TMPDIR", "LANG") if key in os.environ}
    return {**keep, "HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1"}


def main():
    """Reads the options, measures, prints."""
    options = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    options.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    options.add_argument("--only", metavar="ROWS", help=f"some of {','.join(ROWS)}")
    options.add_argument("--runs", type=int, default=9, help="how many turns [default: 9]")
    options.add_argument("--small", action="store_true", help="a hundredth of the data, to try the script out")
    options.add_argument("--keep", action="store_true", help="leave the data there and say where it is")
    options.add_argument("--binary", default="target/release/git-memory", help="the program that is measured")
    options.add_argument("--parser", default="", help="the program that only parses transcripts")
    args = options.parse_args()
    wanted = args.only.split(",") if args.only else list(ROWS)
    unknown = [name for name in wanted if name not in ROWS]
    if unknown:
        options.error(f"no rows {', '.join(unknown)}; there are {', '.join(ROWS)}")
    folder = tempfile.mkdtemp(prefix="git-memory-bench-")
    binary, parser = os.path.abspath(args.binary), args.parser and os.path.abspath(args.parser)
    bench = Bench(binary, parser, folder, args.runs, args.small, environment(folder))
    missed = 0
    try:
        print("| what | ours | theirs | ratio | of cpu | target | met |")
        print("|---|---:|---:|---:|---:|---:|---|", flush=True)
        for name in wanted:
            for line in ROWS[name](bench):
                missed += line.met() is False
                print(f"| {' | '.join(line.cells())} |", flush=True)
    finally:
        if args.keep:
            print(f"the data is in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    load = os.getloadavg()[0]
    print(f"\n{os.cpu_count()} cores, load {load:.1f}, medians of {args.runs} turns or more", file=sys.stderr)
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
