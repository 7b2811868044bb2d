#pragma once

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "sandbox/policy/path_facts.hpp"
#include "sandbox/policy/resolved_path.hpp"

namespace sandpipe::test {

/// A file system in memory. Parents come into being with what is put in them.
class FakePathFacts final : public PathFacts {
  public:
    FakePathFacts() {
        for (const char* path : {"/tmp", "/proc/self", "/sys", "/home/u", "/w", "/dev/shm", "/dev/pts"})
            directory(path);
        for (const char* path : {"/dev/null", "/dev/tty", "/dev/sda", "/dev/dri/card0"})
            put(path, PathKind::device);
    }

    FakePathFacts& directory(const std::string& path) { return put(path, PathKind::directory); }
    FakePathFacts& file(const std::string& path, std::uint64_t hard_links = 1) {
        put(path, PathKind::file);
        nodes_[path].fact.hard_links = hard_links;
        return *this;
    }
    FakePathFacts& link(const std::string& path, const std::string& target) {
        put(path, PathKind::symlink);
        nodes_[path].target = target;
        return *this;
    }
    FakePathFacts& unreachable(const std::string& path) {
        put(path, PathKind::unreachable);
        nodes_[path].fact.error = EACCES;
        return *this;
    }

    [[nodiscard]] PathFact look(const std::string& path) const override {
        if (path == "/") return {PathKind::directory, 0, 1};
        const auto node = nodes_.find(path);
        return node == nodes_.end() ? PathFact{} : node->second.fact;
    }
    [[nodiscard]] std::string link_target(const std::string& path) const override {
        return nodes_.at(path).target;
    }
    [[nodiscard]] DirectoryListing list(const std::string& path) const override {
        DirectoryListing listing;
        if (look(path).kind != PathKind::directory) return {{}, ENOTDIR};
        const std::string first = path == "/" ? path : path + "/";
        for (auto at = nodes_.lower_bound(first); at != nodes_.end() && at->first.starts_with(first); ++at)
            if (parent_path(at->first) == path && at->second.fact.exists())
                listing.entries.push_back({std::string(last_name(at->first)), at->second.fact.kind});
        if (const auto node = nodes_.find(path); node != nodes_.end()) listing.error = node->second.list_error;
        return listing;
    }
    /// A directory that can be entered all the same.
    FakePathFacts& unlistable(const std::string& path) {
        directory(path);
        nodes_[path].list_error = EACCES;
        return *this;
    }
    FakePathFacts& file_with(const std::string& path, std::string text) {
        file(path);
        nodes_[path].text = std::move(text);
        return *this;
    }
    [[nodiscard]] std::string text(const std::string& path) const override {
        const auto node = nodes_.find(path);
        return node == nodes_.end() ? std::string() : node->second.text;
    }
    FakePathFacts& program(const std::string& path, sys::ProgramFacts facts) {
        file(path);
        nodes_[path].program = std::move(facts);
        return *this;
    }
    [[nodiscard]] sys::ProgramFacts program(const std::string& path) const override {
        const auto node = nodes_.find(path);
        return node == nodes_.end() ? sys::ProgramFacts{} : node->second.program;
    }
    [[nodiscard]] bool may_be_executed(const std::string& path) const override {
        return look(path).kind == PathKind::file;
    }
    FakePathFacts& mounted(std::string table) {
        mounts_ = std::move(table);
        return *this;
    }
    [[nodiscard]] std::string mount_table() const override { return mounts_; }
    /// Every path that exists and is no link.
    [[nodiscard]] std::vector<std::string> places() const {
        std::vector<std::string> all{"/"};
        for (const auto& [path, node] : nodes_)
            if (node.fact.exists() && node.fact.kind != PathKind::symlink) all.push_back(path);
        return all;
    }

  private:
    struct Node {
        PathFact fact;
        int list_error = 0;
        std::string target;
        std::string text;
        sys::ProgramFacts program;
    };

    FakePathFacts& put(const std::string& path, PathKind kind) {
        const std::string parent(parent_path(path));
        if (parent != "/" && !nodes_.contains(parent)) directory(parent);
        nodes_[path].fact.kind = kind;
        return *this;
    }

    std::map<std::string, Node> nodes_;
    std::string mounts_;
};

}  // namespace sandpipe::test
