//===- GraphPlan.cpp - Plans over cuDNN's frontend ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphPlan.h"

#include <dlfcn.h>
#include <map>
#include <mutex>
#include <unordered_map>

/// The frontend looks up each function of cuDNN in this library.
void *cudnn_frontend::cudnn_dlhandle = nullptr;

namespace amp::cudnn {
namespace {

thread_local std::string lastError;

/// Runs `body`, which throws, and returns the code of its error.
int32_t guard(const std::function<void()> &body) {
  try {
    body();
    lastError.clear();
    return AMP_CUDNN_OK;
  } catch (const Error &error) {
    lastError = error.message;
    return error.code;
  } catch (const std::exception &error) {
    // The frontend throws if it cannot find a library or a function.
    lastError = error.what();
    return AMP_CUDNN_UNAVAILABLE;
  }
}

/// Loads cuDNN for the rest of the process.
void loadLibrary() {
  static const std::string message = [] {
    for (const char *name : {"libcudnn.so.9", "libcudnn.so"})
      if ((fe::cudnn_dlhandle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)))
        return std::string();
    return std::string("cannot load cuDNN: ") + ::dlerror();
  }();
  if (!message.empty())
    throw Error{AMP_CUDNN_UNAVAILABLE, message};
}

void check(fe::error_t error, int32_t code) {
  if (error.is_bad())
    throw Error{code, error.get_message()};
}

void check(cudnnStatus_t status, const char *what, int32_t code) {
  if (status != CUDNN_STATUS_SUCCESS)
    throw Error{code, std::string(what) + ": " +
                          fe::detail::get_error_string(status)};
}

} // namespace

/// The handle of a device, which lives as long as the process, and the lock
/// that keeps two threads from setting its stream.
struct Handle {
  cudnnHandle_t value = nullptr;
  std::mutex lock;
};

namespace {

Handle &getHandle() {
  static std::mutex lock;
  static std::map<int, Handle> &handles = *new std::map<int, Handle>;
  int device = 0;
  if (fe::detail::cuda_get_device(&device) != cudaSuccess)
    throw Error{AMP_CUDNN_UNAVAILABLE, "there is no GPU for cuDNN"};
  std::lock_guard<std::mutex> guard(lock);
  Handle &handle = handles[device];
  if (!handle.value)
    check(fe::detail::create_handle(&handle.value), "cannot start cuDNN",
          AMP_CUDNN_UNAVAILABLE);
  return handle;
}

fe::DataType_t getType(int32_t type) {
  switch (type) {
  case AMP_CUDNN_F32:
    return fe::DataType_t::FLOAT;
  case AMP_CUDNN_F16:
    return fe::DataType_t::HALF;
  case AMP_CUDNN_BF16:
    return fe::DataType_t::BFLOAT16;
  case AMP_CUDNN_I32:
    return fe::DataType_t::INT32;
  case AMP_CUDNN_I64:
    return fe::DataType_t::INT64;
  }
  throw Error{AMP_CUDNN_INVALID,
              "unknown element type " + std::to_string(type)};
}

/// A GPU as its data sheet describes it.
struct Device {
  int capability, multiprocessors, sharedMemory;
  int64_t l2Cache;
  const char *name;
};
constexpr Device kDevices[] = {
    {80, 108, 166912, 41943040, "NVIDIA A100"},
    {90, 132, 232448, 62914560, "NVIDIA H200"},
    {100, 148, 232448, 132644864, "NVIDIA B200"},
};

/// Describes a GPU that is not there, in the form that cuDNN itself writes.
std::shared_ptr<fe::DeviceProperties> describe(const Device &device) {
  const std::string text =
      std::string("{\"deviceName\":\"") + device.name +
      "\",\"deviceVer\":" + std::to_string(device.capability * 10) +
      ",\"driverVer\":13000,\"cudaDeviceId\":0,\"totalGlobalMem\":80000000000,"
      "\"multiProcessorCount\":" +
      std::to_string(device.multiprocessors) +
      ",\"smClockRateKHz\":1980000,\"memClockRateKHz\":3201000,"
      "\"l2CacheSize\":" +
      std::to_string(device.l2Cache) +
      ",\"warpSize\":32,\"maxSharedMemoryPerBlock\":49152,"
      "\"maxSharedMemoryPerBlockOptin\":" +
      std::to_string(device.sharedMemory) +
      ",\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,"
      "\"regsPerBlock\":65536,\"pciDeviceId\":0,\"maxCtasPerSM\":32,"
      "\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,"
      "\"isTccDriver\":0,\"supportCoopLaunch\":1,"
      "\"maxGridSize\":[2147483647,65535,65535],"
      "\"maxBlockSize\":[1024,1024,64]}";
  // cuDNN reads the text up to its null.
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.push_back(0);
  auto properties = std::make_shared<fe::DeviceProperties>();
  check(properties->deserialize(bytes), AMP_CUDNN_UNKNOWN);
  return properties;
}

/// A refusal that only says that a GPU or its driver is missing.
bool isInconclusive(const std::string &message) {
  for (const char *text : {"No GPC available", "PREREQUISITE_MISSING"})
    if (message.find(text) != std::string::npos)
      return true;
  return false;
}

} // namespace

GraphBuilder::GraphBuilder() : graph(std::make_shared<fe::graph::Graph>()) {
  graph->set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
}

