#include <sandpipe/environment.hpp>
#include <sandpipe/error.hpp>

#include <gmock/gmock.h>

namespace sandpipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> kSnapshot{"PATH=/bin", "HOME=/h", "TOKEN=secret", "EMPTY=", "odd", "PATHS=x"};

TEST(Environment, Bases) {
    EXPECT_THAT(Environment::empty().resolve(kSnapshot), IsEmpty());
    EXPECT_THAT(Environment::standard().resolve(kSnapshot), ElementsAre("PATH=/bin", "HOME=/h"));
    EXPECT_THAT(Environment::names({"EMPTY", "MISSING"}).resolve(kSnapshot), ElementsAre("EMPTY="));
    EXPECT_THAT(Environment::inherit_all().resolve({"A=1", "B=2"}), ElementsAre("A=1", "B=2"));
}

TEST(Environment, ChangesComeInTheirOrder) {
    EXPECT_THAT(Environment::empty().set("A", "1").set("A", "2").resolve({}), ElementsAre("A=2"));
    EXPECT_THAT(Environment::empty().set("A", "1").unset("A").resolve({}), IsEmpty());
    EXPECT_THAT(Environment::names({"HOME"}).set("HOME", "=x=").resolve(kSnapshot), ElementsAre("HOME==x="));
    EXPECT_THAT(Environment::empty().unset("NEVER").resolve({}), IsEmpty());
}

TEST(Environment, UnsetTakesAwayDoubleEntriesToo) {
    EXPECT_THAT(Environment::inherit_all().unset("A").resolve({"A=1", "B=2", "A=3"}), ElementsAre("B=2"));
    EXPECT_THAT(Environment::inherit_all().set("A", "4").resolve({"A=1", "A=3"}), ElementsAre("A=4"));
}

TEST(Environment, LiesOverABlock) {
    EXPECT_THAT(Environment::names({"HOME"}).set("X", "1").lay_over({"HOME=/session", "KEEP=y"}, kSnapshot),
                ElementsAre("KEEP=y", "HOME=/h", "X=1"));
    EXPECT_THAT(Environment::empty().unset("KEEP").lay_over({"KEEP=y", "B=z"}, {}), ElementsAre("B=z"));
}

void expect_refused(const Environment& environment, const std::string& named) {
    try {
        (void)environment.resolve(kSnapshot);
        ADD_FAILURE() << "not refused: " << named;
    } catch (const Error& error) {
        EXPECT_EQ(error.errc(), Errc::invalid_sandbox_config);
        EXPECT_THAT(error.text(), HasSubstr(named));
    }
}

TEST(Environment, RefusesBadNamesAndValues) {
    const std::string nul("n\0l", 3);
    expect_refused(Environment::empty().set("", "x"), "\"\"");
    expect_refused(Environment::empty().set("A=B", "x"), "A=B");
    expect_refused(Environment::empty().set(nul, "x"), "n");
    expect_refused(Environment::empty().set("NAME", nul), "NAME");
    expect_refused(Environment::empty().unset("C=D"), "C=D");
    expect_refused(Environment::names({"E=F"}), "E=F");
}

TEST(Environment, ErrorsDoNotRepeatValues) {
    try {
        (void)Environment::empty().set("NAME", std::string("secret\0", 7)).resolve({});
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("secret")));
    }
}

}  // namespace
}  // namespace sandpipe
