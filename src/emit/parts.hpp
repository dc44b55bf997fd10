// Pieces that several targets share, and the writer of each target.
#pragma once

#include <string>
#include <string_view>

#include "gpuadvisor/emit.hpp"

namespace gpuadvisor::emit {

/// "16-bit", or the name of the quantisation.
std::string_view format_words(serving::Quant quant);
/// Hub id of the model, or a variable that the user must set.
std::string model_reference(const Job& job);
/// "#!/usr/bin/env bash", strict mode, and what the file was written for.
std::string script_head(const Job& job, std::string_view purpose);
/// One line that says what the file was written for.
std::string describe_job(const Job& job);
std::int64_t micro_batches(const Job& job);
bool offloads(const Job& job, std::uint8_t bit);
/// The command that starts a replica with the engine, without a line break.
Result<std::string> serve_command(const Job& job, Target engine);

Result<std::string> deepspeed(const Job& job);
Result<std::string> fsdp(const Job& job);
Result<std::string> megatron(const Job& job);
Result<std::string> torchtitan(const Job& job);
Result<std::string> slurm(const Job& job);
Result<std::string> serve_script(const Job& job, Target engine);
Result<std::string> aliyun(const Job& job);
Result<std::string> terraform(const Job& job);
Result<std::string> pai_dlc(const Job& job);
Result<std::string> pai_eas(const Job& job);

}  // namespace gpuadvisor::emit
