"""The host's tree that each pair starts from, and what a command changed in it."""
import hashlib
import os
import shutil
import stat
import subprocess

FILES = {
    "home/.ssh/id_rsa": "private\n",
    "home/.bashrc": "of the host\n",
    "home/sensitive-folder/notes": "kept\n",
    "home/w/README": "read me\n",
    "home/w/.env": "SECRET=1\n",
    "home/w/.bashrc": "of the workspace\n",
    "home/w/.mcp.json": "{}\n",
    "home/w/.vscode/tasks.json": "{}\n",
    "home/w/.claude/commands/run": "run\n",
    "home/w/.claude/notes": "mine\n",
    "home/w/src/main.c": "int main(void) { return 0; }\n",
    "home/w/src/.env": "SECRET=2\n",
    "home/w/secrets/key": "key\n",
    "home/w/config/production.json": "{}\n",
    "home/w/config/test.json": "{}\n",
    "home/w/certs/a.pem": "certificate\n",
    "home/w/build/out": "built\n",
    "home/w/[WIP]/draft": "draft\n",
    "home/other/file": "of another\n",
    "outside/file": "outside\n",
    "outside/dir/file": "outside\n",
}
LINKS = {
    "home/w/link": "../other/file",
    "home/w/link-dir": "../../outside",
    "home/w/to-key": "secrets/key",
}


def make(area):
    """Makes the tree below `area` anew; the workspace is a repository with one commit."""
    shutil.rmtree(area, ignore_errors=True)
    for name, text in FILES.items():
        path = os.path.join(area, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    for name, target in LINKS.items():
        os.symlink(target, os.path.join(area, name))
    workspace = os.path.join(area, "home/w")
    git = ["git", "-c", "user.name=u", "-c", "user.email=u@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["config", "user.name", "u"], ["config", "user.email", "u@example.org"],
                  ["add", "README"], ["commit", "-q", "-m", "first"]):
        subprocess.run(git + words, cwd=workspace, check=True, env={"PATH": os.environ["PATH"], "HOME": area})
    return workspace


def snapshot(area):
    """Path to kind, mode and content of everything below `area`, but for git's own objects and logs."""
    found = {}
    for directory, directories, files in os.walk(area):
        for name in directories + files:
            path = os.path.join(directory, name)
            short = os.path.relpath(path, area)
            if not any(part in short for part in (".git/objects", ".git/logs", ".git/index", ".git/COMMIT")):
                found[short] = describe(path)
    return found


def describe(path):
    status = os.lstat(path)
    text = ""
    if stat.S_ISLNK(status.st_mode):
        text = os.readlink(path)
    elif stat.S_ISREG(status.st_mode):
        with open(path, "rb") as file:
            text = hashlib.sha256(file.read()).hexdigest()
    return f"{stat.filemode(status.st_mode)} {text}"


def changes(before, after):
    """Sorted "+ made", "- removed" and "~ changed" names."""
    made = [f"+ {name}" for name in after if name not in before]
    gone = [f"- {name}" for name in before if name not in after]
    other = [f"~ {name}" for name in after if name in before and after[name] != before[name]]
    # A branch that moves has another hash in each run.
    return sorted(made + gone + other)
