// Where records that are read at run time live. Views point into the storage, so
// its containers never move an element.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "gpuadvisor/catalog.hpp"

namespace gpuadvisor::catalog {

class Records {
 public:
  /// One copy of `text` that lives as long as the records.
  std::string_view intern(std::string_view text) { return *strings_.emplace(text).first; }

  std::span<const Source> keep(std::vector<Source> list) {
    return keep_in(sources_, std::move(list));
  }
  std::span<const Price> keep(std::vector<Price> list) { return keep_in(prices_, std::move(list)); }
  std::span<const std::string_view> keep(std::vector<std::string_view> list) {
    return keep_in(names_, std::move(list));
  }

  std::vector<Gpu> gpus;
  std::vector<Instance> instances;
  std::vector<WrongName> wrong_names;
  std::vector<ExchangeRate> rates;
  std::string_view date;

  [[nodiscard]] Tables tables() const { return {gpus, instances, wrong_names, rates, date}; }

 private:
  template <class T>
  static std::span<const T> keep_in(std::deque<std::vector<T>>& store, std::vector<T> list) {
    if (list.empty()) return {};
    return store.emplace_back(std::move(list));
  }

  std::unordered_set<std::string> strings_;
  std::deque<std::vector<Source>> sources_;
  std::deque<std::vector<Price>> prices_;
  std::deque<std::vector<std::string_view>> names_;
};

}  // namespace gpuadvisor::catalog
