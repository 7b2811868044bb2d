#include "launcher/supervisor/taken_back.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launcher/paths/supervised_place.hpp"
#include "support/temp_tree.hpp"

namespace sandpipe::launcher {
namespace {

namespace fs = std::filesystem;

/// Two sessions brought something to where it may not be, and others make it hard to take it back. What happened before
/// is done by hand.
class TakenBack : public ::testing::Test {
  protected:
    Spot spot(const std::string& path) {
        Spot spot;
        spot.name = fs::path(path).filename();
        spot.place = top_ / path;
        EXPECT_EQ(open_handle(AT_FDCWD, (top_ / path).parent_path().c_str(), O_DIRECTORY, spot.directory), 0);
        if (open_handle(spot.directory.get(), spot.name.c_str(), O_NOFOLLOW, spot.object) == 0) {
            EXPECT_EQ(kind_of(spot.object, spot.kind), 0);
        }
        return spot;
    }
    /// A directory with something in it, moved from one/d to two/d.
    void move() {
        fs::create_directories(top_ / "one/d/denied");
        fs::create_directory(top_ / "two");
        from_ = spot("one/d");
        to_ = spot("two/d");
        fs::rename(top_ / "one/d", top_ / "two/d");
    }
    std::size_t count(const std::string& below) {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry : fs::directory_iterator(top_ / below)) ++count;
        return count;
    }

    wire::AccessRules denying(const std::string& place) {
        return wire::AccessRules{{{wire::Access::allow_write, top_, "root", {}, false},
                                  {wire::Access::deny_write, top_ / place, place, {}, false}},
                                 true};
    }
    /// What was moved may not stand where it came to.
    bool goes_back() {
        const wire::AccessRules rules = denying("two/d/denied");
        EXPECT_EQ(judge_arrivals(rules, from_, to_, 0).judgement.decision, Decision::deny);
        return move_back(rules, from_, to_, 0);
    }
    void rename(const std::string& from, const std::string& to) { fs::rename(top_ / from, top_ / to); }
    void exchange(const std::string& one, const std::string& other) {
        const fs::path first = top_ / one, second = top_ / other;
        ASSERT_EQ(::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE), 0);
    }

    const testing::TempTree tree_;
    const fs::path top_ = tree_.path();
    Spot from_, to_;
};

TEST_F(TakenBack, GoesBackToItsName) {
    move();
    EXPECT_TRUE(goes_back());
    EXPECT_TRUE(fs::exists(top_ / "one/d/denied"));
    EXPECT_EQ(count("two"), 0U);
}

TEST_F(TakenBack, GoesBackBesideWhoTookItsName) {
    move();
    fs::create_directory(top_ / "one/d");
    for (int i = 0; i < 8; ++i) fs::create_directory(top_ / ("one/d.denied" + std::to_string(i)));
    EXPECT_TRUE(goes_back());
    EXPECT_EQ(count("one"), 10U);
    EXPECT_EQ(count("two"), 0U);
}

TEST_F(TakenBack, IsPutAsideWhereItsDirectoryIsGone) {
    move();
    fs::remove(top_ / "one");
    EXPECT_TRUE(goes_back());
    EXPECT_FALSE(fs::exists(top_ / "two/d"));
    EXPECT_EQ(count("two"), 1U);
}

