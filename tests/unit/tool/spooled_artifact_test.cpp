#include <sandpipe/tool/spooled_artifact.hpp>

#include <sandpipe/error.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace sandpipe {
namespace {

SpoolOptions in_file() {
    SpoolOptions options;
    options.memory_bytes = 0;
    options.directory = ::testing::TempDir();
    return options;
}

SpoolOptions with_quota(std::uint64_t memory, std::uint64_t quota) {
    SpoolOptions options;
    options.memory_bytes = memory;
    options.quota_bytes = quota;
    return options;
}

/// "line 1\n" to "line N\n".
std::string numbered(int count) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
}

std::string bad_pattern(const std::string& pattern) {
    try {
        static_cast<void>(SpooledArtifact().search(pattern));
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        return error.text();
    }
    return "accepted";
}

class Artifact : public ::testing::TestWithParam<bool> {
  protected:
    static SpoolOptions options() { return GetParam() ? in_file() : SpoolOptions{}; }
    SpooledArtifact artifact_{options()};
};
INSTANTIATE_TEST_SUITE_P(Places, Artifact, ::testing::Bool(),
                         [](const auto& place) { return std::string(place.param ? "InAFile" : "InMemory"); });

TEST_P(Artifact, EmptyHasNothing) {
    EXPECT_EQ(artifact_.head(10), "");
    EXPECT_EQ(artifact_.tail(10), "");
    EXPECT_TRUE(artifact_.lines(1, 10).empty());
    EXPECT_TRUE(artifact_.search("").empty());
    EXPECT_EQ(artifact_.facts().lines, 0U);
    EXPECT_FALSE(artifact_.facts().finished);
}

TEST_P(Artifact, HeadTailAndRanges) {
    artifact_.append("01234");
    EXPECT_EQ(artifact_.tail(3), "234") << "readable while it is written";
    artifact_.append("56789");
    EXPECT_EQ(artifact_.head(3), "012");
    EXPECT_EQ(artifact_.head(99), "0123456789");
    EXPECT_EQ(artifact_.tail(3), "789");
    EXPECT_EQ(artifact_.range(3, 4), "3456");
    EXPECT_EQ(artifact_.range(8, 4), "89");
    EXPECT_EQ(artifact_.range(10, 4), "");
    EXPECT_EQ(artifact_.range(UINT64_MAX, UINT64_MAX), "");
    EXPECT_EQ(artifact_.facts().in_file, GetParam());
    artifact_.finish();
    EXPECT_TRUE(artifact_.facts().finished);
}

