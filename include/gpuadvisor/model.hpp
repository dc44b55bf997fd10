// What architecture is it, and how many parameters are where. One data-driven
// description serves decoders, MoE, latent attention, hybrids, encoders and
// encoder-decoders; everything that later layers need is counted here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpuadvisor/units.hpp"

namespace gpuadvisor::model {

enum class Topology : std::uint8_t { decoder, encoder, encoder_decoder, vision, diffusion };
enum class Norm : std::uint8_t { rms, layer };  ///< layer norm with weight and bias
enum class Positions : std::uint8_t { rope, learned, alibi, relative, none };
/// What mixes tokens in a layer.
enum class Mixer : std::uint8_t {
  full,
  sliding,
  chunked,
  mla,
  delta_net,
  lightning,
  state_space,
  none,  ///< the layer has only an MLP (Nemotron-H style)
};

/// All layers of one structure. Widths are in elements of the whole model.
struct LayerKind {
  std::int32_t count = 0;  ///< how many layers are of this kind
  Mixer mixer = Mixer::full;
  std::int32_t window = 0;  ///< tokens seen by sliding or chunked attention; 0 all
  bool moe = false;         ///< experts instead of the dense MLP
  std::int32_t ffn = 0;     ///< width of the dense MLP of this layer (0 when moe)
  bool operator==(const LayerKind& other) const {
    return mixer == other.mixer && window == other.window && moe == other.moe && ffn == other.ffn;
  }
};

inline constexpr int kMaxLayerKinds = 8;
inline constexpr int kMaxLayers = 1024;

/// Structure of a model. Plain data, trivially copyable. 0 means "has none".
/// Fields that a row or config overrides can be set one by one; call
/// `count_parameters` again afterwards.
struct Architecture {
  std::string_view name = {};    ///< preset id, or empty; views live as long as the preset table
  std::string_view family = {};  ///< model_type, e.g. "llama"
  Topology topology = Topology::decoder;
  bool causal = true;

  std::int32_t layers = 0;    ///< L, decoder layers (encoder layers of an encoder)
  std::int32_t hidden = 0;    ///< h
  std::int32_t heads = 0;     ///< a, query heads
  std::int32_t kv_heads = 0;  ///< k
  std::int32_t head_dim = 0;  ///< d, of q and k
  std::int32_t ffn = 0;       ///< f, width of the dense MLP
  std::int32_t vocab = 0;     ///< V
  std::int32_t max_positions = 0;
  bool gated = true;  ///< gated MLP (three matrices)
  bool tied = false;  ///< head shares the embedding
  bool qkv_bias = false;
  bool key_bias = true;   ///< false: qkv_bias leaves out the key projection (Whisper)
  bool out_bias = false;  ///< bias of the attention output projection
  bool mlp_bias = false;
  bool head_bias = false;
  bool parallel_block = false;   ///< attention and MLP read the same norm
  bool attention_gate = false;   ///< doubled q projection (Qwen3-Next output gate)
  bool attention_sinks = false;  ///< one learned sink logit a head (gpt-oss)
  Norm norm = Norm::rms;
  bool norm_bias = false;  ///< LayerNorm with bias
  std::int32_t norms_per_layer = 2;
  std::int32_t qk_norm = 0;  ///< 0 none, 1 per head (head_dim weights), 2 full width, 3 no weights
  Positions positions = Positions::rope;
  std::int32_t learned_positions = 0;  ///< rows of a learned position table
  bool final_norm = true;
  std::int32_t embedding_dim = 0;  ///< width of the embedding where it is not hidden (OPT-350m)

  // Mixture of experts.
  std::int32_t experts = 0;            ///< E
  std::int32_t experts_per_token = 0;  ///< K
  std::int32_t expert_ffn = 0;         ///< fe
  std::int32_t shared_ffn = 0;         ///< fs, total width of shared experts
  bool router_bias = false;
  bool shared_gate = false;  ///< scalar gate on the shared expert

  // Multi-head latent attention.
  std::int32_t q_lora_rank = 0, kv_lora_rank = 0, qk_nope_dim = 0, qk_rope_dim = 0, v_head_dim = 0;
  std::int32_t index_heads = 0, index_head_dim = 0;  ///< sparse-attention indexer

