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

}  // namespace
}  // namespace sandpipe::testing
