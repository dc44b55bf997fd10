#include <fmt/format.h>

#include "catalog/reader.hpp"

namespace gpuadvisor::catalog {
namespace {

constexpr int kMaxGpus = 1024;
constexpr int kMaxVcpus = 100000;

void read_rdma(ObjectReader& object, Instance& instance) {
  auto rdma = object.optional_object("rdma");
  instance.rdma_known = rdma.has_value();
  if (!rdma) return;
  instance.rdma = rdma->choice<Fabric>("fabric", kFabricNames);
  instance.rdma_bandwidth = rdma->optional_quantity("bandwidth", Dimension::bandwidth);
  if (instance.rdma == Fabric::none && instance.rdma_bandwidth > 0)
    rdma->refuse("bandwidth", "expected no bandwidth with fabric none");
  rdma->finish();
}

void read_link(ObjectReader& object, Instance& instance) {
  if (auto link = object.optional_object("link")) {
    instance.link = link->choice<NodeLink>("kind", kNodeLinkNames);
    instance.link_bandwidth = link->optional_quantity("bandwidth", Dimension::bandwidth);
    link->finish();
  }
  if (object.ok() && (instance.gpus > 1) == (instance.link == NodeLink::single))
    object.refuse("link", "expected kind single for one GPU, pcie or nvlink for more");
}

std::span<const Source> read_source_keys(ObjectReader& object, const SourceTable& table) {
  std::vector<Source> list;
  for (const std::string_view key : object.optional_texts("sources"))
    list.push_back(table.find(key, object, fmt::format("sources/{}", list.size())));
  if (object.ok() && list.empty()) object.refuse("sources", "expected at least one source key");
  return object.records().keep(std::move(list));
}

Instance read_instance(ObjectReader& object, const SourceTable& table) {
  Instance instance;
  instance.name = object.text("name");
  instance.kind = object.choice<InstanceKind>("kind", kInstanceKindNames);
  instance.status = object.choice<InstanceStatus>("status", kInstanceStatusNames);
  instance.gpu = object.optional_text("gpu");
  instance.gpu_text = object.text("gpu_text");
  instance.gpus = object.integer("gpus", 1, kMaxGpus);
  instance.gpu_fraction = object.optional_number("gpu_fraction", 0.001, 1.0, 1.0);
  instance.gpu_memory_bytes = object.optional_quantity("gpu_memory", Dimension::bytes);
  instance.vcpus = object.optional_integer("vcpus", 1, kMaxVcpus, 0);
  instance.memory_bytes = object.optional_quantity("memory", Dimension::bytes);
  instance.network_bandwidth = object.optional_quantity("network", Dimension::bandwidth);
  read_rdma(object, instance);
  read_link(object, instance);
  instance.local_disk_bytes = object.optional_quantity("local_disk", Dimension::bytes);
  instance.cpu = object.optional_text("cpu");
  instance.sources = read_source_keys(object, table);
  instance.notes = object.optional_texts("notes");
  object.finish();
  return instance;
}

}  // namespace

void read_instances(ObjectReader& object, const std::string& file, Draft& draft) {
  const std::string_view provider = object.text("provider");
  const std::string_view family = object.text("family");
  const std::string_view checked = object.date("checked");
  const SourceTable sources(object);
  for (ObjectReader& member : object.objects("instances")) {
    Instance instance = read_instance(member, sources);
    instance.provider = provider;
    instance.family = family;
    instance.checked = checked;
    const std::string place = file + ": " + member.path();
    if (!instance.gpu.empty()) draft.gpu_references.push_back({instance.gpu, place + "/gpu"});
    draft.records.instances.push_back(instance);
    draft.instance_places.push_back(place);
  }
}

}  // namespace gpuadvisor::catalog
