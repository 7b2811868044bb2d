"""What is compared: settings files in the shapes of the README of @anthropic-ai/sandbox-runtime, and commands under
each. `ours` is what sandpipe answers, "ok" (exit status 0) or "refused". Where the two differ, `why` says so."""
from dataclasses import dataclass

NO_NETWORK = {"allowedDomains": [], "deniedDomains": []}


def files(allow_write=(), deny_read=(), deny_write=(), **more):
    return {"denyRead": list(deny_read), "allowWrite": list(allow_write), "denyWrite": list(deny_write), **more}


SETTINGS = {
    # "Complete Configuration Example"
    "complete": {
        "network": {
            "allowedDomains": ["example.org", "*.example.org", "lfs.example.org"],
            "deniedDomains": ["bad.example.org"],
            "allowUnixSockets": ["/var/run/docker.sock"],
            "allowLocalBinding": False,
        },
        "filesystem": files([".", "src/", "test/", "/tmp"], ["~/.ssh"], [".env", "config/production.json"], allowRead=[]),
        "ignoreViolations": {"*": ["/usr/bin", "/System"], "git push": ["/usr/bin/nc"]},
        "enableWeakerNestedSandbox": False,
        "enableWeakerNetworkIsolation": False,
        "allowAppleEvents": False,
    },
    # "Restrict to specific directories"
    "restrict": {
        "network": NO_NETWORK,
        "filesystem": files([".", "src/", "test/"], ["~/.ssh"], [".env", "secrets/"]),
    },
    # "Sandboxing MCP Servers"
    "server": {"filesystem": files(["."], [], ["~/sensitive-folder"]), "network": NO_NETWORK},
    # "Deny read to all of /home, but re-allow the current directory"
    "home": {"network": NO_NETWORK, "filesystem": files(["."], ["~"], [], allowRead=["."])},
    # "Deny read to every build/ directory under the current directory", with a deny within what is re-allowed
    "globs": {"network": NO_NETWORK, "filesystem": files(["."], ["**/build/**", "**/*.pem"], [])},
    "secrets": {"network": NO_NETWORK, "filesystem": files(["."], ["~", "./secrets"], [], allowRead=["."])},
    "nothing": {"network": NO_NETWORK, "filesystem": files()},
    "git config": {"network": NO_NETWORK, "filesystem": files(["."], allowGitConfig=True)},
    "subdirectory": {"network": NO_NETWORK, "filesystem": files(["src"], ["[WIP]"], [])},
}


@dataclass
class Pair:
    settings: str
    command: str
    ours: str
    why: str = ""


EMPTY = "srt shows an empty directory in the place of one that is denied, or one with nothing but what is allowed again; here opening it is EACCES"
LATER = "srt expands globs when the command starts, so what appears later is not covered; here a name that matches cannot be made"
PATTERN = "this version of srt takes brackets for a pattern only; here a name that exists as it is written is meant too"
NO_TMP = "srt points TMPDIR to a directory of the host that nobody may have made yet; here it is the session's own"
NAMESPACES = "this version of srt lets commands make namespaces, in which root may mount; here nobody can"
SOCKETS = "srt allows no UNIX sockets at all; here those that a command makes for itself work"

PAIRS = [
    Pair("complete", "cat README", "ok"),
    Pair("complete", "echo x > new && cat new", "ok"),
    Pair("complete", "echo x >> src/main.c", "ok"),
    Pair("complete", "echo x >> .env", "refused"),
    Pair("complete", "rm .env", "refused"),
    Pair("complete", "mv .env env", "refused"),
    Pair("complete", "echo x > config/production.json", "refused"),
    Pair("complete", "echo x > config/test.json", "ok"),
    Pair("complete", "mv config configuration", "refused"),
    Pair("complete", "cat ~/.ssh/id_rsa", "refused"),
    Pair("complete", "ls ~/.ssh", "refused", EMPTY),
    Pair("complete", "mkdir test", "ok"),
    Pair("complete", "echo x > {area}/outside/file", "refused"),
    Pair("complete", "echo x > link", "refused"),
    Pair("complete", "ln {area}/outside/file hard", "refused"),
    Pair("complete", "echo x > /etc/sandbox-test", "refused"),
    Pair("complete", "curl -sS -o /dev/null -f http://bad.example.org/", "refused"),
    Pair("complete", "curl -sS -o /dev/null -f http://example.net/", "refused"),
    Pair("restrict", "cat secrets/key", "ok"),
    Pair("restrict", "echo x > secrets/new", "refused"),
    Pair("restrict", "rm secrets/key", "refused"),
    Pair("restrict", "echo x > to-key", "refused"),
    Pair("restrict", "mv secrets gone", "refused"),
    Pair("restrict", "echo x > src/.env", "ok"),
    Pair("restrict", "echo x > .mcp.json", "refused"),
    Pair("restrict", "echo x > .vscode/tasks.json", "refused"),
    Pair("restrict", "echo x > .claude/commands/run", "refused"),
    Pair("restrict", "echo x > .claude/notes", "ok"),
    Pair("restrict", "echo x > .zshrc", "refused"),
    Pair("restrict", "rm .bashrc", "refused"),
    Pair("server", "echo x > ~/sensitive-folder/notes", "refused"),
    Pair("server", "cat ~/sensitive-folder/notes", "ok"),
    Pair("server", "git commit -q --allow-empty -m second", "ok"),
    Pair("server", "echo x > .git/hooks/pre-commit", "refused"),
    Pair("server", "git config core.hooksPath /x", "refused"),
    Pair("server", "git checkout -q -b next", "ok"),
    Pair("git config", "git config a.b c && git config a.b", "ok"),
    Pair("git config", "echo x > .git/hooks/pre-commit", "refused"),
    Pair("home", "cat README && echo x > new", "ok"),
    Pair("home", "cat ../other/file", "refused"),
    Pair("home", "cat link", "refused"),
    Pair("home", "ls ..", "refused", EMPTY),
    Pair("home", "cat ~/.bashrc", "refused"),
    Pair("home", "pwd && cat src/main.c", "ok"),
    Pair("secrets", "cat README", "ok"),
    Pair("secrets", "cat secrets/key", "refused"),
    Pair("secrets", "cat to-key", "refused"),
    Pair("globs", "cat certs/a.pem", "refused"),
    Pair("globs", "cat build/out", "refused"),
    Pair("globs", "echo x > certs/new.pem", "refused", LATER),
    Pair("globs", "cat README src/main.c", "ok"),
    Pair("nothing", "cat README ../other/file", "ok"),
    Pair("nothing", "echo x > new", "refused"),
    Pair("nothing", "echo x > $TMPDIR/new && cat $TMPDIR/new", "ok", NO_TMP),
    Pair("nothing", "echo x > /dev/null; echo x > /dev/shm/new", "ok"),
    Pair("nothing", "unshare -Ur true", "refused", NAMESPACES),
    Pair("nothing", "mount -t tmpfs none {area}/outside", "refused", NAMESPACES),
    Pair("nothing", "curl -sS -o /dev/null --noproxy '*' http://192.0.2.1/", "refused"),
    Pair("nothing", "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'", "ok", SOCKETS),
    Pair("nothing", "test -d /proc/{pid}", "refused"),
    Pair("subdirectory", "echo x > src/new", "ok"),
    Pair("subdirectory", "echo x > new", "refused"),
    Pair("subdirectory", "cat '[WIP]/draft'", "refused", PATTERN),
]
