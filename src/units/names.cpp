// Near misses of misspelt names.
#include <algorithm>

#include "gpuadvisor/units.hpp"
#include "units/scan.hpp"

namespace gpuadvisor {
namespace {

/// Names longer than this are not compared: nobody types them by hand.
constexpr std::size_t kLongestName = 128;

struct Match {
  std::size_t key;        ///< smaller is nearer
  std::size_t candidate;  ///< index, so that ties keep their order
};

/// How near `candidate` is to `name`, both in lower case; nothing when it is not.
std::optional<std::size_t> nearness(const std::string& name, const std::string& candidate) {
  const auto distance = static_cast<std::size_t>(edit_distance(name, candidate));
  const std::size_t limit = std::max<std::size_t>(2, name.size() / 4);
  if (distance <= limit && distance < std::max(name.size(), candidate.size())) return distance;
  const auto& [shorter, longer] = std::minmax(
      name, candidate, [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (shorter.size() < 3 || longer.find(shorter) == std::string::npos) return std::nullopt;
  return limit + 1 + (longer.size() - shorter.size());
}

}  // namespace

int edit_distance(std::string_view left, std::string_view right) {
  const std::string a = units::to_lower(left.substr(0, kLongestName));
  const std::string b = units::to_lower(right.substr(0, kLongestName));
  // Optimal string alignment: three rows of the Damerau-Levenshtein table.
  std::vector<int> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

std::vector<std::string> suggest_names(std::string_view name,
                                       std::span<const std::string_view> candidates,
                                       std::size_t limit) {
  if (name.empty() || name.size() > kLongestName) return {};
  const std::string wanted = units::to_lower(name);
  std::vector<Match> matches;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (const auto key = nearness(wanted, units::to_lower(candidates[i])))
      matches.push_back({*key, i});
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.key < b.key; });
  std::vector<std::string> names;
  for (const Match& match : matches) {
    if (names.size() == limit) break;
    names.emplace_back(candidates[match.candidate]);
  }
  return names;
}

}  // namespace gpuadvisor