TEST_P(Artifact, LinesByTheirNumbers) {
    const std::string text = numbered(30'000);  // several blocks
    for (std::size_t at = 0; at < text.size(); at += 1000) artifact_.append(text.substr(at, 1000));
    artifact_.append("end");
    EXPECT_EQ(artifact_.facts().lines, 30'001U);
    using Lines = std::vector<std::string>;
    EXPECT_EQ(artifact_.lines(1, 2), (Lines{"line 1", "line 2"}));
    EXPECT_EQ(artifact_.lines(30'000, 9), (Lines{"line 30000", "end"}));
    EXPECT_EQ(artifact_.lines(30'002, 9), Lines{});
    EXPECT_EQ(artifact_.lines(0, 9), Lines{});
    for (int first = 1; first < 30'000; first += 777)
        EXPECT_EQ(artifact_.lines(first, 1), (Lines{"line " + std::to_string(first)}));
    EXPECT_EQ(artifact_.lines(1, 99'999).size(), 30'001U);
}

TEST_P(Artifact, LinesAtTheBordersOfBlocks) {
    constexpr std::size_t kBlock = 64 * 1024;
    const std::string first(kBlock - 1, 'a');
    artifact_.append(first + "\n" + "\n" + "b\n");
    EXPECT_EQ(artifact_.lines(1, 1), std::vector<std::string>{first});
    EXPECT_EQ(artifact_.lines(2, 9), (std::vector<std::string>{"", "b"}));
    EXPECT_EQ(artifact_.facts().lines, 3U);
}

TEST_P(Artifact, SearchFindsLines) {
    artifact_.append("alpha beta\nBETA\n" + std::string(300'000, 'x') + "beta\n");
    artifact_.append("last beta");
    const auto found = artifact_.search("b[e]ta");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].line, 1U);
    EXPECT_EQ(found[0].offset, 6U);
    EXPECT_EQ(found[0].text, "alpha beta");
    EXPECT_EQ(found[1].line, 3U);
    EXPECT_EQ(artifact_.range(found[1].offset, 5), "beta\n");
    EXPECT_EQ(found[1].text, std::string(2000, 'x'));
    EXPECT_EQ(found[2].line, 4U);
    SearchOptions options;
    options.ignore_case = true;
    options.most = 2;
    EXPECT_EQ(artifact_.search("beta", options).back().text, "BETA");
    EXPECT_EQ(artifact_.search("^last").size(), 1U);
    EXPECT_TRUE(artifact_.search("nowhere").empty());
}

TEST_P(Artifact, AVeryLongLineIsOneMatch) {
    artifact_.append(std::string(3 * 1024 * 1024, 'y') + "z\nz");
    EXPECT_EQ(artifact_.search("y").size(), 1U);
    EXPECT_EQ(artifact_.search("z").size(), 2U);
    EXPECT_EQ(artifact_.search("z")[0].offset, 3U * 1024 * 1024);
    EXPECT_EQ(artifact_.search("z")[1].offset, 3U * 1024 * 1024 + 2);
}

TEST(SpooledArtifact, ABadPatternIsNamed) {
    EXPECT_EQ(bad_pattern("(a").find("the pattern \"(a\" is no RE2 expression: missing )"), 0U)
        << bad_pattern("(a");
    EXPECT_NE(bad_pattern("\xff").find("UTF-8"), std::string::npos);
    EXPECT_EQ(bad_pattern("a"), "accepted");
}

TEST(SpooledArtifact, GoesToAFileWhenItIsLarge) {
    SpooledArtifact artifact(with_quota(10, 1000));
    artifact.append("0123456789");
    EXPECT_FALSE(artifact.facts().in_file);
    artifact.append("a");
    EXPECT_TRUE(artifact.facts().in_file);
    EXPECT_EQ(artifact.head(100), "0123456789a");
    EXPECT_FALSE(artifact.facts().truncated);
}

TEST(SpooledArtifact, OneMebibyteStaysInMemory) {
    SpooledArtifact artifact;
    artifact.append(std::string(1024 * 1024, 'x'));
    EXPECT_FALSE(artifact.facts().in_file);
    artifact.append("y");
    EXPECT_TRUE(artifact.facts().in_file);
    EXPECT_EQ(artifact.tail(2), "xy");
}

TEST(SpooledArtifact, TheQuotaIsExact) {
    for (const std::uint64_t memory : {0U, 5U, 100U}) {
        SpooledArtifact artifact(with_quota(memory, 10));
        artifact.append("012345678");
        EXPECT_FALSE(artifact.facts().truncated);
        artifact.append("9abc\n");
        artifact.append("more");
        const ArtifactFacts facts = artifact.facts();
        EXPECT_TRUE(facts.truncated);
        EXPECT_EQ(facts.bytes, 18U);
        EXPECT_EQ(facts.kept, 10U);
        EXPECT_EQ(facts.lines, 1U);
        EXPECT_NE(facts.problem.find("quota of 10 bytes"), std::string::npos);
        EXPECT_EQ(artifact.head(99), "0123456789");
    }
    SpooledArtifact exact(with_quota(0, 10));
    exact.append("0123456789");
    EXPECT_FALSE(exact.facts().truncated);
}

TEST(SpooledArtifact, TheFileHasNoName) {
    const std::string place = ::testing::TempDir() + "spool_place";
    std::filesystem::create_directory(place);
    SpoolOptions options = in_file();
    options.directory = place;
    SpooledArtifact artifact(options);
    artifact.append("secret");
    EXPECT_TRUE(artifact.facts().in_file);
    EXPECT_TRUE(std::filesystem::is_empty(place));
    EXPECT_TRUE(std::filesystem::remove(place)) << "nothing holds it";
    EXPECT_EQ(artifact.head(9), "secret");
}

TEST(SpooledArtifact, WhereNoFileCanBeMadeMemoryTakesItsPlace) {
    SpoolOptions options = in_file();
    options.directory = "/proc";
    SpooledArtifact artifact(options);
    artifact.append("text");
    EXPECT_TRUE(artifact.facts().in_file);
    EXPECT_EQ(artifact.head(9), "text");
    EXPECT_FALSE(artifact.facts().truncated);
}

TEST(SpooledArtifact, AFullFileSystemIsSaidAndNothingThrown) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    rlimit small = before;
    small.rlim_cur = 100;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    SpooledArtifact artifact(with_quota(10, 1000));
    artifact.append(std::string(150, 'x'));
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(artifact.facts().kept, 100U);
    EXPECT_TRUE(artifact.facts().truncated);
    EXPECT_EQ(artifact.head(999), std::string(100, 'x'));
}

TEST(SpooledArtifact, WrongOptionsAreNamed) {
    EXPECT_THROW(SpooledArtifact(with_quota(1, 0)), Error);
    SpoolOptions nowhere;
    nowhere.directory = "/no/such/place";
    EXPECT_THROW(SpooledArtifact{nowhere}, Error);
}

TEST(SpooledArtifact, ReadersSeeOneTextWhileItIsWritten) {
    SpooledArtifact artifact(with_quota(20'000, 10'000'000));
    const std::string text = numbered(40'000);
    std::thread writer([&] {
        for (std::size_t at = 0; at < text.size(); at += 333) artifact.append(text.substr(at, 333));
        artifact.finish();
    });
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
            while (!artifact.facts().finished) {
                const std::uint64_t kept = artifact.facts().kept;
                EXPECT_EQ(artifact.range(0, kept), text.substr(0, kept));
                const auto found = artifact.search("^line 1000$");
                EXPECT_LE(found.size(), 1U);
                if (artifact.facts().lines <= 500) continue;
                EXPECT_EQ(artifact.lines(500, 1), std::vector<std::string>{"line 500"});
            }
        });
    }
    writer.join();
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(artifact.head(text.size() + 1), text);
}

TEST(SpooledArtifact, SaysWhatWouldBeWrittenToAFile) {
    SpooledArtifact artifact(with_quota(10, 30));
    EXPECT_FALSE(artifact.would_write(10));
    EXPECT_TRUE(artifact.would_write(11));
    artifact.append("12345678901");
    EXPECT_TRUE(artifact.would_write(1)) << "it is in a file";
    artifact.append(std::string(20, 'x'));
    EXPECT_FALSE(artifact.would_write(1)) << "nothing more is kept";
}

TEST(SpooledArtifact, GivenUpItKeepsWhatItHas) {
    SpooledArtifact artifact(with_quota(10, 1000));
    artifact.append("one\n");
    artifact.give_up("its disk hangs");
    artifact.append("two\n");
    artifact.give_up("another reason");
    const ArtifactFacts facts = artifact.facts();
    EXPECT_EQ(artifact.head(100), "one\n");
    EXPECT_EQ(facts.bytes, 8U);
    EXPECT_EQ(facts.kept, 4U);
    EXPECT_TRUE(facts.truncated);
    EXPECT_EQ(facts.problem, "its disk hangs");
}

TEST(SpooledArtifact, AnotherHasTheSameOptionsAndNoText) {
    SpooledArtifact first(with_quota(10, 20));
    first.append("text");
    const std::shared_ptr<SpooledArtifact> second = first.another();
    EXPECT_EQ(second->facts().bytes, 0U);
    second->append(std::string(30, 'x'));
    EXPECT_EQ(second->facts().kept, 20U);
}

}  // namespace
}  // namespace sandpipe
