#include <sandpipe/explain.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

struct Try {
    ExplainedAct act;
    std::string target;  // relative to the workspace, or absolute
    std::string verb;    // how attack_act does it
};

constexpr auto kRead = ExplainedAct::read;
constexpr auto kWrite = ExplainedAct::write;
constexpr auto kExec = ExplainedAct::exec;

/// What explain says and what the kernel does, for every pair under every policy: nothing here would fail for
/// any other reason than the policy.
class Explain : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        host(
            "cp /bin/true w/prog; cp /bin/true w/dir/prog; cp /bin/true o/prog; printf '#!/bin/sh\\nexit "
            "0\\n' > w/script;"
            "chmod +x w/script; echo x > w/a.pem; echo x > w/dir/b.pem; echo x > w/.env; ln -s ../o/file "
            "w/out;"
            "ln -s dir w/link; ln -s file w/to-file; mkdir -p w/.vscode w/sub/.git/hooks; echo x > "
            "w/.vscode/s;"
            "echo x > w/sub/.git/config; echo x > w/.bashrc; mkdir 'w/[WIP]'; echo x > 'w/[WIP]/f'; ln -s "
            "prog w/run");
        ignore_below("w");
        ignore_below("o");
        ignore_below("c");
    }

    static std::vector<Try> tries() {
        std::vector<Try> all;
        for (const char* file : {"file",           "two",
                                 "dir/inner",      "dir/deep/last",
                                 "../o/file",      "../c/two",
                                 "a.pem",          "dir/b.pem",
                                 ".env",           "out",
                                 "link/inner",     "to-file",
                                 ".vscode/s",      "sub/.git/config",
                                 ".bashrc",        "/etc/hostname",
                                 "/dev/null",      "dir/../file",
                                 ".//dir/./inner", "[WIP]/f"}) {
            all.push_back({kRead, file, "read"});
            all.push_back({kWrite, file, "append"});
        }
        for (const char* directory :
             {".", "dir", "dir/deep", "../o", "../o/dir", "link/", "sub/.git/hooks", "/etc", "/tmp"})
            all.push_back({kRead, directory, "list"});
        for (const char* name : {"new", "dir/new", "dir/deep/new.pem", "new.pem", "dir/.env", "../o/new",
                                 ".zshrc", "sub/.git/hooks/new", ".vscode/new", "/tmp/new", "/dev/shm/new",
                                 "/etc/sandpipe-new", "link/new2", "[WIP]/new"})
            all.push_back({kWrite, name, "create"});
        for (const char* program :
             {"prog", "dir/prog", "../o/prog", "script", "run", "/bin/true", "/bin/sh", "/bin/bash"})
            all.push_back({kExec, program, "exec"});
        all.push_back({kRead, "/proc/self/status", "read"});
        all.push_back({kRead, "/proc/kcore", "read"});
        return all;
    }

    /// How many of the answers were compared, and allowed.
    std::pair<int, int> compare(const SandboxPolicy& policy) {
        Session session = open(policy);
        const Explainer explainer(policy, at("w"));
        const std::vector<Try> all = tries();
        std::vector<std::string> acts;
        std::vector<Explanation> answers;
        for (const Try& one : all) {
            answers.push_back(explainer.explain(one.act, one.target));
            acts.push_back(one.verb + " " + one.target);
        }
        const std::vector<std::string> results = act(session, "", acts);
        int allowed = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(answers[i].allowed, results[i] == "ok")
                << acts[i] << ": " << results[i] << ", but explained by \"" << answers[i].rule << "\"";
            EXPECT_FALSE(answers[i].rule.empty()) << acts[i];
            allowed += answers[i].allowed ? 1 : 0;
        }
        session.close();
        host(
            "cd w && rm -rf new dir/new dir/deep/new.pem new.pem dir/.env ../o/new .zshrc sub/.git/hooks/new "
            ".vscode/new "
            "link/new2 '[WIP]/new'");
        return {static_cast<int>(all.size()), allowed};
    }
};

