#include "stdio_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include "sys/descriptors.hpp"
#include "sys/open_without_links.hpp"

namespace sandpipe::detail {
namespace {

/// -ENXIO for a FIFO that nobody has open for writing: the command would take that for an empty file. A writer that
/// waits for a reader counts. tee(2) sees it without taking a byte.
int look_for_writer(int fd) {
    struct stat facts {};
    if (::fstat(fd, &facts) < 0) return -errno;
    sys::Pipe copy;
    if (!S_ISFIFO(facts.st_mode)) return 0;
    if (const int error = sys::make_pipe(copy); error < 0) return error;
    return ::tee(fd, copy.write_end.get(), 1, SPLICE_F_NONBLOCK) == 0 ? -ENXIO : 0;
}

}  // namespace

std::shared_ptr<StdioFiles> StdioFiles::of(const InvocationFields& fields) {
    const auto* input = std::get_if<Input::File>(&fields.input.source());
    const bool separate = fields.order != Order::merged;  // else stderr goes where stdout goes
    const auto is_file = [](const Output& output) { return std::holds_alternative<Output::File>(output.sink()); };
    if (!input && !is_file(fields.out) && !(separate && is_file(fields.err))) return nullptr;
    std::shared_ptr<StdioFiles> files(new StdioFiles);
    if (input) files->files_[0] = {input->path, O_RDONLY, Stage::input, {}};
    files->name(1, fields.out);
    if (separate) files->name(2, fields.err);
    if (fields.session) files->places_ = fields.session->stream_places();
    return files;
}

void StdioFiles::name(std::size_t stream, const Output& output) {
    const auto* file = std::get_if<Output::File>(&output.sink());
    if (!file) return;
    const int mode = file->mode == FileMode::append ? O_APPEND : O_TRUNC;
    files_[stream] = {file->path, O_WRONLY | O_CREAT | mode, Stage::output, {}};
}

void StdioFiles::open() {
    for (std::size_t stream = 0; stream < files_.size() && !called_off_; ++stream) {
        File& file = files_[stream];
        if (file.path.empty()) continue;
        current_ = stream;
        const int error = open(file);
        if (error >= 0) continue;
        const bool none_left = error == -EMFILE || error == -ENFILE;
        failure_ = wire::Failure{none_left ? Stage::resources : file.stage, -error, file.path};
        return;
    }
}

wire::Failure StdioFiles::hung_at(int error) const {
    const File& file = files_[current_];
    return {file.stage, error, file.path};
}

int StdioFiles::open(File& file) const {
    // For the open alone: the command gets a blocking descriptor.
    const int error = open_place(file, file.fd);
    if (error < 0) return error;
    if (::fcntl(file.fd.get(), F_SETFL, file.flags & O_APPEND) < 0) return -errno;
    return file.stage == Stage::input ? look_for_writer(file.fd.get()) : 0;
}

/// As open(2), but not through links by which a command of the session's could lead the host.
int StdioFiles::open_place(const File& file, unique_fd& fd) const {
    const int flags = file.flags | O_NONBLOCK | O_NOCTTY;
    if (!places_) return sys::open_file(file.path.c_str(), flags, 0666, fd);
    std::error_code unknown;
    const std::string absolute = std::filesystem::absolute(file.path, unknown).string();
    if (unknown) return -unknown.value();
    const StreamPlace place = places_->find(absolute, (flags & O_ACCMODE) != O_RDONLY);
    if (!place.allowed) return -ELOOP;
    return place.without_links ? sys::open_without_links(place.path.c_str(), flags, 0666, fd)
                               : sys::open_file(place.path.c_str(), flags, 0666, fd);
}

}  // namespace sandpipe::detail
