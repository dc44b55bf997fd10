#include "gpuadvisor/advisor.hpp"

namespace gpuadvisor::advisor {

std::string_view to_string(WarningCode code) {
  switch (code) {
    case WarningCode::no_bf16:
      return "no_bf16";
    case WarningCode::no_flash_attention:
      return "no_flash_attention";
    case WarningCode::pcie_only:
      return "pcie_only";
    case WarningCode::no_rdma:
      return "no_rdma";
    case WarningCode::old_price:
      return "old_price";
    case WarningCode::observed_price:
      return "observed_price";
    case WarningCode::no_price:
      return "no_price";
    case WarningCode::unvalidated_gpu:
      return "unvalidated_gpu";
    case WarningCode::unvalidated:
      return "unvalidated";
    case WarningCode::tight_memory:
      return "tight_memory";
    case WarningCode::capacity_bound:
      return "capacity_bound";
    case WarningCode::fragmentation:
      return "fragmentation";
    case WarningCode::retired_type:
      return "retired_type";
    case WarningCode::note:
      return "note";
  }
  return "";
}

std::string_view to_string(RejectCode code) {
  switch (code) {
    case RejectCode::gpu_memory:
      return "gpu_memory";
    case RejectCode::host_memory:
      return "host_memory";
    case RejectCode::dtype_unsupported:
      return "dtype_unsupported";
    case RejectCode::no_legal_plan:
      return "no_legal_plan";
    case RejectCode::budget:
      return "budget";
    case RejectCode::deadline:
      return "deadline";
    case RejectCode::max_gpus:
      return "max_gpus";
    case RejectCode::rdma_required:
      return "rdma_required";
    case RejectCode::no_price:
      return "no_price";
    case RejectCode::incomplete_facts:
      return "incomplete_facts";
  }
  return "";
}

std::string_view to_string(Objective value) {
  switch (value) {
    case Objective::balanced:
      return "balanced";
    case Objective::cheapest:
      return "cheapest";
    case Objective::fastest:
      return "fastest";
    case Objective::fewest_gpus:
      return "fewest-gpus";
  }
  return "";
}

}  // namespace gpuadvisor::advisor
