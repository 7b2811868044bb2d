#include <sys/wait.h>
#include <nlohmann/json.hpp>
#include <sandpipe/explain.hpp>

#include <cstdio>
#include <cstdlib>
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
        // Links that stand in denied places, in chains, and without end.
        host(
            "ln -s ../../o/file w/dir/lo; ln -s dir/lo w/chain; ln -s dir/../file w/through; ln -s loop w/loop;"
            "ln -s none w/dangling; ln -s ../deep w/dir/deep/around; ln -s ../o w/away; mkdir o/prog.d;"
            "cp /bin/true o/prog.d/fit; ln -s ../prog w/dir/up-prog; printf '#!dir/prog\\n' > w/by-prog; chmod +x "
            "w/by-prog");
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
             {"./prog", "dir/prog", "../o/prog", "./script", "./run", "/bin/true", "/bin/sh", "/bin/bash"})
            all.push_back({kExec, program, "exec"});
        for (const std::string& walk : walks()) {
            all.push_back({kRead, walk, "read"});
            all.push_back({kWrite, walk, "append"});
        }
        for (const char* program : {"dir/../prog", "dir/deep/../../prog", "dir/up-prog", "./by-prog", "../o/../w/prog",
                                    "away/prog", "away/../o/prog", "/proc/self/root/bin/true", "/proc/self/cwd/prog"})
            all.push_back({kExec, program, "exec"});
        all.push_back({kRead, "/proc/self/status", "read"});
        all.push_back({kRead, "/proc/kcore", "read"});
        return all;
    }

    /// Every directory and link on a way counts, not only its end.
    static std::vector<std::string> walks() {
        return {"dir/../file",
                "dir/./../two",
                "dir//deep/..//../file",
                "dir/deep/../inner",
                "../o/dir/../file",
                "../o/../w/file",
                "../w/dir/../../o/file",
                "dir/lo",
                "chain",
                "through",
                "dir/deep/around/last",
                "away/file",
                "away/../w/two",
                "away/dir/inner",
                "link/../file",
                "link/deep/../inner",
                "link/lo",
                "sub/../.env",
                ".vscode/../file",
                "/proc/self/cwd/file",
                "/proc/self/cwd/dir/../file",
                "/proc/self/cwd/../o/file",
                "/proc/thread-self/cwd/chain",
                "/proc/self/root/etc/hostname",
                "/proc/self/root/dev/null",
                "/tmp/../etc/hostname",
                "/dev/shm/../../etc/hostname",
                "/proc/../etc/hostname",
                "/dev/../dev//null",
                "/proc/self/../../dev/null"};
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

// What leads nowhere fails whatever the policy says, and so proves nothing; but nothing that is denied may work.
TEST_F(Explain, NothingThatItDeniesWorks) {
    const std::vector<SandboxPolicy> policies{made({"."}, {"dir"}), made({"."}, {".."}, {"."}),
                                              made({"dir"}, {"**/*.pem", "../o"})};
    const std::vector<std::string> names{"none/../file",
                                         "loop",
                                         "loop/../file",
                                         "dangling",
                                         "file/../two",
                                         "dir/none/../inner",
                                         "/proc/1/root/etc/hostname",
                                         "/proc/1/cwd",
                                         "/proc/1/environ",
                                         "/proc/1/task/1/root/dev/null",
                                         "/proc/cmdline",
                                         "/proc/bus/../version",
                                         "/sys/firmware/..",
                                         "/dev/mem",
                                         "/dev/none/../null"};
    for (const SandboxPolicy& policy : policies) {
        Session session = open(policy);
        const Explainer explainer(policy, at("w"));
        std::vector<std::string> acts;
        for (const std::string& name : names) acts.push_back("read " + name);
        const std::vector<std::string> results = act(session, "", acts);
        for (std::size_t i = 0; i < names.size(); ++i) {
            const Explanation answer = explainer.explain(kRead, names[i]);
            const bool leads_nowhere = results[i] == "ENOENT" || results[i] == "ENOTDIR" || results[i] == "ELOOP";
            EXPECT_TRUE(results[i] == "ok" ? answer.allowed : !answer.allowed || leads_nowhere)
                << acts[i] << ": " << results[i] << ", but explained by " << answer.rule;
        }
    }
}

TEST_F(Explain, ABareProgramIsLookedForInPath) {
    const auto with_path = [&](const std::string& path, const SandboxPolicy& policy, const std::string& program) {
        const std::string before = std::getenv("PATH");
        ::setenv("PATH", path.c_str(), 1);
        const Explanation answer = Explainer(policy, at("w")).explain(kExec, program);
        ::setenv("PATH", before.c_str(), 1);
        Session session = open(policy);
        BinaryInvocation asked = command(program).env(Environment::names({}).set("PATH", path));
        const Ran ran = session.run(asked);
        EXPECT_EQ(answer.allowed, ran.code() == 0) << program << " in " << path << ": " << answer.rule;
        return answer;
    };
    host("cp /bin/true w/dir/fit; printf 'x' > w/empty/fit; mkdir w/sub/fit");
    seal();
    const SandboxPolicy denied = made({"."}, {"../o"});
    EXPECT_EQ(with_path(at("o/prog.d") + ":" + at("w/dir"), denied, "fit").place, at("w/dir/fit"));
    EXPECT_EQ(with_path(at("w/empty") + ":" + at("w/sub") + ":dir", denied, "fit").place, at("w/dir/fit"));
    EXPECT_EQ(with_path(at("o/prog.d"), denied, "fit").rule, "denyRead ../o");
    EXPECT_EQ(with_path("/usr/bin:/bin", denied, "fit").rule, "no such program in PATH");
    EXPECT_EQ(with_path("/usr/bin:/bin", executing({"/bin/true"}), "true").rule, "allowExecute /bin/true");
    EXPECT_EQ(with_path("/usr/bin:/bin", executing({"dir"}), "true").rule, "allowExecute");
    // As a path it is another question.
    EXPECT_EQ(Explainer(denied, at("w")).explain(kExec, "./fit").place, at("w/fit"));
}

TEST_F(Explain, WithJsonEveryAnswerIsOneLine) {
    const auto explain = [&](const std::string& arguments) {
        const std::string line = "cd '" + at("w") + "' && '" + test_program("sandpipe") + "' explain --json " +
                                 arguments + " > '" + at("answer") + "' 2> '" + at("words") + "'";
        return WEXITSTATUS(std::system(line.c_str()));
    };
    seal();
    ignore_below("answer");
    ignore_below("words");
    EXPECT_EQ(explain("read file"), 0);
    EXPECT_EQ(nlohmann::json::parse(read_file(at("answer")))["allowed"], true);
    EXPECT_EQ(explain("write /etc/x"), 1);
    EXPECT_EQ(nlohmann::json::parse(read_file(at("answer")))["allowed"], false);
    for (const char* wrong :
         {"--nonsense read x", "chmod x", "read", "read ''", "connect a.b", "--allow-write /none read x",
          "--settings /none read x", "--workspace /none read x", "read file ''"}) {
        EXPECT_EQ(explain(wrong), 125) << wrong;
        const auto line = nlohmann::json::parse(read_file(at("answer")));
        EXPECT_EQ(line["error"], "E_INVALID_SANDBOX_CONFIG") << wrong;
        EXPECT_FALSE(line["hint"].get<std::string>().empty()) << wrong;
        EXPECT_EQ(read_file(at("words")), "") << wrong;
    }
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
