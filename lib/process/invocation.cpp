#include <sandpipe/error.hpp>
#include <sandpipe/invocation.hpp>

#include <cstring>
#include <iterator>

#include "sys/descriptors.hpp"

namespace sandpipe {
namespace {

std::shared_ptr<const unique_fd> duplicate_of(int fd) {
    auto copy = std::make_shared<unique_fd>();
    if (const int error = sys::duplicate(fd, *copy); error < 0)
        throw Error(Errc::invalid_sandbox_config,
                    "descriptor " + std::to_string(fd) + " cannot be used: " + std::strerror(-error));
    return copy;
}

}  // namespace

Input Input::none() { return Input(None{}); }
Input Input::bytes(std::string data) { return Input(Bytes{std::move(data)}); }
Input Input::file(std::string path) { return Input(File{std::move(path)}); }
Input Input::descriptor(int fd) { return Input(Descriptor{duplicate_of(fd)}); }
Input Input::stream() { return Input(Stream{}); }

Output Output::capture() { return Output(Capture{}); }
Output Output::discard() { return Output(Discard{}); }
Output Output::inherit() { return Output(Inherit{}); }
Output Output::file(std::string path, FileMode mode) { return Output(File{std::move(path), mode}); }
Output Output::descriptor(int fd) { return Output(Descriptor{duplicate_of(fd)}); }

BinaryInvocation& BinaryInvocation::arg_list(std::vector<std::string> args) & {
    fields_.args.insert(fields_.args.end(), std::make_move_iterator(args.begin()),
                        std::make_move_iterator(args.end()));
    return *this;
}

}  // namespace sandpipe
