// Bits of a weight and bytes of the weights on one rank. Group scales: GPTQ and AWQ
// keep a 16-bit scale and a zero point a group of 128; fp8 a 32-bit scale a block of
// 128 x 128; NVFP4 an fp8 scale a group of 16; MXFP4 an 8-bit exponent a group of 32;
// NF4 a 32-bit constant a group of 64 (8 bit plus 32/256 when quantised again).
#include <algorithm>

#include "gpuadvisor/serving.hpp"
#include "serving/gguf.hpp"

namespace gpuadvisor::serving {
namespace {

bool is_gptq(Quant quant) { return quant == Quant::gptq_int4 || quant == Quant::gptq_int8; }

/// Copies of k and v that tensor parallelism makes when it exceeds the KV heads.
double replicated_key_value(const Model& model, const Plan& plan) {
  const double heads = std::max(1, model.architecture.kv_heads);
  if (model.architecture.is_mla() || plan.tp <= heads) return 0;
  return model.key_value * (plan.tp / heads - 1);
}

}  // namespace

double bits_per_weight(Quant quant) {
  if (is_gguf(quant)) return gguf_base_bits(quant);
  switch (quant) {
    case Quant::fp32:
      return 32;
    case Quant::fp8:
      return 8.0 + 32.0 / (128 * 128);
    case Quant::int8:
      return 8.0;
    case Quant::int8_bnb:
      return 8.0;
    case Quant::gptq_int8:
      return 8.0 + 16.0 / 128 + 8.0 / 128;
    case Quant::gptq_int4:
    case Quant::awq_int4:
      return 4.0 + 16.0 / 128 + 4.0 / 128;
    case Quant::fp4:
      return 4.0 + 8.0 / 16;
    case Quant::mxfp4:
      return 4.0 + 8.0 / 32;
    case Quant::nf4:
      return 4.0 + 32.0 / 64;
    case Quant::nf4_dq:
      return 4.0 + 8.0 / 64 + 32.0 / (64 * 256);
    default:
      return 16;
  }
}

double weight_bytes(const Model& model, Quant quant, const Plan& plan, const EngineProfile&) {
  const double t = plan.tp;
  if (is_gguf(quant)) return gguf_bytes(model, quant) / (t * plan.pp);
  const double bytes = bits_per_weight(quant) / 8;
  const double plain = quant == Quant::fp32 ? 4 : 2;
  const double ends = plain * (model.embedding + model.stored_head);
  const double index = is_gptq(quant) ? model.g_idx : 0;
  if (plan.dp_attention)
    return ((model.attention + model.dense + model.experts / t) * bytes + plain * model.rest) /
               plan.pp +
           ends;
  const double divided = model.attention - model.attention_whole + model.dense + model.experts +
                         replicated_key_value(model, plan);
  // Of a pipeline the first or last stage is the worst: it holds one end.
  const double share_of_ends = plan.pp > 1 ? std::max(model.embedding, model.head) * plain : ends;
  return (divided * bytes + index) / (t * plan.pp) + share_of_ends / t +
         (model.attention_whole * bytes + plain * model.rest) / plan.pp;
}

}  // namespace gpuadvisor::serving
