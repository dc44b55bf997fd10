// The rules by which llama.cpp chooses a type for each tensor (llama-quant,
// llama_tensor_get_type), as a table: base type of the kind and its exceptions.
#include "serving/gguf.hpp"

#include <array>

namespace gpuadvisor::serving {
namespace {

enum class Type : std::uint8_t {
  f32,
  f16,
  q8_0,
  q6_k,
  q5_k,
  q5_0,
  q5_1,
  q4_k,
  q4_0,
  q4_1,
  iq4_nl,
  iq4_xs,
  q3_k,
  iq3_s,
  iq3_xxs,
  q2_k,
  iq2_s,
  iq2_xs,
  iq2_xxs,
  iq1_m,
  iq1_s
};
constexpr double kBits[] = {32,     16,    8.5,    6.5625, 5.5,    5.5,    6,
                            4.5,    4.5,   5,      4.5,    4.25,   3.4375, 3.4375,
                            3.0625, 2.625, 2.5625, 2.3125, 2.0625, 1.75,   1.5625};

/// In which layers an exception holds; the first that holds wins.
enum class Scope : std::uint8_t { never, all, gqa, first2, first4, sixteenth, early, more, edges };

struct Rule {
  Type type = Type::f16;
  Scope scope = Scope::never;
};

struct Mix {
  Type base = Type::f16, head = Type::f16, embedding = Type::f16;
  std::array<Rule, 2> v{};
  Rule out{};
  std::array<Rule, 2> down{};
  Rule query_key{};
  Rule gate_up{};
  bool low = false;  ///< the iq1 and iq2 kinds keep their v type in the 70B shape
};

constexpr Mix plain(Type type, Type head) {
  Mix mix;
  mix.base = mix.embedding = type;
  mix.head = head;
  return mix;
}

constexpr Mix k_mix(Type base, Rule v0, Rule v1, Rule out, Rule down0, Rule down1) {
  Mix mix = plain(base, Type::q6_k);
  mix.v = {v0, v1};
  mix.out = out;
  mix.down = {down0, down1};
  return mix;
}

constexpr Mix iq3(Type base, Rule v, Rule out, Rule down, Rule query_key, Rule gate_up) {
  Mix mix = k_mix(base, v, {}, out, down, {});
  mix.query_key = query_key;
  mix.gate_up = gate_up;
  return mix;
}

/// The 1- and 2-bit kinds: better v and first down projections, small embedding.
constexpr Mix low_mix(Type base, Type v, Rule out, Type down, Type embedding) {
  Mix mix = k_mix(base, {Type::q4_k, Scope::gqa}, {v, Scope::all}, out, {down, Scope::early}, {});
  mix.head = Type::q5_k;
  mix.embedding = embedding;
  mix.low = true;
  return mix;
}

Mix mix_of(Quant quant) {
  constexpr Rule none{};
  constexpr Rule q4_gqa{Type::q4_k, Scope::gqa};
  switch (quant) {
    case Quant::gguf_f32:
      return plain(Type::f32, Type::f32);
    case Quant::gguf_q8_0:
      return plain(Type::q8_0, Type::q8_0);
    case Quant::gguf_q6_k:
      return plain(Type::q6_k, Type::q6_k);
    case Quant::gguf_q5_k_s:
      return plain(Type::q5_k, Type::q6_k);
    case Quant::gguf_q5_0:
      return plain(Type::q5_0, Type::q6_k);
    case Quant::gguf_q5_1:
      return plain(Type::q5_1, Type::q6_k);
    case Quant::gguf_q4_0:
      return plain(Type::q4_0, Type::q6_k);
    case Quant::gguf_q4_1:
      return plain(Type::q4_1, Type::q6_k);
    case Quant::gguf_q5_k_m:
      return k_mix(Type::q5_k, {Type::q6_k, Scope::more}, none, none, {Type::q6_k, Scope::more},
                   none);
    case Quant::gguf_q4_k_m:
      return k_mix(Type::q4_k, {Type::q6_k, Scope::more}, none, none, {Type::q6_k, Scope::more},
                   none);
    case Quant::gguf_q4_k_s:
      return k_mix(Type::q4_k, {Type::q5_k, Scope::first4}, none, none, {Type::q5_k, Scope::early},
                   none);
    case Quant::gguf_iq4_nl:
      return k_mix(Type::iq4_nl, {Type::q5_k, Scope::gqa}, none, none, none, none);
    case Quant::gguf_iq4_xs:
      return k_mix(Type::iq4_xs, {Type::q5_k, Scope::gqa}, none, none, none, none);
    case Quant::gguf_q3_k_l:
      return k_mix(Type::q3_k, {Type::q5_k, Scope::all}, none, {Type::q5_k, Scope::all},
                   {Type::q5_k, Scope::all}, none);
    case Quant::gguf_q3_k_m:
      return k_mix(Type::q3_k, {Type::q5_k, Scope::first2}, {Type::q4_k, Scope::all},
                   {Type::q4_k, Scope::all}, {Type::q5_k, Scope::sixteenth},
                   {Type::q4_k, Scope::all});
    case Quant::gguf_q3_k_s:
      return plain(Type::q3_k, Type::q6_k);
    case Quant::gguf_q2_k:
      return k_mix(Type::q2_k, q4_gqa, {Type::q3_k, Scope::all}, {Type::q3_k, Scope::all},
                   {Type::q3_k, Scope::all}, none);
    case Quant::gguf_iq3_m:
      return iq3(Type::iq3_s, {Type::q4_k, Scope::all}, {Type::q4_k, Scope::all},
                 {Type::q4_k, Scope::early}, none, none);
    case Quant::gguf_iq3_s:
      return iq3(Type::iq3_s, q4_gqa, none, none, none, none);
    case Quant::gguf_iq3_xs:
      return iq3(Type::iq3_s, q4_gqa, none, none, {Type::iq3_xxs, Scope::all},
                 {Type::iq3_xxs, Scope::edges});
    case Quant::gguf_iq3_xxs: {
      Mix mix = iq3(Type::iq3_xxs, q4_gqa, {Type::iq3_s, Scope::all}, none,
                    {Type::iq2_s, Scope::all}, none);
      mix.head = Type::q5_k;
      mix.embedding = Type::iq3_s;
      return mix;
    }
    case Quant::gguf_iq2_m:
      return low_mix(Type::iq2_s, Type::iq3_s, {Type::iq3_s, Scope::all}, Type::iq3_s, Type::iq3_s);
    case Quant::gguf_iq2_s:
      return low_mix(Type::iq2_xs, Type::iq3_s, {Type::iq3_s, Scope::all}, Type::iq3_s,
                     Type::iq3_s);
    case Quant::gguf_iq2_xs:
      return low_mix(Type::iq2_xs, Type::q2_k, none, Type::q2_k, Type::q2_k);
    case Quant::gguf_iq2_xxs:
      return low_mix(Type::iq2_xxs, Type::q2_k, none, Type::q2_k, Type::q2_k);
    case Quant::gguf_iq1_m:
      return low_mix(Type::iq1_m, Type::q2_k, {Type::iq2_xxs, Scope::all}, Type::q2_k, Type::q2_k);
    case Quant::gguf_iq1_s:
      return low_mix(Type::iq1_s, Type::q2_k, {Type::iq2_xxs, Scope::all}, Type::q2_k, Type::q2_k);
    default:
      return plain(Type::f16, Type::f16);
  }
}

struct Shape {
  int layers = 0, group = 1, experts = 0;
};

bool holds(Scope scope, int layer, const Shape& shape) {
  const int eighth = shape.layers / 8;
  switch (scope) {
    case Scope::never:
      return false;
    case Scope::all:
      return true;
    case Scope::gqa:
      return shape.group >= 4;
    case Scope::first2:
      return layer < 2;
    case Scope::first4:
      return layer < 4;
    case Scope::sixteenth:
      return layer < shape.layers / 16;
    case Scope::early:
      return layer < eighth;
    case Scope::edges:
      return layer < eighth || layer >= 7 * shape.layers / 8;
    case Scope::more:
      return layer < eighth || layer >= 7 * shape.layers / 8 || (layer - eighth) % 3 == 2;
  }
  return false;
}

Type choose(Type base, const Rule& rule, int layer, const Shape& shape) {
  return holds(rule.scope, layer, shape) ? rule.type : base;
}

Type choose(Type base, const std::array<Rule, 2>& rules, int layer, const Shape& shape) {
  for (const Rule& rule : rules)
    if (holds(rule.scope, layer, shape)) return rule.type;
  return base;
}

double bytes(Type type) { return kBits[static_cast<std::size_t>(type)] / 8; }

Type value_type(const Mix& mix, int layer, const Shape& shape) {
  if (shape.experts == 8 && mix.base != Type::f16 && mix.base != Type::f32) return Type::q8_0;
  const Type type = choose(mix.base, mix.v, layer, shape);
  const bool seventy = shape.layers == 80 && shape.group >= 8 && !mix.low;
  return seventy && (type == Type::q3_k || type == Type::q4_k) ? Type::q5_k : type;
}

/// Token mixer of one layer: q, k, v and output apart where the shape is grouped-query.
double attention_bytes(const Model& model, const Mix& mix, int layer, const Shape& shape,
                       double parameters) {
  const model::Architecture& a = model.architecture;
  const double q = a.hidden * a.q_width(), kv = a.hidden * a.kv_width();
  if (a.is_mla() || parameters < 2 * q + 2 * kv - 1) return parameters * bytes(mix.base);
  const Type qk = choose(mix.base, mix.query_key, layer, shape);
  const Type key = shape.experts == 8 ? value_type(mix, layer, shape) : qk;
  return (q + parameters - 2 * q - 2 * kv) * bytes(qk) + kv * bytes(key) +
         kv * bytes(value_type(mix, layer, shape)) +
         q * bytes(choose(mix.base, mix.out, layer, shape));
}

double mlp_bytes(const Model& model, const Mix& mix, int layer, const Shape& shape,
                 double parameters) {
  const double down = parameters / (model.architecture.gated ? 3 : 2);
  return down * bytes(choose(mix.base, mix.down, layer, shape)) +
         (parameters - down) * bytes(choose(mix.base, mix.gate_up, layer, shape));
}

}  // namespace

double gguf_base_bits(Quant quant) { return bytes(mix_of(quant).base) * 8; }

double gguf_bytes(const Model& model, Quant quant) {
  const model::Architecture& a = model.architecture;
  const Mix mix = mix_of(quant);
  const Shape shape{a.layers, a.kv_heads > 0 ? a.heads / a.kv_heads : 1, a.experts};
  double total = 0;
  for (int layer = 0; layer < a.layers; ++layer) {
    const auto kind = a.kind_of_layer[static_cast<std::size_t>(layer)];
    const model::LayerParameters& p = model.counts.layer[kind];
    total += attention_bytes(model, mix, layer, shape, p.attention + p.attention_whole) +
             mlp_bytes(model, mix, layer, shape, p.mlp + p.experts + p.shared);
  }
  const double text_rest = model.rest - model.counts.vision;
  const bool tied = model.stored_head <= 0;
  total += (tied ? 0 : model.stored_head * bytes(mix.head)) +
           model.embedding * bytes(tied ? mix.head : mix.embedding) + text_rest * 4;
  return total;
}

}  // namespace gpuadvisor::serving