Tensor GraphBuilder::input(int index, const std::vector<int64_t> &sizes,
                           const std::vector<int64_t> &strides, int32_t type) {
  pointers.push_back(index);
  return graph->tensor(fe::graph::Tensor_attributes()
                           .set_uid(index + 1)
                           .set_dim(sizes)
                           .set_stride(strides)
                           .set_data_type(getType(type)));
}

void GraphBuilder::output(const Tensor &tensor, int index,
                          const std::vector<int64_t> &sizes,
                          const std::vector<int64_t> &strides, int32_t type) {
  pointers.push_back(index);
  tensor->set_output(true)
      .set_uid(index + 1)
      .set_dim(sizes)
      .set_stride(strides)
      .set_data_type(getType(type));
}

fe::error_t GraphBuilder::selectKernels() {
  fe::error_t error = graph->create_execution_plans(
      {fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK});
  if (error.is_bad())
    return error;
  if (isDeterministic)
    graph->deselect_numeric_notes({fe::NumericalNote_t::NONDETERMINISTIC});
  return graph->check_support();
}

/// Turns graphs into plans and answers.
class Builds {
public:
  static amp_cudnn_plan *create(const BuildGraph &build);
  static void check(const BuildGraph &build, const Device &device);
};

} // namespace amp::cudnn

struct amp_cudnn_plan {
  std::shared_ptr<cudnn_frontend::graph::Graph> graph;
  std::vector<int64_t> pointers;
  amp::cudnn::Handle *handle;
  int64_t workspaceBytes;
};

using namespace amp::cudnn;

amp_cudnn_plan *Builds::create(const BuildGraph &build) {
  loadLibrary();
  Handle &handle = getHandle();
  GraphBuilder builder;
  build(builder);
  fe::graph::Graph &graph = builder.get();
  std::lock_guard<std::mutex> guard(handle.lock);
  amp::cudnn::check(graph.validate(), AMP_CUDNN_UNSUPPORTED);
  amp::cudnn::check(graph.build_operation_graph(handle.value),
                    AMP_CUDNN_UNSUPPORTED);
  amp::cudnn::check(builder.selectKernels(), AMP_CUDNN_UNSUPPORTED);
  amp::cudnn::check(graph.build_plans(), AMP_CUDNN_FAILED);
  int64_t bytes = 0;
  amp::cudnn::check(graph.get_workspace_size(bytes), AMP_CUDNN_FAILED);
  return new amp_cudnn_plan{builder.graph, builder.pointers, &handle, bytes};
}

void Builds::check(const BuildGraph &build, const Device &device) {
  loadLibrary();
  GraphBuilder builder;
  fe::graph::Graph &graph = builder.get();
  // Each node copies the device of its graph when it is added.
  graph.set_device_properties(describe(device));
  graph.set_sm_version(device.capability).set_sm_count(device.multiprocessors);
  build(builder);
  auto require = [](fe::error_t error) {
    if (error.is_bad())
      throw Error{isInconclusive(error.get_message()) ? AMP_CUDNN_UNKNOWN
                                                      : AMP_CUDNN_UNSUPPORTED,
                  error.get_message()};
  };
  require(graph.validate());
  require(graph.build_operation_graph());
  require(builder.selectKernels());
}

int32_t amp::cudnn::createPlan(const BuildGraph &build, amp_cudnn_plan **plan) {
  return guard([&] {
    if (!plan)
      throw Error{AMP_CUDNN_INVALID, "there is no place for the plan"};
    *plan = Builds::create(build);
  });
}

int32_t amp::cudnn::checkGraph(const BuildGraph &build, int32_t capability) {
  return guard([&] {
    for (const Device &device : kDevices)
      if (device.capability == capability)
        return Builds::check(build, device);
    throw Error{AMP_CUDNN_INVALID, "no GPU of compute capability " +
                                       std::to_string(capability) +
                                       " is known, expected 80, 90 or 100"};
  });
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

int64_t amp_cudnn_workspace_bytes(const amp_cudnn_plan *plan) {
  return plan->workspaceBytes;
}

int32_t amp_cudnn_run(amp_cudnn_plan *plan, void *const *pointers,
                      void *workspace, void *stream) {
  return guard([&] {
    if (!plan || !pointers || (!workspace && plan->workspaceBytes))
      throw Error{AMP_CUDNN_INVALID, "a plan, its pointers or its workspace "
                                     "are null"};
    std::unordered_map<int64_t, void *> addresses;
    for (int64_t index : plan->pointers) {
      if (!pointers[index])
        throw Error{AMP_CUDNN_INVALID,
                    "pointer " + std::to_string(index) + " of a plan is null"};
      addresses[index + 1] = pointers[index];
    }
    std::lock_guard<std::mutex> lock(plan->handle->lock);
    check(fe::detail::set_stream(plan->handle->value,
                                 static_cast<cudaStream_t>(stream)),
          "cannot set the stream of cuDNN", AMP_CUDNN_FAILED);
    check(plan->graph->execute(plan->handle->value, addresses, workspace),
          AMP_CUDNN_FAILED);
  });
}

void amp_cudnn_destroy(amp_cudnn_plan *plan) { delete plan; }

const char *amp_cudnn_last_error(void) { return lastError.c_str(); }

int64_t amp_cudnn_version(void) {
  int64_t version = 0;
  guard([&] {
    loadLibrary();
    version = static_cast<int64_t>(fe::detail::get_backend_version());
  });
  return version;
}