  // Linear-attention and state layers.
  std::int32_t linear_key_heads = 0, linear_key_dim = 0, linear_value_heads = 0,
               linear_value_dim = 0, linear_conv = 0;
  // State-space (Mamba) layers: inner width, state size, convolution; heads and
  // groups of Mamba-2, or the rank of the step projection of Mamba-1.
  std::int32_t ssm_inner = 0, ssm_state = 0, ssm_conv = 0, ssm_heads = 0, ssm_groups = 0,
               ssm_dt_rank = 0;
  bool ssm_conv_bias = true, ssm_bias = false;
  bool ssm_norm = true;          ///< gated norm of Mamba-2 (ssm_inner weights)
  bool ssm_inner_norms = false;  ///< norms on step, B and C (Jamba)

  // Encoder of an encoder-decoder, vision tower, extra layers.
  std::int32_t encoder_layers = 0;
  std::int32_t encoder_ffn = 0;
  bool cross_attention = false;    ///< each decoder layer also attends to the encoder
  std::int32_t mtp_layers = 0;     ///< multi-token-prediction layers, stored but not counted
  bool mtp_own_embedding = false;  ///< MTP layers store copies of embedding and head
  double vision_parameters = 0;    ///< tower and projector
  double pooler_parameters = 0;    ///< pooler of an encoder: in the total, not active
  double extra_parameters = 0;     ///< embedding norms, sinks, poolers... counted exactly

  // Layer structure: kinds, and which kind each layer is.
  std::array<LayerKind, kMaxLayerKinds> kinds{};
  std::int32_t kind_count = 0;
  std::array<std::uint8_t, kMaxLayers> kind_of_layer{};

  double parameters_reported = 0;  ///< the published count where no formula exists, or an override
  std::string_view torch_dtype = "bfloat16";
  std::string_view licence = {};  ///< where known

