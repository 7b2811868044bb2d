#pragma once

#include <sandpipe/unique_fd.hpp>

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/kernel/failure.hpp"
#include "launcher/paths/glob_watch.hpp"
#include "launcher/view/masks.hpp"
#include "wire/session_plan.hpp"

namespace sandpipe::launcher {

/// Sees to it that what the rules deny is covered when a command starts, whatever the host did since the last
/// one. A rename over a mounted-on file detaches the mount (mount_namespaces(7)), and a denied name that did
/// not exist may exist now. Looks at every place that is denied by its name, one system call each, and at
/// what has come to names that a glob denies.
class Protection {
  public:
    /// In the cell, after its files are laid out, and before there is any init: covers what appeared in
    /// between. `plan` and `masks` must outlive it.
    [[nodiscard]] Outcome prepare(const wire::SessionPlan& plan, const Masks& masks);

    struct Renewal {
        bool renewed = false;  ///< mounts were added: only inits made from now on have them
        Outcome failure;       ///< something cannot be covered: no command may start
    };
    [[nodiscard]] Renewal renew();

  private:
    enum class Cover : std::uint8_t { mask, read_only, read_only_file };  // the last leaves directories alone
    enum class State : std::uint8_t { missing, covered, bare, link };
    struct Place {
        std::string path;
        Cover cover = Cover::read_only;
        bool has_holes = false;  // something below it is granted again
        bool shares = false;     // its directory with another place
        bool is_match = false;   // of a glob
        std::uint64_t mount = 0;  // the one that was found to cover it
    };

    void check(Place& place, Renewal& renewal);
    [[nodiscard]] int settle(Place& place, Renewal& renewal);
    [[nodiscard]] int follow(const Place& link, Renewal& renewal);
    void check_match(const std::string& path, Renewal& renewal);
    [[nodiscard]] bool is_granted(const std::string& place) const;
    [[nodiscard]] bool holds_granted(const std::string& place) const;
    [[nodiscard]] int look(Place& place, State& state);
    [[nodiscard]] int look_closely(Place& place, State& state);
    [[nodiscard]] bool is_mask(const struct statx& found) const;
    [[nodiscard]] int stat_place(const Place& place, struct statx& found);
    [[nodiscard]] int cover_again(const Place& place) const;

    const Masks* masks_ = nullptr;
    dev_t mask_device_ = 0;
    std::vector<Place> places_;  // by path
    // Of the last place that shares one. A path costs what it is long, and many have most of it in common.
    unique_fd directory_;
    std::string directory_path_;
    const wire::AccessRules* rules_ = nullptr;
    std::vector<std::string> granted_;
    GlobWatch globs_;
};

}  // namespace sandpipe::launcher
