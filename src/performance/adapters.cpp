#include "performance/adapters.hpp"

#include "calibration_data.hpp"
#include "performance/attention.hpp"

namespace gpuadvisor::performance {
namespace {

namespace speed = calibration::speed;
using workload::Quant;

constexpr double kNf4GatheredBytes = 0.55;  // half a byte and the block constants

bool has(const model::LoraSpec& lora, std::uint32_t target) { return (lora.targets & target) != 0; }

void add(AdapterWidths& widths, double in, double out) {
  widths.in += in;
  widths.out += out;
}

}  // namespace

AdapterWidths adapter_widths(const model::Architecture& m, const model::LayerKind& kind,
                             const model::LoraSpec& lora, double tp) {
  AdapterWidths widths;
  const double h = m.hidden, query = m.q_width() / tp, key = m.kv_width() / tp;
  const bool joint = lora.fused_qkv && has(lora, model::kTargetQ);
  if (joint) {
    add(widths, h, query + 2 * key);
  } else {
    if (has(lora, model::kTargetQ)) add(widths, h, query);
    if (has(lora, model::kTargetK)) add(widths, h, key);
    if (has(lora, model::kTargetV)) add(widths, h, key);
  }
  if (has(lora, model::kTargetO)) add(widths, m.out_width() / tp, h);
  const double copies = kind.moe ? m.experts_per_token : 1;
  const double width = kind.moe ? m.expert_ffn : kind.ffn / tp;
  if (width <= 0) return widths;
  if (has(lora, model::kTargetUp)) add(widths, copies * h, copies * width);
  if (m.gated && has(lora, model::kTargetGate)) add(widths, copies * h, copies * width);
  if (has(lora, model::kTargetDown)) add(widths, copies * width, copies * h);
  return widths;
}

double adapter_time(const Machine& machine, const workload::Training& training,
                    const AdapterWidths& widths, double tokens) {
  const double bytes = training.framework.adapter_in_bytes * widths.in +
                       training.framework.adapter_out_bytes * widths.out;
  const double flops = 4 * tokens * training.lora.rank * (widths.in + widths.out);
  return tokens * bytes * speed::peft / machine.elementwise_bw +
         flops / (speed::peft_gemm * machine.matmul / speed::e16);
}

double dequantise_time(const Machine& machine, Quant quant, double weights) {
  double bytes = 0;
  switch (quant) {
    case Quant::nf4:
    case Quant::nf4_dq:
    case Quant::fp4:
      bytes = speed::nf4;
      break;
    case Quant::gptq_int4:
    case Quant::gptq_int8:
    case Quant::awq_int4:
    case Quant::gguf:
      bytes = speed::gptq;
      break;
    case Quant::int8_bnb:
      bytes = speed::int8;
      break;
    case Quant::fp8:
      bytes = 3;
      break;
    case Quant::none:
      break;
  }
  return weights * bytes / machine.elementwise_bw;
}

double gathered_bytes(const Machine& machine, const workload::Training& training) {
  switch (training.quant) {
    case Quant::nf4:
    case Quant::nf4_dq:
    case Quant::fp4:
    case Quant::gptq_int4:
    case Quant::awq_int4:
    case Quant::gguf:
      return kNf4GatheredBytes;
    case Quant::int8_bnb:
    case Quant::gptq_int8:
    case Quant::fp8:
      return 1;
    case Quant::none:
      break;
  }
  return training.fp8_all_gather ? 1 : machine.element_bytes;
}

}  // namespace gpuadvisor::performance