  [[nodiscard]] bool is_moe() const { return experts > 0; }
  [[nodiscard]] bool is_mla() const { return kv_lora_rank > 0; }
  /// Width of q (a·d) and of the attention output (a·dv).
  [[nodiscard]] double q_width() const { return static_cast<double>(heads) * head_dim; }
  [[nodiscard]] double kv_width() const { return static_cast<double>(kv_heads) * head_dim; }
  [[nodiscard]] double out_width() const {
    return static_cast<double>(heads) * (v_head_dim > 0 ? v_head_dim : head_dim);
  }
};

/// Parameters of one layer of a kind, in the parts that are sharded alike.
struct LayerParameters {
  double attention = 0;        ///< matrices that tensor parallelism divides
  double attention_whole = 0;  ///< kept whole on each tensor rank (MLA down projections, ...)
  double mlp = 0;              ///< dense MLP matrices
  double experts = 0;          ///< all routed experts
  double shared = 0;           ///< shared experts
  double router = 0;           ///< whole on each tensor rank
  double small = 0;            ///< norms and biases
  [[nodiscard]] double total() const {
    return attention + attention_whole + mlp + experts + shared + router + small;
  }
};

/// Exact parameter counts of an architecture.
struct ParameterCounts {
  double total = 0;       ///< no MTP layers, no scales, no buffers; a tied head once
  double active = 0;      ///< used by one token, embedding and head included
  double checkpoint = 0;  ///< what the published file stores
  double embedding = 0;   ///< V·h
  double positions = 0;   ///< learned position table
  double head = 0;        ///< output head matrix and bias, 0 when tied
  double final_norm = 0;
  double encoder = 0;  ///< encoder stack of an encoder-decoder
  double vision = 0;
  double other = 0;                                     ///< whatever is in none of the above
  std::array<LayerParameters, kMaxLayerKinds> layer{};  ///< by kind
  LayerParameters encoder_layer{};                      ///< one encoder layer of an encoder-decoder
};

/// Sets the number of layers, cutting or repeating the layer pattern, and
/// recomputes the kinds. `layers` in [1, kMaxLayers]; clamped otherwise.
void set_layers(Architecture& architecture, std::int32_t layers);

/// Builds `layers`, `kinds` and `kind_of_layer` from one entry a layer. False when
/// there are more than kMaxLayerKinds kinds or kMaxLayers layers.
[[nodiscard]] bool set_layer_kinds(Architecture& architecture, std::span<const LayerKind> layers);

/// Fills `kinds` and `kind_of_layer` of a uniform model (all layers alike) when
/// they are empty. Harmless otherwise.
void fill_uniform_layers(Architecture& architecture);

/// Counts every parameter. Valid for architectures with layers, hidden, heads > 0.
/// When `parameters_reported` is set it is the total, and `other` holds the
/// difference from the parts (negative when they exceed it).
[[nodiscard]] ParameterCounts count_parameters(const Architecture& architecture);

// --- compute facts -----------------------------------------------------------

/// Forward FLOPs of one token at sequence length `seq_len` (2 per multiply-add).
struct ForwardFlops {
  double matmul = 0;     ///< all weight matrices but the head
  double attention = 0;  ///< scores and values, causal halving applied for causal models
  double head = 0;
  [[nodiscard]] double total() const { return matmul + attention + head; }
};
[[nodiscard]] ForwardFlops forward_flops_per_token(const Architecture& architecture,
                                                   double seq_len);

/// KV-cache bytes one more token takes at context 0 (all layers, before windows
/// saturate), for a cache of `bytes_per_element`.
[[nodiscard]] double kv_bytes_per_token(const Architecture& architecture, double bytes_per_element);
/// KV-cache and state bytes of one sequence of `tokens` tokens, windows respected.
[[nodiscard]] double kv_bytes_per_sequence(const Architecture& architecture, double tokens,
                                           double bytes_per_element);

// --- LoRA --------------------------------------------------------------------

/// Modules an adapter may target; fused names expand to several bits.
enum Target : std::uint32_t {
  kTargetQ = 1,
  kTargetK = 2,
  kTargetV = 4,
  kTargetO = 8,
  kTargetGate = 16,
  kTargetUp = 32,
  kTargetDown = 64,
  kTargetHead = 128,
  kTargetEmbedding = 256,
  kTargetRouter = 512,
  kTargetAttention = 15,
  kTargetMlp = 112,
  kTargetAllLinear = 127,
};
/// Bits of one module name ("q_proj", "c_attn", "qkv_proj", "gate_up_proj",
/// "all-linear", "query", "projection", "w1", ...); 0 for an unknown name. The
/// family decides names that differ (Qwen-1's w1, w2, c_proj).
[[nodiscard]] std::uint32_t target_bits(std::string_view module, const Architecture& architecture);

struct LoraSpec {
  std::int32_t rank = 8;
  std::uint32_t targets = kTargetAttention;
  bool fused_qkv = false;  ///< one adapter on the joint qkv matrix
  bool fused_gate_up = false;
  bool dora = false;
  std::array<std::int32_t, 10> rank_of{};  ///< by bit number of Target; 0: `rank` (rank_pattern)
};
/// Trainable adapter parameters: sum of r·(in + out) over targets and layers
/// (every expert has its own), plus the DoRA magnitudes (one a row of each target).
/// kTargetAllLinear also reaches the projections of linear-attention layers; the
/// router and the output head only when named.
[[nodiscard]] double lora_parameters(const Architecture& architecture, const LoraSpec& lora);

// --- presets and synthetic shapes -----------------------------------------------

struct ReportedCount {
  double count = 0;
  std::string_view what;
  std::string_view source;
};
struct Preset {
  std::string_view id;
  std::string_view hub_id;
  std::string_view task;
  Architecture architecture;
  double parameters_total = 0;
  double parameters_active = 0;
  double checkpoint_parameters = 0;
  std::string_view check;  ///< how the count was confirmed
  std::string_view source;
  std::string_view notes;
  std::span<const ReportedCount> reported;
  double weights_bytes = 0;       ///< of the published file, in its own dtypes
  double kv_bytes_per_token = 0;  ///< 16-bit cache
  std::span<const ReportedCount>
      checkpoint_extra;  ///< what the published file stores beyond the total
};
/// All presets, sorted by id.
[[nodiscard]] std::span<const Preset> presets();
[[nodiscard]] const Preset* find_preset(std::string_view id);  ///< exact id, or null
/// By id, hub id ("Qwen/Qwen2.5-72B-Instruct") or a loose spelling; else an error
/// with near misses.
[[nodiscard]] Result<const Preset*> resolve_preset(std::string_view name, std::string_view where);

/// A plausible architecture with about `total` parameters (within 1%): a known
/// shape near that size, scaled. `active` > 0 asks for a MoE. `note` tells which
/// shape was taken.
struct SyntheticModel {
  Architecture architecture;
  std::string note;
};
[[nodiscard]] Result<SyntheticModel> synthesize(double total, std::optional<double> active);

// --- model files -----------------------------------------------------------------
// The readers take bytes and text only. They check sizes before they allocate, keep
// nothing proportional to a size that a file merely claims, and refuse what is
// truncated, overlapping, duplicated or nested without end.

/// How the weights of a file are stored.
struct Quantization {
  std::string method;  ///< quant_method: "gptq", "awq", "bitsandbytes", "fp8", "modelopt",
                       ///< "gguf"...; empty none
  std::string
      format;  ///< "int4", "int8", "nf4", "fp4", "fp8", "mxfp4", "nvfp4", "mixed"; empty none
  std::string_view run_as;      ///< name of workload::Quant ("gptq_int4", "nf4_dq", ...), or "none"
  double bits = 0;              ///< of one quantised weight
  double bits_stored = 0;       ///< with its share of scales and zero points
  std::int32_t group_size = 0;  ///< weights that share a scale; 0: a channel, a tensor or a block
  bool zero_points = false;
  bool double_quant = false;
  double kv_cache_bits = 0;  ///< 0: not said
  std::vector<std::string>
      skipped;  ///< modules that stay in full precision, as the file names them
  [[nodiscard]] bool any() const { return !method.empty(); }
};

struct DtypeShare {
  std::string dtype;  ///< "BF16", "F8_E4M3", "Q4_K", ...
  std::int64_t tensors = 0;
  double elements = 0;
  double bytes = 0;
};

/// Sums over the tensors of a file or folder.
struct TensorSummary {
  std::int64_t files = 0, tensors = 0;
  double parameters =
      0;  ///< weights, packed ones unpacked; no scales, buffers, MTP layers, tied-head copies
  double stored =
      0;  ///< all elements as a file lists them, unpacked weights and everything beside them
  double side = 0;  ///< scales, zero points, buffers
  double mtp = 0;   ///< multi-token-prediction layers
  double bytes = 0;
  std::vector<DtypeShare> dtypes;  ///< by bytes, largest first
};

/// A PEFT adapter.
struct Adapter {
  std::string peft_type;   ///< "LORA", ...
  std::string base_model;  ///< as the file names it
  LoraSpec lora;
  double alpha = 0;
  double lora_parameters = 0;   ///< 0 when the base is unknown
  double saved_parameters = 0;  ///< full copies of modules_to_save
  std::vector<std::string> targets;
};

/// What a file or folder says about a model.
struct ModelFile {
  std::string kind;  ///< "config", "safetensors", "gguf", "adapter", "folder"
  std::string name;  ///< as the file says, or the preset it equals, or empty
  std::string model_type;
  Architecture architecture;  ///< `name` is empty: use `name` above
  double parameters_total = 0, parameters_active = 0, checkpoint_parameters = 0;
  double weights_bytes = 0;  ///< exact with tensors, else computed from dtypes
  bool exact = true;         ///< false: something is estimated or not counted, see `warnings`
  Quantization quantization;
  std::optional<TensorSummary> tensors;
  std::optional<Adapter> adapter;
  std::vector<std::string> warnings;
};

/// Random access to the bytes of one file.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Reads up to `into.size()` bytes at `offset`; fewer only at the end or on failure.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> into) = 0;
};