SandboxPolicy made(std::vector<PathPattern> allow_write, std::vector<PathPattern> deny_read = {},
                   std::vector<PathPattern> allow_read = {}, std::vector<PathPattern> deny_write = {}) {
    SandboxPolicy policy;
    policy.filesystem.allow_write = std::move(allow_write);
    policy.filesystem.deny_read = std::move(deny_read);
    policy.filesystem.allow_read = std::move(allow_read);
    policy.filesystem.deny_write = std::move(deny_write);
    return policy;
}

SandboxPolicy executing(std::vector<PathPattern> programs) {
    SandboxPolicy policy = made({"."});
    policy.filesystem.restrict_execute = true;
    policy.filesystem.allow_execute = std::move(programs);
    // What tries each act.
    policy.filesystem.allow_execute.emplace_back(test_program("attack_act"));
    return policy;
}

TEST_F(Explain, SaysWhatTheKernelDoes) {
    SandboxPolicy lifted = made({"."});
    lifted.filesystem.mandatory_deny_except = {".vscode", ".bashrc"};
    lifted.filesystem.allow_git_config = true;
    SandboxPolicy plain;
    plain.filesystem.deny_read = {"file"};
    const std::vector<SandboxPolicy> policies{
        made({}),
        made({"."}),
        made({".", "../o"}, {"dir"}, {"dir/deep"}, {".env"}),
        made({"."}, {"**/*.pem", "out"}, {"dir/b.pem"}, {"**/.env", "[WIP]"}),
        made({"dir", "two"}, {"../o"}, {}, {"dir/inner"}),
        made({"."}, {".."}, {"."}, {"link"}),
        made({"."}, {"*/*"}, {"dir/deep/last"}, {"new*"}),
        lifted,
        executing({"/bin/true", "dir"}),
        executing({"prog", "script", "/bin/sh"}),
        executing({"*rog", "../o/**"}),
        executing({"script", "run"}),
        plain,
    };
    int compared = 0;
    int allowed = 0;
    for (std::size_t i = 0; i < policies.size(); ++i) {
        SCOPED_TRACE("policy " + std::to_string(i));
        const auto [all, yes] = compare(policies[i]);
        compared += all;
        allowed += yes;
    }
    std::printf("%d pairs compared, %d allowed\n", compared, allowed);
    EXPECT_GE(compared, 200);
    EXPECT_GT(allowed, compared / 4);
    EXPECT_LT(allowed, compared);
}

TEST_F(Explain, NamesTheRuleAndThePlace) {
    const SandboxPolicy policy = made({"."}, {"**/*.pem"}, {}, {".env"});
    const Explainer explainer(policy, at("w"));
    EXPECT_EQ(explainer.explain(kWrite, "link/../.env").rule, "denyWrite .env");
    EXPECT_EQ(explainer.explain(kWrite, "out").place, at("o/file"));
    EXPECT_EQ(explainer.explain(kWrite, "out").rule, "outside the writable roots: " + at("w"));
    EXPECT_EQ(explainer.explain(kRead, "dir/none.pem").rule, "denyRead **/*.pem");
    EXPECT_EQ(explainer.explain(kRead, "dir/b.pem").allowed, false);
    EXPECT_EQ(explain(policy, at("w"), kRead, "two").rule, "reads are allowed by default");
    EXPECT_FALSE(explainer.explain(ExplainedAct::connect, "/x").allowed);
    EXPECT_FALSE(explainer.explain(ExplainedAct::connect, "a.b:80").allowed);
    EXPECT_THROW((void)explainer.explain(ExplainedAct::connect, "a.b"), std::system_error);
    EXPECT_THROW((void)explainer.explain(ExplainedAct::connect, "https://a.b/"), std::system_error);
    EXPECT_THROW((void)explainer.explain(kRead, ""), std::system_error);
    seal();
}

}  // namespace
}  // namespace sandpipe::testing
