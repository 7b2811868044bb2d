#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "launcher/supervisor/supervised_act.hpp"
#include "launcher/supervisor/supervised_call.hpp"

namespace sandpipe::launcher {

/// The answers that a signal kept from their callers. Without SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (before Linux
/// 5.19) a signal takes a caller out of a call that is being carried out; after its handler the kernel makes the call
/// anew (signal(7), SA_RESTART). What was done then is not done twice, which would be EEXIST or ENOENT, and what was
/// told is not told twice: the new call gets the old one's answer.
///
/// A thread's next notified call is that one, but where its handler makes another, or where it is not restarted
/// (EINTR) and the program does something else: then the answer is dropped.
class InterruptedCalls {
  public:
    /// `call` was carried out, with this answer.
    void keep_done(const seccomp_notif& notification, const Call& call, Answer answer);
    /// It was refused with `error`, and the host was told.
    void keep_refused(pid_t thread, const seccomp_data& data, int error);

    /// To be asked for each call first. The errno, if it is a refused one again.
    [[nodiscard]] std::optional<int> take_refused(const seccomp_notif& notification);
    /// The answer, if it is one again that was carried out, and all is as that left it.
    [[nodiscard]] std::optional<Answer> take_done(const seccomp_notif& notification, const Call& call);

    void clear() { kept_.clear(); }

  private:
    struct Left {
        bool exists = false;
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        friend bool operator==(const Left&, const Left&) = default;
    };
    struct Kept {
        seccomp_data data{};
        int refused = 0;  // 0: carried out
        std::string path;
        std::string second_path;
        std::string text;
        Answer answer;
        Left left;
    };

    [[nodiscard]] static Left look(const Spot& spot);
    void keep(pid_t thread, Kept kept);

    std::map<pid_t, Kept> kept_;  // by thread
};

}  // namespace sandpipe::launcher
