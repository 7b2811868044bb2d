#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "support/sandbox_fixture.hpp"

namespace sandpipe::testing {
namespace {

namespace fs = std::filesystem;

/// Does something again and again, as a program of the host's that knows nothing of a session.
class Meanwhile {
  public:
    explicit Meanwhile(std::function<void()> work)
        : thread_([this, work = std::move(work)] {
              while (!over_) work();
          }) {}
    ~Meanwhile() {
        over_ = true;
        thread_.join();
    }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

  private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

void pause() { ::usleep(1000); }

/// What is denied is replaced while sessions start: none may fail for that.
class ReplacedPlaces : public SandboxTest {
  protected:
    void SetUp() override {
        SandboxTest::SetUp();
        ignore_below("w");
    }

    void start_sessions(const SandboxPolicy& policy) {
        for (int i = 0; i < rounds(15); ++i) {
            Session session = open(policy);
            EXPECT_EQ(session.sh("true").code(), 0);
            session.close();
        }
    }
    /// Directories a to f, in each of which `.env` and `other` exchange their names; `other` is a link to `target`,
    /// if any.
    std::function<void()> by_exchange(const std::string& target) {
        host("cd w; echo secret > hidden; for d in a b c d e f; do mkdir $d; echo secret > $d/.env; " +
             (target.empty() ? std::string("mkdir $d/other") : "ln -s " + target + " $d/other") + "; done");
        return [tree = at("w/")] {
            for (const char* name : {"a", "b", "c", "d", "e", "f"})
                exchange(tree + name + "/.env", tree + name + "/other");
        };
    }
    static void exchange(const std::string& one, const std::string& other) {
        ASSERT_EQ(::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE), 0);
    }
    /// `name` is a link to what it was for a moment.
    std::function<void()> by_link(const std::string& name) {
        return [name = at(name)] {
            const std::string kept = name + ".kept";
            fs::rename(name, kept);
            pause();
            fs::create_symlink(fs::path(kept).filename(), name);
            pause();
            fs::remove(name);
            fs::rename(kept, name);
            pause();
        };
    }
    std::function<void()> by_file(const std::string& name) {
        return [name = at(name)] {
            fs::remove_all(name);
            write_file(name, "x");
            pause();
            fs::remove(name);
            fs::create_directory(name);
            pause();
        };
    }
};

TEST_F(ReplacedPlaces, ADirectoryThatIsNotRead) {
    host("mkdir w/d; echo k > w/d/k");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"d"};
    seal();
    const Meanwhile other(by_link("w/d"));
    start_sessions(policy);
}

TEST_F(ReplacedPlaces, WhatIsInADirectory) {
    host("mkdir w/d; echo k > w/d/k");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"d/k"};
    seal();
    const Meanwhile other(by_link("w/d"));
    start_sessions(policy);
}

TEST_F(ReplacedPlaces, NamesThatAreAlwaysDenied) {
    host("mkdir -p w/.vscode; git init -q w");
    seal();
    const Meanwhile other(by_link("w/.git/hooks"));
    const Meanwhile another(by_link("w/.vscode"));
    start_sessions(writable());
}

TEST_F(ReplacedPlaces, ADirectoryThatBecomesAFile) {
    host("mkdir w/d w/e");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"d/k"};
    policy.filesystem.deny_write = {"e"};
    seal();
    const Meanwhile other(by_file("w/d"));
    const Meanwhile another(by_file("w/e"));
    start_sessions(policy);
}

TEST_F(ReplacedPlaces, MatchesOfAGlobThatAreLinksAtTimes) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"**/.env"};
    const std::function<void()> exchange_all = by_exchange("../hidden");
    seal();
    {
        const Meanwhile other(exchange_all);
        start_sessions(policy);
    }
    const std::string readable = "cat a/.env; cat hidden; cat a/other; cat file";
    if (!std::filesystem::is_symlink(at("w/a/.env"))) exchange_all();
    Session as_link = open(policy);
    EXPECT_EQ(as_link.sh(readable).out, "secret\ncontent of /file\n");  // only what is called `other` now
    as_link.close();
    exchange_all();
    Session as_file = open(policy);
    EXPECT_EQ(as_file.sh(readable).out,
              "secret\nsecret\ncontent of /file\n");  // `hidden`, by its name and by `other`
    as_file.close();
    EXPECT_EQ(open().sh(readable).out, "secret\nsecret\nsecret\ncontent of /file\n");
}

TEST_F(ReplacedPlaces, NamedPlacesThatAreLinksAtTimes) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"a/.env", "b/.env"};
    policy.filesystem.deny_write = {"c/.env", "d/.env"};
    const std::function<void()> exchange_all = by_exchange("..");
    seal();
    const Meanwhile other(exchange_all);
    start_sessions(policy);
}

