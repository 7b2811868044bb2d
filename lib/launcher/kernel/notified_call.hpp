#pragma once

#include <cstdint>
#include <span>

namespace sandpipe::launcher {

/// What the supervisor does about a notified call.
enum class Act : std::uint8_t {
    open,            ///< opens for writing: a new file is made on behalf, an existing one is judged, or opened on
                     ///< behalf where the rules want that
    make_directory,  ///< this and the next ones are always carried out on behalf
    make_node,
    make_symlink,
    remove,
    rename,
    link,
    change_mode,  ///< of what exists: what was judged gets it, whatever the path or descriptor is by then
    set_attribute,  ///< an extended one, which an access control list is too; the same
    change,  ///< contents or other attributes of what exists: judged, then left to the kernel, or cut on behalf
    enter,   ///< this and the next one only read: judged, then left to the kernel, whose masks say the same
    read_link,
    execute,  ///< judged, then left to the kernel, whose Landlock rules say the same
    map,      ///< a file into memory to be executed, or as loaders do: judged, then left to the kernel
    make_executable,  ///< what is mapped already: judged where it is of a file, then left to the kernel
    set_file_mask,    ///< never refused: from here on what the caller makes has to be asked for its mask
    connect,  ///< always on behalf: no address can be exchanged after it was judged
    bind,     ///< of a UNIX socket to a path: made on behalf, like a node
    send,     ///< to an address: judged, for its kernel refuses what is out of reach by itself
    send_message,  ///< the same, where the address is in a structure in memory
};

/// Whether it is about sockets, and its arguments are a descriptor and an address.
[[nodiscard]] constexpr bool is_socket_act(Act act) noexcept { return act >= Act::connect; }

[[nodiscard]] constexpr bool is_sending(Act act) noexcept { return act == Act::send || act == Act::send_message; }

/// Which of the calls the filter hands to the supervisor.
enum class Notified : std::uint8_t {
    always,
    writing,   ///< the decisive argument, open flags, asks for more than reading:
               ///< (flags & O_ACCMODE) != O_RDONLY or flags & (O_CREAT | O_TRUNC) or the __O_TMPFILE bit.
               ///< Where the policy denies reads: always
    non_null,  ///< the decisive argument is a pointer that is there
    mapping,   ///< mmap of a file to be executed, or with MAP_DENYWRITE, which the kernel ignores, but by which glibc's
               ///< loader gives itself away: relocations make code of a library that has no executable part
    protection,  ///< the decisive argument, the protection of memory, lets it be executed
    attributes,  ///< the decisive argument, an ioctl request, sets attributes of a file (ioctl_iflags(2))
    unmarked,  ///< the decisive argument, flags of a message, has no MSG_CONFIRM, by which a starting command says
               ///< that it hands over its listener: nobody could answer that call. Who else uses it has no denial of
               ///< this call
};

/// Where a call has its arguments, counted from 0; -1 where it has none such.
struct CallArguments {
    std::int8_t directory = -1;  ///< descriptor that a relative path starts at; -1: the cwd
    std::int8_t path = 0;        ///< of a symlink: the new name; its text is argument 0
    std::int8_t second_directory = -1;
    std::int8_t second_path = -1;
    std::int8_t flags = -1;  ///< AT_* or RENAME_* flags
    std::int8_t mode = -1;   ///< of what is made or changed; a device number follows it
    std::int8_t attribute = -1;  ///< its name; value, size and flags follow it, or one structure with all of them
    int implied_flags = 0;   ///< AT_* or O_* flags that go without saying
};

/// One row of the table that the filter, the decoder and the judgement are derived from.
struct NotifiedCall {
    int number;             ///< system call number
    const char* operation;  ///< what a Denial says: "open", "mkdir", ...
    Act act;
    CallArguments at;
    std::int8_t decisive_argument = -1;  ///< of all but `always` and `mapping`
    Notified notified = Notified::always;
};

/// Every call that the supervisor is asked about, in no order.
[[nodiscard]] std::span<const NotifiedCall> notified_calls();
/// The row of a system call number; nullptr where there is none.
[[nodiscard]] const NotifiedCall* find_notified_call(int number);

}  // namespace sandpipe::launcher
