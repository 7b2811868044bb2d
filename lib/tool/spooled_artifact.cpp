#include <sandpipe/tool/spooled_artifact.hpp>

#include <sandpipe/end_status.hpp>
#include <sandpipe/error.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "spool_file.hpp"

namespace sandpipe {
namespace {

// Each block's count of newlines before it is remembered, so that a line is found by reading one block.
constexpr std::uint64_t kBlock = 64 * 1024;
constexpr const char* kDirectory = "/var/tmp";

SpoolOptions checked(SpoolOptions options) {
    if (options.quota_bytes == 0)
        throw Error(Errc::invalid_sandbox_config, "quota_bytes is 0; an artifact needs at least 1");
    if (options.directory.empty()) {
        options.directory = kDirectory;
        return options;
    }
    struct stat facts {};
    if (::stat(options.directory.c_str(), &facts) < 0 || !S_ISDIR(facts.st_mode))
        throw Error(Errc::invalid_sandbox_config,
                    "the spool directory \"" + options.directory + "\" is no directory");
    return options;
}

}  // namespace

SpooledArtifact::SpooledArtifact(SpoolOptions options) : SpooledArtifact(Checked{checked(std::move(options))}) {}

SpooledArtifact::SpooledArtifact(Checked checked)
    : options_(std::move(checked.options)), quota_(options_.quota_bytes) {}

std::shared_ptr<SpooledArtifact> SpooledArtifact::another() const {
    return std::shared_ptr<SpooledArtifact>(new SpooledArtifact(Checked{options_}));
}

void SpooledArtifact::append(std::string_view text) {
    Lock lock(mutex_);
    facts_.bytes += text.size();
    if (text.empty() || !takes_more()) return;
    if (needs_file(text.size())) {
        write(text, lock);
    } else {
        const std::string_view fits = text.substr(0, std::min<std::uint64_t>(text.size(), quota_ - facts_.kept));
        memory_ += fits;
        count_lines(fits);
    }
    if (takes_more() && facts_.kept < facts_.bytes)
        lose("the quota of " + std::to_string(quota_) + " bytes is reached");
}

bool SpooledArtifact::would_write(std::uint64_t bytes) const {
    const Lock lock(mutex_);
    return takes_more() && needs_file(bytes);
}

void SpooledArtifact::finish() {
    const Lock lock(mutex_);
    facts_.finished = true;
}

void SpooledArtifact::give_up(std::string problem) {
    const Lock lock(mutex_);
    if (takes_more()) lose(std::move(problem));
}

void SpooledArtifact::lose(std::string problem) {
    facts_.truncated = true;
    facts_.problem = std::move(problem);
}

bool SpooledArtifact::needs_file(std::uint64_t bytes) const {
    return file_ || std::min(facts_.kept + bytes, quota_) > options_.memory_bytes;
}

/// Without the lock while the file system is at work: only the writer changes what it uses. What it did in vain,
/// because it was given up meanwhile, is not counted.
void SpooledArtifact::write(std::string_view text, Lock& lock) {
    if (!file_ && !move_to_file(lock)) return;
    const std::shared_ptr<const unique_fd> file = file_;
    const std::uint64_t offset = facts_.kept;
    const std::string_view fits = text.substr(0, std::min<std::uint64_t>(text.size(), quota_ - offset));
    std::uint64_t written = 0;
    lock.unlock();
    const int error = tool::write_at(*file, offset, fits, written);
    lock.lock();
    if (!takes_more()) return;
    count_lines(fits.substr(0, written));
    if (error < 0) lose("its file takes no more: " + errno_name(-error));
}

bool SpooledArtifact::move_to_file(Lock& lock) {
    auto file = std::make_shared<unique_fd>();
    std::uint64_t written = 0;
    const std::uint64_t quota = std::min(quota_, tool::largest_file());
    lock.unlock();
    int error = tool::open_spool_file(options_.directory, *file);
    if (error >= 0 && memory_.size() > quota) error = -EFBIG;
    if (error >= 0) error = tool::write_at(*file, 0, memory_, written);
    lock.lock();
    if (!takes_more()) return false;
    quota_ = quota;
    if (error < 0) {
        lose("it cannot be spooled to a file: " + errno_name(-error));
        return false;
    }
    file_ = std::move(file);
    facts_.in_file = true;
    std::string().swap(memory_);
    return true;
}

void SpooledArtifact::count_lines(std::string_view text) {
    while (!text.empty()) {
        if (facts_.kept % kBlock == 0) newlines_before_.push_back(newlines_);
        const std::string_view piece =
            text.substr(0, std::min<std::uint64_t>(text.size(), kBlock - facts_.kept % kBlock));
        newlines_ += static_cast<std::uint64_t>(std::count(piece.begin(), piece.end(), '\n'));
        facts_.kept += piece.size();
        ends_in_newline_ = piece.back() == '\n';
        text.remove_prefix(piece.size());
    }
    facts_.lines = newlines_ + (ends_in_newline_ ? 0 : 1);
}

ArtifactFacts SpooledArtifact::facts() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return facts_;
}

std::string SpooledArtifact::tail(std::uint64_t most) const {
    const std::uint64_t kept = facts().kept;
    return range(kept - std::min(kept, most), std::min(kept, most));
}

std::string SpooledArtifact::range(std::uint64_t offset, std::uint64_t most) const {
    std::shared_ptr<const unique_fd> file;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (offset >= facts_.kept) return {};
        most = std::min(most, facts_.kept - offset);
        if (!file_) return memory_.substr(offset, most);
        file = file_;
    }
    // What is kept never changes, so it is read without the lock.
    std::string text;
    if (const int error = tool::read_at(*file, offset, most, text); error < 0)
        throw Error(Errc::sandbox_failed, "the artifact's file cannot be read: " + errno_name(-error));
    return text;
}

std::uint64_t SpooledArtifact::line_start(std::uint64_t number) const {
    std::uint64_t block = 0;
    std::uint64_t wanted = number - 1;  // newlines before it
    if (wanted == 0) return 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (wanted > newlines_) return facts_.kept;
        const auto after = std::lower_bound(newlines_before_.begin(), newlines_before_.end(), wanted);
        block = static_cast<std::uint64_t>(after - newlines_before_.begin()) - 1;
        wanted -= newlines_before_[block];
    }
    const std::string text = range(block * kBlock, kBlock);
    std::size_t at = 0;
    for (; wanted > 0; --wanted) at = text.find('\n', at) + 1;
    return block * kBlock + at;
}

std::vector<std::string> SpooledArtifact::lines(std::uint64_t first, std::size_t count) const {
    std::vector<std::string> found;
    if (first == 0) return found;
    std::string pending;
    std::uint64_t offset = line_start(first);
    while (found.size() < count) {
        const std::string block = range(offset, kBlock);
        if (block.empty()) break;
        offset += block.size();
        std::string_view rest = block;
        for (std::size_t end; found.size() < count && (end = rest.find('\n')) != rest.npos;) {
            found.push_back(std::exchange(pending, {}) + std::string(rest.substr(0, end)));
            rest.remove_prefix(end + 1);
        }
        pending += rest;
    }
    if (found.size() < count && !pending.empty()) found.push_back(std::move(pending));
    return found;
}

}  // namespace sandpipe
