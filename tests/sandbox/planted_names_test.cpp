#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

// Makes ROUND's tree in `w`. Never acts through a link: these lead out of it.
constexpr const char* kPlant = R"(
import os, random, socket, sys
R = random.Random(int(sys.argv[1]))
os.chdir('w')
NAMES = ['.git', '.git', 'hooks', 'config', 'modules', 'worktrees', 'HEAD', 'objects', 'refs', '.vscode', '.idea', '.claude',
         'commands', 'agents', '.mcp.json', '.gitconfig', '.gitmodules', '.bashrc', 'node_modules', 'a', 'b', 'info',
         'commondir', 'gitdir', '.zshrc', 'w\n', 'n' * 255]
TARGETS = ['.', '..', '../..', '/', '/proc', '/proc/self', '/dev', '/dev/shm', '/tmp', '/usr', '/etc', '../a', 'b', 'nowhere',
           '../.git', '../../.git/modules', '../../a', '/nowhere/x', 'x' * 300, 'a/b/info', os.getcwd()]
TEXTS = [b'', b'gitdir: ../..', b'gitdir: /', b'[core]\n', b'ref: x', b'/\0', b'gitdir: a/.git/worktrees/b\n']

def leads_elsewhere(path):
    here = os.path.join(os.getcwd(), path)
    return os.path.realpath(here) != here

def act(path, kind):
    if os.path.lexists(path):
        if kind == 9 and not leads_elsewhere(path) and os.path.isdir(path): os.chmod(path, R.choice([0, 0o100, 0o400, 0o755]))
        return
    if kind < 3: return os.makedirs(path)
    if kind < 6: return os.symlink(R.choice(TARGETS), path)
    if kind == 6: return os.mkfifo(path)
    if kind == 7: return socket.socket(socket.AF_UNIX).bind(path)
    with open(path, 'xb') as file: file.write(R.choice(TEXTS))

for _ in range(R.choice([20, 60, 120])):
    path, kind = '/'.join(R.choice(NAMES) for _ in range(R.randint(1, 4))), R.randint(0, 9)
    if leads_elsewhere(path) and not os.path.lexists(path): continue
    try: act(path, kind)
    except OSError: pass
)";

/// Trees of links, loops and things of all kinds under the names that sessions look for: whatever a command leaves, the
/// next session starts.
class PlantedNames : public SandboxTest {};

TEST_F(PlantedNames, NoneKeepsASessionFromStarting) {
    write_file(at("plant.py"), kPlant);
    ignore_below("w");
    SandboxPolicy policies[] = {writable(), writable(), writable()};
    policies[1].filesystem.deny_read = {"a/b/info"};
    policies[1].filesystem.deny_write = {"a/b", "**/config"};
    policies[2].filesystem.allow_git_worktree = true;
    policies[2].filesystem.allow_git_init = true;
    for (int round = 0; round < rounds(30); ++round) {
        host("chmod -R u+rwx w; rm -rf w; mkdir w; python3 -I -S plant.py " + std::to_string(round));
        for (const SandboxPolicy& policy : policies) ASSERT_EQ(refusal(policy), "") << "round " << round;
        Session session = open(policies[0]);
        EXPECT_EQ(session.sh("true").code(), 0) << "round " << round;
        session.close();
    }
    host("chmod -R u+rwx w; rm -rf w; mkdir w");
}

}  // namespace
}  // namespace sandpipe::testing
