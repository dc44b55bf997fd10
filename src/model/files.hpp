// What the readers of single files and of folders share.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "model/config.hpp"
#include "model/tensors.hpp"

namespace gpuadvisor::model {

/// Fills the counts and bytes of `out` from its architecture, storage and tensors.
void set_counts(ModelFile& out);
void set_tensors(const TensorScan& scan, ModelFile& out);
[[nodiscard]] Result<ModelFile> model_of_config(const nlohmann::json& document,
                                                std::string_view where);
[[nodiscard]] Result<ModelFile> model_of_tensors(const TensorScan& scan, std::string_view where);
[[nodiscard]] Result<ModelFile> read_gguf_files(std::span<const std::unique_ptr<ByteSource>> files,
                                                std::string_view where);
/// 7241732096 -> "7,241,732,096".
[[nodiscard]] std::string grouped(double value);

}  // namespace gpuadvisor::model
