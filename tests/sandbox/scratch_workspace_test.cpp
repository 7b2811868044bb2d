#include <sandpipe/error.hpp>
#include <sandpipe/fake_executor.hpp>
#include <sandpipe/local_executor.hpp>
#include <sandpipe/srt_enforcer.hpp>
#include <sandpipe/tool/scratch_workspace.hpp>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

#include "support/mentions.hpp"
#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;

class Scratch : public SandboxTest {
  protected:
    std::shared_ptr<BinaryExecutor> executor() { return local_executor(runtime()); }

    /// The Error's text, or "" if it is made.
    std::string refused(const BinaryExecutor& executor, Session& session, const std::string& base,
                        Errc expected = Errc::sandbox_policy_conflict) {
        try {
            const ScratchWorkspace made(executor, *session.enforcer(), base);
        } catch (const Error& error) {
            EXPECT_EQ(error.errc(), expected) << error.what();
            return error.text();
        }
        return {};
    }
};

TEST_F(Scratch, IsPrivateVisibleWritableAndGoesWithAllInIt) {
    Session session = open();
    std::string path;
    {
        const ScratchWorkspace scratch(*executor(), *session.enforcer());
        path = scratch.path();
        EXPECT_TRUE(path.starts_with(at("w/scratch-"))) << path;
        struct stat facts {};
        ASSERT_EQ(::stat(path.c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 07777U, 0700U);
        const Ran ran = session.sh("cd " + path +
                                   " && mkdir -p a/b && echo x > a/b/f && chmod 0 a/b/f a/b a && "
                                   "ln -s ../../o link && ln -s " +
                                   at("o") + " other && ls -A");
        EXPECT_EQ(ran.out, "a\nlink\nother\n") << ran.err;
    }
    EXPECT_FALSE(fs::exists(path));
    EXPECT_TRUE(fs::exists(at("o/file"))) << "links were not followed";
}

/// Commands may exchange a directory on the way for a link while the workspace is made.
TEST_F(Scratch, IsNeverMadeBehindALinkThatTakesThePlaceOfADirectory) {
    Session session = open();
    fs::create_directories(at("w/way/base"));
    fs::create_directories(at("o/base"));
    fs::create_directory_symlink(at("o"), at("w/link"));
    std::atomic<bool> over{false};
    std::thread exchange([&over, way = at("w/way"), link = at("w/link")] {
        while (!over) ::renameat2(AT_FDCWD, way.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    });
    const std::shared_ptr<BinaryExecutor> plain = executor();
    int made = 0;
    int astray = 0;
    for (int i = 0; i < rounds(5000); ++i) {
        try {
            const ScratchWorkspace scratch(*plain, *session.enforcer(), at("w/way/base"));
            ++made;
            astray += fs::is_empty(at("o/base")) ? 0 : 1;
        } catch (const Error&) {
            continue;  // it led out of the roots just then, or was exchanged in between
        }
    }
    over = true;
    exchange.join();
    EXPECT_GT(made, 0);
    EXPECT_EQ(astray, 0);
    for (const char* name : {"w/way", "w/link", "o/base"}) remove_tree(at(name));
}

TEST_F(Scratch, WhereTheSessionDoesNotGrantWritingNothingIsMade) {
    Session session = open();
    const std::string text = refused(*executor(), session, at("o"));
    EXPECT_TRUE(mentions(text, "\"" + at("o") + "\"")) << text;
    EXPECT_TRUE(mentions(text, "\"" + at("w") + "\"")) << text;
    EXPECT_EQ(refused(*executor(), session, at("w/dir")), "");
    // Writable inside, but not the host's.
    EXPECT_TRUE(mentions(refused(*executor(), session, "/tmp"), "\"/tmp\""));
}

TEST_F(Scratch, ADeniedPlaceBelowARootIsNamedWithItsRule) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_write = {"dir"};
    Session session = open(policy);
    const std::string text = refused(*executor(), session, at("w/dir/deep"));
    EXPECT_TRUE(mentions(text, "denies it by the rule \"denyWrite dir\"")) << text;
    EXPECT_EQ(refused(*executor(), session, at("w/empty")), "");
}

TEST_F(Scratch, AnExecutorElsewhereDoesNotSeeIt) {
    Session session = open();
    const FakeExecutor elsewhere;
    const std::string text = refused(elsewhere, session, at("w"));
    EXPECT_TRUE(mentions(text, "\"host\"")) << text;
    EXPECT_TRUE(mentions(text, "\"fake\"")) << text;
    EXPECT_TRUE(mentions(text, at("w"))) << text;
}

TEST_F(Scratch, ABaseMustBeADirectory) {
    Session session = open();
    EXPECT_TRUE(
        mentions(refused(*executor(), session, at("w/file"), Errc::invalid_sandbox_config), at("w/file")));
    EXPECT_TRUE(
        mentions(refused(*executor(), session, at("w/none"), Errc::invalid_sandbox_config), at("w/none")));
}

TEST_F(Scratch, IsFoundByWhereItWasMade) {
    Session session = open();
    ScratchWorkspace scratch(*executor(), *session.enforcer(), at("w/dir"));
    fs::rename(at("w/dir"), at("w/moved"));
    fs::create_directory(at("w/dir"));
    const std::string name = fs::path(scratch.path()).filename();
    EXPECT_TRUE(fs::exists(at("w/moved/" + name)));
    scratch.remove();
    EXPECT_FALSE(fs::exists(at("w/moved/" + name)));
    EXPECT_EQ(scratch.path(), "");
    scratch.remove();
    fs::remove(at("w/dir"));
    fs::rename(at("w/moved"), at("w/dir"));
}

TEST_F(Scratch, IsMovedWithItsDuty) {
    Session session = open();
    ScratchWorkspace first(*executor(), *session.enforcer());
    const std::string path = first.path();
    ScratchWorkspace second(std::move(first));
    EXPECT_EQ(second.path(), path);
    ScratchWorkspace third(*executor(), *session.enforcer());
    const std::string gone = third.path();
    third = std::move(second);
    EXPECT_FALSE(fs::exists(gone));
    EXPECT_TRUE(fs::exists(path));
}

}  // namespace
}  // namespace sandpipe::testing
