//===- LoadedStep.cpp - A step of a shared library ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/CUDA/LoadedStep.h"

#include "CacheFolder.h"
#include "KernelArguments.h"
#include "amp/Analysis/StepIdentity.h"
#include "amp/Execution/JITStep.h"
#include "amp/Execution/Ranks.h"
#include "amp/Pipelines/CUDAPipeline.h"
#include "amp/Target/CUDA/CUDAEmitter.h"
#include "amp/Target/CUDA/Standalone.h"
#include "mlir/Pass/PassManager.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Whether programs find cuDNN, which the library over it loads.
static bool hasCuDNN() {
  void *library = ::dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_LOCAL);
  if (library)
    ::dlclose(library);
  return library;
}

llvm::Expected<OwningOpRef<ModuleOp>>
mlir::amp::makeCUDAProgram(ModuleOp source, StepProgram &program,
                           const ProgramOptions &pipeline,
                           const CUDAStepOptions &options) {
  const std::string entry = program.getFunction().getName().str();
  OwningOpRef<ModuleOp> module = source.clone();
  eraseOtherSteps(*module, entry);
  PassManager manager(module->getContext());
  CUDAPipelineOptions settings;
  settings.batchSize = options.batchSize;
  settings.precisionReports = options.precisionReports;
  settings.precision = pipeline.precision;
  settings.lossScaling = pipeline.lossScaling;
  settings.masterWeights = pipeline.masterWeights;
  settings.training = pipeline.pipeline;
  settings.strictRounding = options.compiler.strictRounding;
  settings.watch = options.watch;
  settings.ranks = pipeline.ranks > 1 ? pipeline.ranks : 0;
  settings.shardOptimizer = pipeline.shardOptimizer;
  // The program runs on this machine.
  if (!hasCuDNN()) {
    settings.attention = "decomposed";
    settings.convolutions = "patches";
  }
  if (options.forward)
    settings.inference = entry;
  buildCUDAPipeline(manager, settings);
  if (failed(manager.run(*module)))
    return llvm::make_error<DiagnosedError>();
  return module;
}

/// Prints the program of `entry` and its forward function.
static llvm::Error print(ModuleOp module, llvm::StringRef entry,
                         cuda::ProgramNumbers &numbers, std::string &text) {
  cuda::ProgramOp program;
  cuda::EmitterOptions options;
  options.emitForward = true;
  options.numbers = &numbers;
  for (auto each : module.getOps<cuda::ProgramOp>()) {
    if (each.getSymName() == entry)
      program = each;
    if (each.getInferenceOf() == entry)
      options.forward = each;
  }
  if (!program)
    return makeError("the pipeline made no program of '{0}'", entry);
  if (failed(cuda::emitCUDA(program, options, text)))
    return llvm::make_error<DiagnosedError>();
  return llvm::Error::success();
}

namespace {
/// Translates a step to a source.
class Translation {
public:
  Translation(ModuleOp source, StepProgram &program,
              const ProgramOptions &pipeline, const CUDAStepOptions &options)
      : source(source), program(program), pipeline(pipeline), options(options),
        entry(program.getFunction().getName().str()) {}

  llvm::Expected<CUDASource> run();

private:
  /// Prints the pattern of `module`, and the shapes of its states, which no
  /// batch changes. Adds its numbers.
  llvm::Error printPattern(ModuleOp module, cuda::ProgramNumbers &numbers,
                           std::string &text) const;
  /// Returns the numbers of the kernels for another batch size whose program
  /// has the pattern `pattern`, if the step leaves its batch open.
  std::optional<KernelNumbers> findOther(llvm::StringRef pattern);

  ModuleOp source;
  StepProgram &program;
  const ProgramOptions &pipeline;
  const CUDAStepOptions &options;
  const std::string entry;
};
} // namespace

llvm::Error Translation::printPattern(ModuleOp module,
                                      cuda::ProgramNumbers &numbers,
                                      std::string &text) const {
  if (llvm::Error error = print(module, entry, numbers, text))
    return error;
  llvm::raw_string_ostream os(text);
  for (auto each : module.getOps<cuda::ProgramOp>())
    for (auto buffer : each.getBody().front().getOps<cuda::BufferOp>())
      if (std::optional<Role> role =
              symbolizeRole(buffer.getRole().value_or(""));
          role && *role != Role::Batch)
        os << buffer.getName() << ": " << buffer.getType() << "\n";
  return llvm::Error::success();
}

