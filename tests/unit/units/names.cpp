#include <array>
#include <string_view>

#include "gpuadvisor/units.hpp"
#include "test_support/catch.hpp"

using namespace gpuadvisor;

TEST_CASE("edit distance counts swaps as one and ignores case") {
  CHECK(edit_distance("recommend", "recommend") == 0);
  CHECK(edit_distance("recomend", "recommend") == 1);
  CHECK(edit_distance("a010", "A100") == 1);  // 01 swapped
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
}

TEST_CASE("suggestions are near, best first and few") {
  constexpr std::array<std::string_view, 5> kNames = {"A10", "A100-SXM4-80GB", "H20-96GB", "L20",
                                                      "T4"};
  CHECK(suggest_names("a100", kNames, 3) == std::vector<std::string>{"A10", "A100-SXM4-80GB"});
  CHECK(suggest_names("h20", kNames, 1) == std::vector<std::string>{"L20"});
  CHECK(suggest_names("quantum", kNames).empty());
  CHECK(suggest_names("", kNames).empty());
  constexpr std::array<std::string_view, 3> kModes = {"pretrain", "full-ft", "lora"};
  CHECK(suggest_names("fullft", kModes) == std::vector<std::string>{"full-ft"});
  CHECK(suggest_names("pretrian", kModes) == std::vector<std::string>{"pretrain"});
}

TEST_CASE("suggestions never offer a name that shares nothing") {
  constexpr std::array<std::string_view, 2> kNames = {"L4", "T4"};
  CHECK(suggest_names("xy", kNames).empty());
}
