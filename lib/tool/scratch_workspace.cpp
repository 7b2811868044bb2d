#include <sandpipe/end_status.hpp>
#include <sandpipe/error.hpp>
#include <sandpipe/tool/scratch_workspace.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "process/session.hpp"
#include "remove_tree.hpp"
#include "sys/open_without_links.hpp"
#include "wire/access_rules.hpp"

namespace sandpipe {
namespace {

std::shared_ptr<detail::Session> session_of(const SandboxEnforcer& enforcer) {
    auto session = enforcer.shell("").fields().session;
    if (!session)
        throw Error(Errc::invalid_sandbox_config,
                    "a scratch workspace needs a session: this enforcer does not say which it has");
    return session;
}

std::string real_directory(const std::string& base) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(base, error);
    if (!error && std::filesystem::is_directory(real, error)) return real.string();
    throw Error(Errc::invalid_sandbox_config, "the base of a scratch workspace, \"" + base +
                                                  "\", is no directory" +
                                                  (error ? ": " + error.message() : ""));
}

// The directory is made by this process, in its own domain, and a session of this machine sees the same
// paths.
void check_domain(const BinaryExecutor& executor, const std::string& directory) {
    const PathDomain here;
    if (executor.path_domain() == here) return;
    throw Error(Errc::sandbox_policy_conflict,
                "the scratch workspace below \"" + directory + "\" is in the path domain \"" + here.id +
                    "\"; the executor runs in \"" + executor.path_domain().id + "\" and does not see it");
}

void check_granted(const detail::Session& session, const std::string& directory) {
    const std::vector<std::string>& roots = session.writable_roots();
    const auto grants = [&](const std::string& root) { return wire::holds(root, directory); };
    const wire::Verdict verdict = session.write_verdict(directory);
    // The session's own /tmp can be written too, but it is not the host's.
    if (verdict.allowed && std::any_of(roots.begin(), roots.end(), grants)) return;
    std::string listed;
    for (const std::string& root : roots) listed += (listed.empty() ? "\"" : ", \"") + root + "\"";
    throw Error(
        Errc::sandbox_policy_conflict,
        "the scratch workspace below \"" + directory +
            "\" would not be writable in the session, whose writable roots are " +
            (listed.empty() ? "none" : listed) +
            (verdict.rule.empty() ? "" : ", and which denies it by the rule \"" + verdict.rule + "\"") +
            "; add it to allowWrite, or choose another base");
}

std::string random_name() {
    constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuv";
    std::array<unsigned char, 16> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
        throw Error(Errc::sandbox_failed, "getrandom gave no random numbers");
    std::string name = "scratch-";
    for (const unsigned char byte : random) name += kLetters[byte % kLetters.size()];
    return name;
}

}  // namespace

ScratchWorkspace::ScratchWorkspace(const BinaryExecutor& executor, const SandboxEnforcer& enforcer,
                                   std::string base) {
    const auto session = session_of(enforcer);
    const std::string directory = real_directory(base.empty() ? session->workspace() : base);
    check_domain(executor, directory);
    check_granted(*session, directory);
    name_ = random_name();
    int error = sys::open_without_links(directory.c_str(), O_PATH | O_DIRECTORY, 0, base_);
    if (error >= 0 && ::mkdirat(base_.get(), name_.c_str(), S_IRWXU) < 0) error = -errno;
    if (error < 0)
        throw Error(Errc::sandbox_failed,
                    "a scratch workspace cannot be made below \"" + directory + "\": " + errno_name(-error));
    path_ = (directory == "/" ? "" : directory) + "/" + name_;
}

ScratchWorkspace::ScratchWorkspace(ScratchWorkspace&& other) noexcept
    : base_(std::move(other.base_)), name_(std::move(other.name_)), path_(std::exchange(other.path_, {})) {}

ScratchWorkspace& ScratchWorkspace::operator=(ScratchWorkspace&& other) noexcept {
    if (this == &other) return *this;
    if (!path_.empty()) static_cast<void>(tool::remove_tree(base_.get(), name_));
    base_ = std::move(other.base_);
    name_ = std::move(other.name_);
    path_ = std::exchange(other.path_, {});
    return *this;
}

ScratchWorkspace::~ScratchWorkspace() {
    if (!path_.empty()) static_cast<void>(tool::remove_tree(base_.get(), name_));
}

void ScratchWorkspace::remove() {
    if (path_.empty()) return;
    if (const int error = tool::remove_tree(base_.get(), name_); error < 0)
        throw Error(Errc::sandbox_failed,
                    "the scratch workspace \"" + path_ + "\" cannot be removed: " + errno_name(-error));
    path_.clear();
    base_.reset();
}

}  // namespace sandpipe