std::optional<KernelNumbers> Translation::findOther(llvm::StringRef pattern) {
  if (options.batchSize <= 0)
    return std::nullopt;
  // An error for another batch size does not concern this program.
  ScopedDiagnosticHandler silence(source.getContext(),
                                  [](Diagnostic &) { return success(); });
  CUDAStepOptions settings = options;
  settings.precisionReports = false;
  for (int64_t size : {options.batchSize * 2, options.batchSize / 2}) {
    if (size < 1)
      continue;
    settings.batchSize = size;
    auto other = makeCUDAProgram(source, program, pipeline, settings);
    cuda::ProgramNumbers numbers;
    std::string text;
    if (!other) {
      llvm::consumeError(other.takeError());
      continue;
    }
    if (llvm::Error error = printPattern(**other, numbers, text))
      llvm::consumeError(std::move(error));
    else if (text == pattern)
      return std::move(numbers.kernels);
  }
  return std::nullopt;
}

llvm::Expected<CUDASource> Translation::run() {
  auto module = makeCUDAProgram(source, program, pipeline, options);
  if (!module)
    return module.takeError();
  cuda::ProgramNumbers numbers;
  std::string pattern;
  if (llvm::Error error = printPattern(**module, numbers, pattern))
    return error;
  llvm::Expected<std::string> folder = openCacheFolder(options.compiler.cache);
  if (!folder)
    return folder.takeError();
  numbers.arguments = findKernelArguments(*folder, pattern, numbers.kernels,
                                          [&] { return findOther(pattern); });
  numbers.form = cuda::ProgramNumbers::Form::Data;
  numbers.kernels.clear();
  CUDASource result;
  if (llvm::Error error = print(**module, entry, numbers, result.step))
    return error;
  result.numbers = std::move(numbers.host);
  result.step = "#define AMP_CUDA_UNIT 1\n" + result.step;
  result.runtime = "#define AMP_CUDA_UNIT 2\n"
                   "#include \"amp/Runtime/CUDA/ExportedProgram.h\"\n";
  std::string message;
  for (std::string *text : {&result.step, &result.runtime})
    if (!cuda::inlineRuntime(*text, cuda::findRuntimeHeaders(), message))
      return makeError("{0}", message);
  return result;
}

