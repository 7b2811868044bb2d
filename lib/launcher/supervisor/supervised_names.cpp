#include <fcntl.h>
#include <stdio.h>  // NOLINT: renameat2 is GNU's
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/own_descriptor.hpp"
#include "launcher/paths/tree_search.hpp"
#include "launcher/supervisor/supervised_attempt.hpp"
#include "launcher/view/file_mask.hpp"

namespace sandpipe::launcher {

Answer Attempt::make() {
    Resolver resolver(caller_);
    Spot spot;
    const int error = resolver.find_entry(call_.directory, call_.path, spot);
    if (error < 0) return unreachable(resolver, error);
    const Kind made = call_.row->act == Act::make_symlink     ? Kind::symlink
                      : call_.row->act == Act::make_directory ? Kind::directory
                                                              : Kind::file;
    Answer answer = settle(judge_make(rules_, made, site_of(spot)), spot, {}, [&] { return make_at(spot); });
    if (answer.judgement.decision == Decision::perform)
        take_back_if_moved(answer, spot, made, identity_of(spot));
    const bool is_made = answer.judgement.decision == Decision::perform;
    if (is_made && made == Kind::directory) repositories_.note_directory(spot, caller_);
    answer.made = std::move(spot);
    return answer;
}

int Attempt::make_at(const Spot& spot) {
    const mode_t mask = caller_.file_mask();
    if (!still_waiting_()) return -EINTR;
    const int directory = spot.directory.get();
    const std::string name = spot.last();
    const FileMask masked(mask);
    switch (call_.row->act) {
        case Act::make_directory:
            return result_of(::mkdirat(directory, name.c_str(), call_.mode));
        case Act::make_node:
            return result_of(::mknodat(directory, name.c_str(), call_.mode, call_.device));
        default:
            return result_of(::symlinkat(call_.text.c_str(), directory, name.c_str()));
    }
}

Answer Attempt::remove() {
    Resolver resolver(caller_);
    Spot spot;
    const int error = resolver.find_entry(call_.directory, call_.path, spot);
    if (error < 0) return unreachable(resolver, error);
    Answer answer = settle(judge_remove(rules_, site_of(spot)), spot, {}, [&] {
        return result_of(::unlinkat(spot.directory.get(), spot.last().c_str(), call_.flags));
    });
    answer.made = std::move(spot);
    return answer;
}

/// As for one path: the first that ends before its last component may end at a denied place. Both are told.
Answer Attempt::unreachable(const Spot& from, const Spot& to, int error) const {
    Answer answer;
    const bool at_first = from.place.empty() && !from.object;  // what is found, and has no place, is an object
    answer.resolved = from.place;
    if (at_first && !call_.on_descriptor)
        answer.resolved = Resolver(caller_).blocked_place(call_.directory, call_.path);
    answer.second_resolved = to.place;
    if (to.place.empty())
        answer.second_resolved = Resolver(caller_).blocked_place(call_.second_directory, call_.second_path);
    answer.judgement = judge_read(rules_, at_first ? answer.resolved : answer.second_resolved);
    return answer.judgement.decision == Decision::deny ? std::move(answer) : refused(error);
}

Answer Attempt::rename() {
    Spot from;
    Spot to;
    if (const int error = Resolver(caller_).find_entry(call_.directory, call_.path, from); error < 0)
        return unreachable(from, to, error);
    if (const int error = Resolver(caller_).find_entry(call_.second_directory, call_.second_path, to);
        error < 0)
        return unreachable(from, to, error);
    const auto flags = static_cast<unsigned>(call_.flags);
    std::string settings;
    const bool initial = repositories_.brings_settings(call_, caller_, from, to, settings);
    Rename rename{
        from.site(),
        to.site(),
        flags,
        [&](std::string_view tail) { return brings_along(from, tail); },
        [&](std::string_view tail) { return brings_along(to, tail); },
        [&](const wire::AccessRule& rule, std::string_view at) { return brings_match(rules_, from, rule, at); },
        [&](const wire::AccessRule& rule, std::string_view at) { return brings_match(rules_, to, rule, at); }};
    rename.to.initial = initial;
    Answer answer = settle(judge_rename(rules_, rename), from, to, [&] {
        if (initial) return put_settings(settings, from, to);
        return result_of(::renameat2(from.directory.get(), from.last().c_str(), to.directory.get(),
                                     to.last().c_str(), flags));
    });
    if (!initial) take_back_if_moved(answer, from, to);
    answer.made = std::move(to);
    return answer;
}

int Attempt::find_link_source(Spot& spot) {
    Resolver resolver(caller_);
    const bool follows = (call_.flags & AT_SYMLINK_FOLLOW) || call_.path.ends_with('/');
    const int error = call_.on_descriptor ? resolver.find_descriptor(call_.directory, spot)
                      : follows           ? resolver.find_target(call_.directory, call_.path, spot)
                                          : resolver.find_entry(call_.directory, call_.path, spot);
    return unless_unknown(error, spot);
}

Answer Attempt::link() {
    Spot from;
    Spot to;
    if (const int error = find_link_source(from); error < 0) return unreachable(from, to, error);
    if (from.kind == Kind::missing) return refused(-ENOENT);
    if (from.slashed && from.kind != Kind::directory) return refused(-ENOTDIR);
    if (const int error = Resolver(caller_).find_entry(call_.second_directory, call_.second_path, to);
        error < 0)
        return unreachable(from, to, error);
    // Its name may be another's by now.
    const OwnDescriptor judged(from.object.get());
    Answer answer = settle(judge_link(rules_, from.site(), to.site()), from, to, [&] {
        return result_of(
            ::linkat(AT_FDCWD, judged.path(), to.directory.get(), to.last().c_str(), AT_SYMLINK_FOLLOW));
    });
    take_back_if_moved(answer, to, from.kind, identity_of(from.object.get()));
    answer.made = std::move(to);
    return answer;
}

}  // namespace sandpipe::launcher