TEST_F(ReplacedPlaces, FilesThatAreDirectoriesAtTimes) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"[ab]/.env", "d/.env"};
    policy.filesystem.deny_write = {"**/.env"};
    const std::function<void()> exchange_all = by_exchange("");
    seal();
    const Meanwhile other(exchange_all);
    start_sessions(policy);
}

TEST_F(ReplacedPlaces, DirectoriesOnTheWayToWhatIsDenied) {
    host(
        "cd w; for d in a b; do mkdir -p $d/.vscode $d/s; echo k > $d/.env; git init -q $d; done;"
        "ln -s ../w/b l; mkdir n; ln -s / n/root");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"**/.env", "b/s"};
    policy.filesystem.deny_write = {"a/s"};
    seal();
    const Meanwhile other([tree = at("w/")] {
        exchange(tree + "a", tree + "l");
        exchange(tree + "n/root", tree + "b");
    });
    start_sessions(policy);
}

/// What is always called by a denied name, though never by the same for long, is never read.
TEST_F(ReplacedPlaces, WhatIsRenamedAmongDeniedNamesIsNeverRead) {
    host("mkdir w/d; echo secret > w/d/.env");
    const std::string read = "for i in 1 2 3 4 5 6 7 8 9; do cat d/.env d/.env.kept; done 2>/dev/null; true";
    EXPECT_NE(open().sh(read).out.find("secret"), std::string::npos);
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"**/.env*"};
    const Meanwhile other([tree = at("w/d/")] {
        fs::rename(tree + ".env", tree + ".env.kept");
        fs::create_symlink(".env.kept", tree + ".env");
        fs::rename(tree + ".env.kept", tree + ".env");
    });
    for (int i = 0; i < rounds(15); ++i) {
        Session session = open(policy);
        EXPECT_EQ(session.sh(read).out, "");
        session.close();
    }
}

TEST_F(ReplacedPlaces, WhatADenyingLinkLeadsToIsNotTakenFromTheSession) {
    host("cd w; ln -s . here; ln -s .. up");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"here"};
    policy.filesystem.deny_write = {"up"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("cat file; echo x > made; rm here; rm up").out, "content of /file\n");
    EXPECT_TRUE(fs::is_symlink(at("w/here")) && fs::is_symlink(at("w/up")) && fs::exists(at("w/made")));
    EXPECT_EQ(session.warnings().size(), 2U);
    session.close();
    // What is granted again below it is not taken away, so this is meant.
    policy.filesystem.deny_read = {"up"};
    policy.filesystem.deny_write = {};
    policy.filesystem.allow_read = {"."};
    EXPECT_EQ(open(policy).sh("cat file; cat ../o/file").out, "content of /file\n");
}

TEST_F(ReplacedPlaces, NorAreThePrograms) {
    host("cd w; mkdir a b; ln -s /usr a/.env; ln -s /bin/sh b/.env; ln -s ../../o/file dir/.env; ln -s /usr/lib libs");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"**/.env", "libs"};
    Session session = open(policy);
    EXPECT_EQ(session.sh("cat file; cat ../o/file; rm a/.env b/.env libs").out, "content of /file\n");
    EXPECT_TRUE(fs::is_symlink(at("w/a/.env")) && fs::is_symlink(at("w/b/.env")) && fs::is_symlink(at("w/libs")));
    EXPECT_EQ(session.warnings().size(), 3U);
    session.close();
    host("cd w; for i in $(seq 30); do mkdir l$i; ln -s /usr l$i/.env; done");
    EXPECT_EQ(open(policy).warnings().size(), 12U);
    // Meant by name.
    policy.filesystem.deny_read = {"/usr/bin/id"};
    EXPECT_NE(open(policy).sh("id").code(), 0);
}

TEST_F(ReplacedPlaces, WhatIsGrantedInADeniedPlace) {
    host("cd w; for d in a b c d; do mkdir $d; echo x > $d/pub; ln -s ../file $d/other; done");
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"a", "b", "c", "d"};
    policy.filesystem.allow_read = {"a/pub", "b/pub", "c/pub", "d/pub"};
    seal();
    const Meanwhile other([tree = at("w/")] {
        for (const char* name : {"a", "b", "c", "d"}) exchange(tree + name + "/pub", tree + name + "/other");
    });
    start_sessions(policy);
}

TEST_F(ReplacedPlaces, ALinkThatLeadsToProgramsAtTimes) {
    SandboxPolicy policy = writable();
    policy.filesystem.deny_read = {"**/.env", "a/.env"};
    const std::function<void()> exchange_all = by_exchange("/usr");
    seal();
    const Meanwhile other(exchange_all);
    start_sessions(policy);
}

}  // namespace
}  // namespace sandpipe::testing