/// Loads a library for the rest of the process.
static llvm::Expected<const amp_step_program *>
loadProgram(const std::string &path) {
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return makeError("cannot load the compiled step: {0}", ::dlerror());
  auto get = reinterpret_cast<amp_step_get_program_t>(
      ::dlsym(library, "amp_step_get_program"));
  if (!get)
    return makeError("'{0}' does not export amp_step_get_program", path);
  const amp_step_program *program = nullptr;
  const char *message = nullptr;
  if (get(AMP_STEP_VERSION, &program, &message) != AMP_STEP_OK)
    return makeError("{0}", message);
  return program;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

namespace {
/// A step that the C interface exports. Another step of the same function,
/// which never runs, describes it.
class LoadedStep : public host::Step {
public:
  LoadedStep(const amp_step_program *program,
             std::unique_ptr<host::Step> description)
      : program(program), description(std::move(description)) {}
  ~LoadedStep() override { program->destroy(handle); }

  /// Finds the tensors of `step`, which this one owns.
  host::Status adopt(amp_step *step);

  const std::vector<host::TensorInfo> &getTensors() const override {
    return tensors;
  }
  host::CheckpointIdentity getIdentity() const override {
    return description->getIdentity();
  }
  int64_t getFixedBatch() const override { return program->fixed_batch; }
  int64_t getNumRanks() const override {
    return std::max(program->num_ranks, 1);
  }
  host::Status gatherStates() override {
    return check(program->gather_states(handle));
  }
  host::Status prepare(int64_t) override { return host::Status(); }
  host::Status read(size_t tensor, host::Array *value) override;
  host::Status write(size_t tensor, host::Array value) override;
  host::Status fill(size_t tensor, int64_t samples, size_t bytes,
                    const std::function<void(void *)> &fill) override;
  host::Status run(int steps) override;
  host::Status wait() override { return check(program->synchronize(handle)); }
  bool isAsynchronous() const override { return true; }
  host::Status readMetrics(std::vector<double> *values) override;
  void addMemory(host::Results *results) override;
  host::Status createForward(std::unique_ptr<host::Step> *forward) override;
  host::Status watch(int64_t every) override {
    return check(program->watch(handle, every, progress.step));
  }
  host::Status printWatched(host::WatchFormat format, const std::string &title,
                            std::string *text) override;
  std::vector<host::EvaluationRule> getEvaluationRules() const override {
    return description->getEvaluationRules();
  }
  host::Status useStates(host::Step &trained) override {
    return check(
        program->use_states(handle, static_cast<LoadedStep &>(trained).handle));
  }

private:
  /// The place of a tensor in the interface.
  struct Place {
    int32_t list = 0, index = 0;
  };

  host::Status check(int32_t code) const {
    return code == AMP_STEP_OK
               ? host::Status()
               : host::Status(host::ErrorCode(code), program->last_error());
  }

  const amp_step_program *program;
  std::unique_ptr<host::Step> description;
  amp_step *handle = nullptr;
  std::vector<host::TensorInfo> tensors;
  std::vector<Place> places;
  std::vector<char> batch;
};
} // namespace

host::Status LoadedStep::adopt(amp_step *step) {
  handle = step;
  std::map<std::pair<bool, std::string>, Place> found;
  amp_step_tensor tensor = {};
  tensor.size = sizeof(tensor);
  std::map<std::pair<bool, std::string>, host::Shape> shapes;
  for (int32_t list = 0; list <= AMP_STEP_LIST_PREDICTIONS; ++list)
    for (int32_t index = 0;
         program->get_tensor(handle, list, index, &tensor) == AMP_STEP_OK;
         ++index) {
      // An input and an output may have the same name.
      const std::pair<bool, std::string> key(list >= AMP_STEP_LIST_METRICS,
                                             tensor.name);
      found[key] = {list, index};
      shapes[key].assign(tensor.shape, tensor.shape + tensor.rank);
    }
  for (const host::TensorInfo &info : description->getTensors()) {
    const std::pair<bool, std::string> key(info.role >= host::Role::Metric,
                                           info.name);
    auto place = found.find(key);
    if (place == found.end())
      return host::makeError(host::kInvalidArgument,
                             "the compiled step has no '%s'",
                             info.name.c_str());
    tensors.push_back(info);
    tensors.back().shape = shapes[key];
    places.push_back(place->second);
  }
  return host::Status();
}

host::Status LoadedStep::read(size_t tensor, host::Array *value) {
  const host::TensorInfo &info = tensors[tensor];
  *value = host::Array(info.type, info.shape);
  return check(program->read(handle, places[tensor].list, places[tensor].index,
                             value->data(), value->getNumBytes()));
}

host::Status LoadedStep::write(size_t tensor, host::Array value) {
  return check(program->write(handle, places[tensor].list, places[tensor].index,
                              value.data(), value.getNumBytes()));
}

host::Status LoadedStep::fill(size_t tensor, int64_t, size_t bytes,
                              const std::function<void(void *)> &fill) {
  const host::TensorInfo &info = tensors[tensor];
  batch.resize(std::max<size_t>(bytes, 1));
  fill(batch.data());
  amp_step_batch data = {};
  data.size = sizeof(data);
  data.index = places[tensor].index;
  data.memory = AMP_STEP_HOST;
  data.type = int32_t(info.type);
  data.rank = int32_t(info.shape.size());
  data.shape = info.shape.data();
  data.data = batch.data();
  return check(program->set_batch(handle, &data));
}

host::Status LoadedStep::run(int steps) {
  AMP_RETURN_IF_ERROR(check(program->run(handle, /*slot=*/0, steps)));
  progress.step += steps;
  return host::Status();
}

host::Status LoadedStep::readMetrics(std::vector<double> *values) {
  const std::vector<size_t> metrics = find(host::Role::Metric);
  std::vector<double> numbers(metrics.size());
  AMP_RETURN_IF_ERROR(check(
      program->read_metrics(handle, numbers.data(), int32_t(numbers.size()))));
  values->clear();
  for (size_t metric : metrics)
    values->push_back(numbers[size_t(places[metric].index)]);
  return host::Status();
}

void LoadedStep::addMemory(host::Results *results) {
  int64_t bytes = 0;
  if (program->get_memory(handle, &bytes) == AMP_STEP_OK)
    results->emplace_back("bytes of device memory", double(bytes));
}

host::Status LoadedStep::createForward(std::unique_ptr<host::Step> *forward) {
  std::unique_ptr<host::Step> own;
  AMP_RETURN_IF_ERROR(description->createForward(&own));
  auto made = std::make_unique<LoadedStep>(program, std::move(own));
  amp_step *step = nullptr;
  AMP_RETURN_IF_ERROR(check(program->create_forward(handle, &step)));
  AMP_RETURN_IF_ERROR(made->adopt(step));
  *forward = std::move(made);
  return host::Status();
}

host::Status LoadedStep::printWatched(host::WatchFormat format,
                                      const std::string &title,
                                      std::string *text) {
  const char *printed = nullptr;
  AMP_RETURN_IF_ERROR(check(program->report_watched(handle, int32_t(format),
                                                    title.c_str(), &printed)));
  *text = printed;
  return host::Status();
}

/// Waits until all ranks call this function.
static void waitForRanks(RankGroup &group) {
  group.begin("the compilation of the step");
}

llvm::Expected<const amp_step_program *>
mlir::amp::loadCUDAProgram(ModuleOp source, StepProgram &program,
                           const ProgramOptions &pipeline,
                           const CUDAStepOptions &options) {
  llvm::Expected<CUDASource> text =
      Translation(source, program, pipeline, options).run();
  if (!text)
    return text.takeError();
  if (options.notesNumbers)
    return nullptr;
  // The ranks of a machine share a cache. Rank 0 compiles first, so that the
  // others find the program in the cache.
  RankGroup *group = pipeline.ranks > 1 ? RankGroup::getCurrent() : nullptr;
  if (group && group->getRank() != 0)
    waitForRanks(*group);
  llvm::Expected<std::string> path = compileCUDA(
      *text, program.getFunction().getName().str(), options.compiler);
  if (group && group->getRank() == 0)
    waitForRanks(*group);
  if (!path)
    return path.takeError();
  return loadProgram(*path);
}

llvm::Expected<std::unique_ptr<host::Step>>
mlir::amp::createCUDAStep(ModuleOp source, StepProgram &program,
                          const ProgramOptions &pipeline,
                          const CUDAStepOptions &options) {
  auto loaded = loadCUDAProgram(source, program, pipeline, options);
  if (!loaded)
    return loaded.takeError();
  auto step =
      std::make_unique<LoadedStep>(*loaded, std::make_unique<JITStep>(program));
  amp_step_options settings = {};
  settings.size = sizeof(settings);
  settings.device = options.compiler.device;
  settings.flags = AMP_STEP_NO_STATE_ADDRESSES;
  // The runner needs the predictions of a step only for counts.
  if (options.watch.empty())
    settings.flags |= AMP_STEP_NO_PREDICTIONS;
  amp_step_exchange exchange = {};
  if (RankGroup *group = RankGroup::getCurrent(); group && pipeline.ranks > 1) {
    exchange = group->getExchange();
    settings.exchange = &exchange;
    settings.rank = int32_t(group->getRank());
    settings.num_ranks = int32_t(group->getNumRanks());
    settings.deadline = uint64_t(std::max(group->getDeadline(), 1.0));
  }
  amp_step *handle = nullptr;
  if ((*loaded)->create(*loaded, &settings, &handle) != AMP_STEP_OK)
    return makeError("{0}", (*loaded)->last_error());
  if (llvm::Error error = toError(step->adopt(handle)))
    return error;
  return std::unique_ptr<host::Step>(std::move(step));
}
