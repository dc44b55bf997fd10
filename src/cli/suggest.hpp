// Wording of errors: quoted text, lists of names, "did you mean".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpuadvisor::cli {

/// `text` in quotes, control bytes replaced, cut when long.
[[nodiscard]] std::string quote(std::string_view text);

/// "a, b or c".
[[nodiscard]] std::string join(std::span<const std::string_view> names, std::string_view last);

/// "did you mean 'x'?" when a name is near, else `otherwise`.
[[nodiscard]] std::string hint_for(std::string_view name, std::span<const std::string_view> names,
                                   std::string_view otherwise);

}  // namespace gpuadvisor::cli