/// A folder of files; names without path.
class FileSource {
 public:
  virtual ~FileSource() = default;
  [[nodiscard]] virtual std::vector<std::string> list() const = 0;
  /// Null when the file cannot be opened.
  [[nodiscard]] virtual std::unique_ptr<ByteSource> open(const std::string& name) const = 0;
};

/// A config.json of any known model_type. Errors (input): broken JSON, sizes missing
/// or absurd, a structure that cannot be counted, an unknown model_type.
[[nodiscard]] Result<ModelFile> read_config(std::string_view json, std::string_view where);
/// One .safetensors file (its header only): exact counts, a best-effort shape.
[[nodiscard]] Result<ModelFile> read_safetensors(ByteSource& file, std::string_view where);
/// One .gguf file (metadata and tensor table): exact counts, shape from metadata.
[[nodiscard]] Result<ModelFile> read_gguf(ByteSource& file, std::string_view where);
/// adapter_config.json of PEFT; the base model is looked up among the presets.
[[nodiscard]] Result<ModelFile> read_adapter(std::string_view json, std::string_view where);
/// The file `name` of a folder, by its content; an index or a shard brings in the
/// files it names. Empty `name`: the whole folder, its parts checked against each other.
[[nodiscard]] Result<ModelFile> read_model(const FileSource& folder, const std::string& name,
                                           std::string_view where);

/// Bytes of the weights of an architecture stored as `quantization` says, in `dtype`
/// otherwise ("bfloat16"...): linear layers quantised; embedding, head, norms and
/// router not. `extra` more parameters in the dtype.
[[nodiscard]] double stored_weights_bytes(const Architecture& architecture,
                                          const Quantization& quantization, std::string_view dtype,
                                          double extra = 0);

}  // namespace gpuadvisor::model
