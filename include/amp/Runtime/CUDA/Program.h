//===- Program.h - A generated training step at run time --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all generated programs have in common: they differ in the tables and in
// the list of launches. A generated file holds
//
//   static const BufferInfo kBuffers[] = {...};      // the memory plan
//   static const GemmConfig kGemms[] or a function that fills them;
//   static const LaunchInfo kLaunches[] = {...};     // costs, for the profile
//   static Status enqueue(StepRun &run) { ... }      // launches, in order
//   static const ProgramInfo kProgram = {...};
//
// and a C interface of one-line functions over `Program`:
//
//   struct step_t : amp::cuda::Program { using Program::Program; };
//   extern "C" int step_run(step_t *step, int steps) {
//     return amp::cuda::report(step->run(steps));
//   }
//   extern "C" const char *step_last_error() { return amp::cuda::lastError(); }
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAM_H
#define AMP_RUNTIME_CUDA_PROGRAM_H

#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/Npz.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Profile.h"

#include <memory>
#include <string>
#include <vector>

namespace amp::cuda {

enum class Role : uint8_t {
  Parameter,
  OptimizerState,
  ModelState,
  ScalerState,
  Hyperparameter,
  Batch,
  Metric,
  Prediction,
  Temporary,
};

/// How a state starts; the kinds, formulas and random streams of amp-run, so
/// that the same seed gives the same bits.
struct InitInfo {
  enum class Kind : uint8_t {
    None, ///< has to come from a file
    Zeros,
    Ones,
    Constant,       ///< first
    Normal,         ///< mean first, standard deviation second
    Uniform,        ///< in [first, second]
    KaimingUniform, ///< bound gain · √(3 / fan_in)
    KaimingNormal,  ///< deviation gain / √fan_in
    XavierUniform,  ///< bound gain · √(6 / (fan_in + fan_out))
    XavierNormal,   ///< deviation gain · √(2 / (fan_in + fan_out))
    CopyOf,         ///< rounded copy of the state `source`
    RngState,       ///< (seed, 0)
  };
  Kind kind = Kind::None;
  double first = 0.0, second = 1.0, gain = 1.0;
  const char *source = nullptr;
  bool hasSeed = false; ///< `seed` replaces that of the run
  uint64_t seed = 0;
};

/// A buffer of the memory plan. Names of states, batches, metrics and
/// predictions are those of the graph.
struct BufferInfo {
  const char *name = "";
  Role role = Role::Temporary;
  Type type = Type::F32;
  int rank = 0;
  int64_t shape[8] = {};
  int64_t offset = 0; ///< in the arena, a multiple of kBufferAlignment
  InitInfo init;
  int64_t classes = 0; ///< of labels: values lie in [0, classes); 0: any
};

/// One entry of an optimizer's table, by offsets in the arena; -1: none.
struct OptimizerEntry {
  int64_t parameter = -1, gradient = -1, first = -1, second = -1, copy = -1;
  int64_t count = 0;
  Type gradientType = Type::F32, copyType = Type::F32;
  float weightDecay = 0.0f;
};
struct OptimizerGroup {
  const OptimizerEntry *entries = nullptr;
  int32_t size = 0;
  int64_t tableOffset = 0; ///< `optimizerTableBytes(size)`, in the state region
};

struct StepRun;

struct ProgramInfo {
  const char *name = "";
  /// The arena: [0, stateBytes) keeps its contents from step to step (states,
  /// metrics, predictions, batches, tables, tickets), [stateBytes, arenaBytes)
  /// does not.
  int64_t arenaBytes = 0, stateBytes = 0;
  const BufferInfo *buffers = nullptr;
  int numBuffers = 0;
  const GemmConfig *gemms = nullptr;
  int numGemms = 0;
  /// Of the workspace of products; `workspaceBytes` 0 if there are none.
  int64_t workspaceOffset = 0, workspaceBytes = 0;
  const OptimizerGroup *optimizers = nullptr;
  int numOptimizers = 0;
  const LaunchInfo *launches = nullptr;
  int numLaunches = 0;
  /// Enqueues one step.
  Status (*enqueue)(const StepRun &run) = nullptr;
};

/// What `enqueue` gets.
struct StepRun {
  cudaStream_t stream = nullptr;
  unsigned char *arena = nullptr;
  const GemmPlans *gemms = nullptr;
  const OptimizerTable *optimizers = nullptr;
  const ProgramInfo *info = nullptr;
  Profiler *profiler = nullptr;

  /// The buffer at `offset`.
  template <typename T>
  T *at(int64_t offset) const {
    return reinterpret_cast<T *>(arena + offset);
  }
  /// NVTX range and profile of launch `index` while the result lives.
  LaunchScope scope(int index) const {
    return LaunchScope(info->launches, index, stream, profiler);
  }
};

struct ProgramOptions {
  int device = 0;
  uint64_t seed = 0;
  bool useGraph = true;
  /// Fills what does not outlive a step with NaN before each step: finds reads
  /// of what was never written.
  bool poison = false;
  GemmOptions gemm;
};

/// One instance: an arena on a device and the state in it. Not thread-safe.
class Program {
public:
  explicit Program(const ProgramInfo &info) : info(info) {}
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program();

  /// Allocates, plans and initialises; no allocation after that. Says how much
  /// memory is needed if there is too little.
  Status create(const ProgramOptions &options);

  /// Replaces states by the arrays of their names. A full state file has them
  /// all; with `weightsOnly` any parameters and model states. An array of
  /// another shape, or a state file of another model, is an error and changes
  /// nothing.
  Status load(const std::string &path, bool weightsOnly = false);
  /// Writes all states.
  Status save(const std::string &path);

  /// Copies a batch, of exactly the size of batch argument `index`, to the
  /// device before the next step. Labels are checked.
  Status setBatch(int index, const void *host, size_t bytes);
  /// Sets the hyperparameter `name`.
  Status setHyperparameter(const std::string &name, double value);

  /// Enqueues `steps` steps. The first runs as launches, the others as a graph.
  Status run(int steps);
  /// Waits.
  Status synchronize();
  /// Waits and reads the metrics of the last step, in order.
  Status readMetrics(float *out, int count);
  /// Waits and reads buffer `index` of the plan.
  Status readBuffer(int index, HostArray *array);
  Status writeBuffer(int index, const HostArray &array);

  /// Runs `steps` steps as launches with events and gives the table of times.
  Status profile(int steps, std::string *table);

  int64_t memoryBytes() const { return info.arenaBytes; }
  const ProgramInfo &getInfo() const { return info; }
  std::vector<int> buffersOf(Role role) const;
  size_t getNumGraphNodes() const { return graph.getNumNodes(); }

private:
  Status enqueueStep(Profiler *profiler);
  Status initialize(uint64_t seed);

  const ProgramInfo &info;
  ProgramOptions options;
  cudaStream_t stream = nullptr;
  unsigned char *arena = nullptr;
  GemmPlans gemms;
  std::vector<OptimizerTable> tables;
  StepGraph graph;
  bool warm = false;
};

/// Keeps the message of an error for `lastError` and returns its code.
inline int report(const Status &status);
/// The message of the last error reported in this thread; empty if none.
inline const char *lastError();

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAM_H