TEST_F(TakenBack, GoesBackThroughClosedDirectories) {
    move();
    for (const char* name : {"one", "two"}) ASSERT_EQ(::chmod((top_ / name).c_str(), 0500), 0);
    EXPECT_TRUE(goes_back());
    EXPECT_TRUE(fs::exists(top_ / "one/d/denied"));
    struct stat status {};
    ASSERT_EQ(::stat((top_ / "two").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0500U);
}

TEST_F(TakenBack, WhatSomebodyElsePutThereStays) {
    move();
    rename("two/d", "two/e");
    fs::create_directory(top_ / "two/d");
    EXPECT_TRUE(move_back(denying("two/d/denied"), from_, to_, 0));
    EXPECT_TRUE(fs::exists(top_ / "two/d"));
    EXPECT_EQ(count("one"), 0U);
}

TEST_F(TakenBack, WhatArrivedIsJudgedAndNotWhatWasLookedAtBefore) {
    fs::create_directories(top_ / "two/d/denied");
    std::ofstream(top_ / "file") << "x";
    from_ = spot("file");
    to_ = spot("three");
    exchange("file", "two/d");
    rename("file", "three");
    const wire::AccessRules rules = denying("three/denied");
    EXPECT_EQ(from_.kind, Kind::file);
    EXPECT_EQ(judge_arrivals(rules, from_, to_, 0).judgement.rule, "three/denied");
    EXPECT_TRUE(move_back(rules, from_, to_, 0));
    EXPECT_FALSE(fs::exists(top_ / "three"));
    EXPECT_TRUE(fs::exists(top_ / "file/denied"));
    EXPECT_EQ(judge_arrivals(denying("elsewhere"), from_, to_, 0).judgement.decision, Decision::perform);
}

TEST_F(TakenBack, WhatLeftADeniedPlaceStaysAway) {
    move();
    rename("one", "denied");
    const wire::AccessRules rules = denying("denied/d");
    EXPECT_EQ(judge_arrivals(rules, from_, to_, 0).judgement.decision, Decision::perform);
    EXPECT_TRUE(move_back(rules, from_, to_, 0));
    EXPECT_TRUE(fs::exists(top_ / "two/d/denied"));
    EXPECT_EQ(count("denied"), 0U);
}

TEST_F(TakenBack, GoesNowhereThatIsDeniedByNow) {
    move();
    fs::create_directory(top_ / "closed");
    rename("one", "closed/one");
    rename("two", "closed/two");
    const wire::AccessRules rules = denying("closed");
    Arrivals found = judge_arrivals(rules, from_, to_, 0);
    EXPECT_EQ(found.judgement.decision, Decision::deny);
    EXPECT_EQ(found.to_place, (top_ / "closed/two/d").string());
    EXPECT_TRUE(move_back(rules, from_, to_, 0));
    EXPECT_EQ(count("closed/one") + count("closed/two"), 0U);
    EXPECT_EQ(count(""), 2U);
}

/// What it brings along is denied by a name further up: it goes as far up as it can, and can be known again.
TEST_F(TakenBack, GoesUpWithItsName) {
    const wire::AccessRules rules{{{wire::Access::allow_write, top_, "root", {}, false},
                                   {wire::Access::deny_write, top_, "**/x/**/k", "**/x/**/k", false}},
                                  true};
    fs::create_directories(top_ / "gone/many/k");
    fs::create_directories(top_ / "x/a/a/a");
    const Spot from = spot("gone/many"), to = spot("x/a/a/a/many");
    rename("gone/many", "x/a/a/a/many");
    fs::remove(top_ / "gone");
    EXPECT_EQ(judge_arrivals(rules, from, to, 0).judgement.decision, Decision::deny);
    EXPECT_TRUE(move_back(rules, from, to, 0));
    EXPECT_EQ(count("x/a/a/a"), 0U);
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(top_))
        if (entry.path().filename() != "x") names.push_back(entry.path().filename());
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0].find("many.denied-"), 0U) << names[0];
    EXPECT_TRUE(fs::exists(top_ / names[0] / "k"));
}

TEST_F(TakenBack, LosesANameThatIsDeniedItself) {
    const wire::AccessRules rules{{{wire::Access::allow_write, top_, "root", {}, false},
                                   {wire::Access::deny_write, top_, "many*", "many*", false},
                                   {wire::Access::deny_write, top_ / "x", "x", {}, false}},
                                  true};
    fs::create_directories(top_ / "x/gone");
    std::ofstream(top_ / "x/many") << "content";
    const Spot from = spot("x/gone/many"), to = spot("x/many");
    fs::remove(top_ / "x/gone");
    EXPECT_TRUE(move_back(rules, from, to, 0));
    EXPECT_EQ(count("x"), 0U);
    EXPECT_EQ(count(""), 2U);
}

TEST_F(TakenBack, ChangesBack) {
    fs::create_directories(top_ / "one/d/denied");
    std::ofstream(top_ / "f") << "x";
    const Spot from = spot("one/d"), to = spot("f");
    exchange("one/d", "f");
    EXPECT_TRUE(move_back(denying("f/denied"), from, to, RENAME_EXCHANGE));
    EXPECT_TRUE(fs::exists(top_ / "one/d/denied"));
    EXPECT_TRUE(fs::is_regular_file(top_ / "f"));
}

TEST_F(TakenBack, BothArrivalsOfAnExchangeAreJudged) {
    fs::create_directories(top_ / "one/d");
    fs::create_directories(top_ / "two/e/denied");
    const Spot from = spot("one/d"), to = spot("two/e");
    exchange("one/d", "two/e");
    const wire::AccessRules rules = denying("one/d/denied");
    EXPECT_EQ(judge_arrivals(rules, from, to, RENAME_EXCHANGE).judgement.decision, Decision::deny);
    EXPECT_EQ(judge_arrivals(rules, from, to, 0).judgement.decision, Decision::perform);
    fs::remove(top_ / "two/e");  // there is nothing to change back with
    EXPECT_TRUE(move_back(rules, from, to, RENAME_EXCHANGE));
    EXPECT_FALSE(fs::exists(top_ / "one/d"));
    EXPECT_TRUE(fs::exists(top_ / "two/e/denied"));
}

TEST_F(TakenBack, WhatWasMadeGoesAway) {
    std::ofstream(top_ / "f") << "x";
    fs::create_directory(top_ / "d");
    for (const char* name : {"f", "d"}) {
        const Spot made = spot(name);
        EXPECT_TRUE(take_away(denying("elsewhere"), made, identity_of(made)));
        EXPECT_FALSE(fs::exists(top_ / name));
        EXPECT_TRUE(take_away(denying("elsewhere"), made, identity_of(made.object.get())));  // it is gone already
    }
}

TEST_F(TakenBack, AnothersFileOfThatNameStays) {
    std::ofstream(top_ / "f") << "x";
    const Spot made = spot("f");
    std::ofstream(top_ / "g") << "the host's";
    fs::rename(top_ / "g", top_ / "f");
    EXPECT_TRUE(take_away(denying("elsewhere"), made, identity_of(made.object.get())));
    EXPECT_EQ(fs::file_size(top_ / "f"), 10U);
}

TEST_F(TakenBack, AFilledDirectoryLosesItsName) {
    fs::create_directories(top_ / "one/d/filled");
    const Spot made = spot("one/d");
    ASSERT_EQ(::chmod((top_ / "one").c_str(), 0500), 0);
    EXPECT_TRUE(take_away(denying("one/d"), made, identity_of(made)));
    EXPECT_FALSE(fs::exists(top_ / "one/d"));
    EXPECT_EQ(count("one"), 1U);
}

TEST_F(TakenBack, ThePlaceIsThatOfTheDirectoryNow) {
    move();
    const Spot inside = spot("two/d/new");
    fs::rename(top_ / "two/d", top_ / "one/moved");
    EXPECT_EQ(place_now(inside), (top_ / "one/moved/new").string());
    fs::remove_all(top_ / "one/moved");
    EXPECT_EQ(place_now(inside), inside.place);
}

TEST_F(TakenBack, WhatWasMadeIsJudgedWhereItStandsNow) {
    const wire::AccessRules rules{{{wire::Access::allow_write, top_, "root", {}, false},
                                   {wire::Access::deny_write, top_ / "two/d/new", "new", {}, false}},
                                  true};
    fs::create_directories(top_ / "one/d");
    fs::create_directories(top_ / "one/other");
    fs::create_directory(top_ / "two");
    const Spot denied = spot("one/d/new"), allowed = spot("one/other/new");
    for (const char* name : {"one/d/new", "one/other/new"}) std::ofstream(top_ / name) << "x";
    std::string place;
    EXPECT_EQ(judge_again(rules, denied, Kind::file, identity_of(denied), place).decision, Decision::perform);
    fs::rename(top_ / "one/d", top_ / "two/d");
    fs::rename(top_ / "one/other", top_ / "two/other");
    const Judgement judgement = judge_again(rules, denied, Kind::file, identity_of(denied), place);
    EXPECT_EQ(judgement.decision, Decision::deny);
    EXPECT_EQ(judgement.rule, "new");
    EXPECT_EQ(place, (top_ / "two/d/new").string());
    EXPECT_FALSE(fs::exists(top_ / "two/d/new"));
    EXPECT_EQ(judge_again(rules, allowed, Kind::file, identity_of(allowed), place).decision, Decision::perform);
    EXPECT_TRUE(fs::exists(top_ / "two/other/new"));
}

}  // namespace
}  // namespace sandpipe::launcher
