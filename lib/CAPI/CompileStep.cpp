//===- CompileStep.cpp - Compiles steps for the C interface ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp-c/CompileStep.h"

#include "amp/Execution/CUDA/LoadedStep.h"
#include "amp/Execution/Watcher.h"
#include "amp/RegisterAll/Tools.h"
#include "amp/Runtime/Step/ProgramTable.h"
#include "amp/Support/ToolDiagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::amp;

static constexpr host::ErrorCode kCompileError =
    host::ErrorCode(AMP_STEP_COMPILE_ERROR);

/// A context with all that a step may use.
static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerToolDialects(registry);
  registerExecutionDialects(registry);
  return registry;
}

namespace {
/// A step of the CPU for callers of C.
class CPUProgram : public host::InterfaceProgram {
public:
  CPUProgram() : context(makeRegistry()) {
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      // Remarks and warnings are for readers of a terminal.
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return success();
      llvm::raw_string_ostream os(diagnosed);
      std::string place = getPlace(diagnostic.getLocation());
      os << (diagnosed.empty() ? "" : "\n") << place
         << (place.empty() ? "" : ": ") << getUserText(diagnostic);
      return success();
    });
  }

  host::Status compile(llvm::StringRef text, const ProgramOptions &options);
  /// Compiles the step again, with counts of the values that match `match`.
  host::Status addWatched(ProgramOptions options, const std::string &match);
  /// Compiles the step for a GPU, which `compile` has prepared.
  host::Status load(const ProgramOptions &options, CUDAStepOptions cuda,
                    const amp_step_program **loaded);

  const std::vector<host::TensorInfo> &getTensors() const override {
    return program->getTensors();
  }
  int getNumRanks() const override { return int(program->getNumRanks()); }
  host::Status
  create(const host::StepSettings &settings,
         std::unique_ptr<host::InterfaceStep> *step) const override {
    std::lock_guard<std::mutex> lock(program->getMutex());
    auto made = std::make_unique<JITStep>(*program);
    if (watched)
      made->setWatched(*watched, described);
    made->setExplainer(
        [this](host::Status status) { return explain(std::move(status)); });
    AMP_RETURN_IF_ERROR(made->configure(settings));
    *step = std::move(made);
    return host::Status();
  }
  void release() const override { delete this; }
  const amp_step_program *getTable() const { return &table; }

private:
  /// An error that MLIR has reported, with its text.
  host::Status explain(host::Status status) const {
    std::string text = std::move(diagnosed);
    diagnosed.clear();
    if (status.isOk())
      return status;
    if (status.getCode() == host::kReported)
      return host::Status(kCompileError, std::move(text));
    // Errors of LLVM have no separate code.
    return status;
  }

  MLIRContext context;
  mutable std::string diagnosed;
  std::string name;
  OwningOpRef<ModuleOp> module;
  /// The step, and the same step with counts, or null.
  std::unique_ptr<StepProgram> program, watched;
  std::vector<WatchedRecord> described;
  amp_step_program table;
};
} // namespace

host::Status CPUProgram::compile(llvm::StringRef text,
                                 const ProgramOptions &options) {
  module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context), "<module>");
  if (!module)
    return explain(host::Status(host::kReported, ""));
  auto made = StepProgram::create(*module, options);
  if (!made) {
    host::Status status = explain(toStatus(made.takeError()));
    return host::Status(kCompileError, status.getMessage());
  }
  program = std::move(*made);
  name = program->getFunction().getName().str();
  host::ProgramLabels labels;
  labels.name = name.c_str();
  labels.backend = "cpu";
  labels.precision = program->getPrecision().data();
  labels.fingerprint = program->getFingerprint();
  labels.fixedBatch = program->getStaticBatch().value_or(0);
  labels.hasForward =
      llvm::any_of(program->getTensors(), [](const host::TensorInfo &tensor) {
        return tensor.role == host::Role::Prediction;
      });
  table = host::makeTable(*this, labels);
  return host::Status();
}

host::Status CPUProgram::addWatched(ProgramOptions options,
                                    const std::string &match) {
  options.watch.emplace();
  options.watch->match = match;
  auto made = StepProgram::create(*module, options);
  if (!made) {
    host::Status status = explain(toStatus(made.takeError()));
    return host::Status(kCompileError, status.getMessage());
  }
  watched = std::move(*made);
  described = describeWatchedValues(watched->getFunction());
  return host::Status();
}

host::Status CPUProgram::load(const ProgramOptions &options,
                              CUDAStepOptions cuda,
                              const amp_step_program **loaded) {
  cuda.forward = table.has_forward;
  if (program->getStaticBatch())
    cuda.batchSize = 0;
  else if (cuda.batchSize <= 0)
    return host::makeError(host::kInvalidArgument,
                           "the step leaves its batch open, expected a "
                           "batch_size for the backend cuda");
  auto made = loadCUDAProgram(*module, *program, options, cuda);
  if (!made)
    return host::Status(kCompileError,
                        explain(toStatus(made.takeError())).getMessage());
  *loaded = *made;
  return host::Status();
}

/// Reads what only the backend cuda takes.
static host::Status readCUDAOptions(const amp_step_compile_options &from,
                                    CUDAStepOptions *cuda) {
  if (from.threads)
    return host::makeError(host::kInvalidArgument,
                           "threads are for the backend cpu");
  if (from.device < 0 || from.batch_size < 0)
    return host::makeError(host::kInvalidArgument,
                           "device or batch_size is negative");
  cuda->batchSize = from.batch_size;
  cuda->compiler.device = from.device;
  cuda->compiler.compiler = from.cuda_compiler ? from.cuda_compiler : "";
  cuda->compiler.cache = from.cuda_cache ? from.cuda_cache : "";
  cuda->compiler.strictRounding = from.flags & AMP_STEP_STRICT_ROUNDING;
  cuda->compiler.quiet = true;
  cuda->notesNumbers = from.flags & AMP_STEP_NOTE_NUMBERS;
  return host::Status();
}

/// Reads the number of ranks and the rank of this process.
static host::Status readRanks(const amp_step_compile_options &from,
                              ProgramOptions *options) {
  if (from.num_ranks < 0)
    return host::makeError(host::kInvalidArgument,
                           "num_ranks is %d, expected 0 or more",
                           from.num_ranks);
  options->ranks = std::max(from.num_ranks, 1);
  options->rank = from.rank;
  options->shardOptimizer = from.flags & AMP_STEP_SHARD_OPTIMIZER;
  if (from.rank < 0 || from.rank >= options->ranks)
    return host::makeError(
        host::kInvalidArgument, "rank %d of %lld, expected 0 to %lld",
        from.rank, (long long)options->ranks, (long long)options->ranks - 1);
  if (options->shardOptimizer && options->ranks == 1)
    return host::makeError(host::kInvalidArgument,
                           "AMP_STEP_SHARD_OPTIMIZER divides the state between "
                           "ranks, expected num_ranks of at least 2");
  return host::Status();
}

/// Checks the options of the caller, which may be null. Sets `cuda` for that
/// backend.
static host::Status readOptions(const amp_step_compile_options *given,
                                ProgramOptions *options, std::string *watch,
                                std::optional<CUDAStepOptions> *cuda) {
  if (!given)
    return host::Status();
  // The options of a caller with an older header lack the last members.
  const size_t known =
      given->size >= sizeof(*given) ? sizeof(*given)
      : given->size >= offsetof(amp_step_compile_options, watch)
          ? offsetof(amp_step_compile_options, watch)
      : given->size >= offsetof(amp_step_compile_options, num_ranks)
          ? offsetof(amp_step_compile_options, num_ranks)
          : offsetof(amp_step_compile_options, cpu_cache);
  AMP_RETURN_IF_ERROR(host::checkStructure(
      given, known, "amp_step_compile_options", /*isInput=*/true));
  amp_step_compile_options copy = {};
  std::memcpy(&copy, given, known);
  const amp_step_compile_options *from = &copy;
  constexpr uint32_t kOfCUDA = AMP_STEP_STRICT_ROUNDING | AMP_STEP_NOTE_NUMBERS,
                     kFlags = kOfCUDA | AMP_STEP_SHARD_OPTIMIZER;
  if (from->flags & ~kFlags)
    return host::makeError(host::kUnsupportedRequest,
                           "unknown flags in amp_step_compile_options");
  auto text = [](const char *value) { return std::string(value ? value : ""); };
  const std::string backend = text(from->backend);
  if (backend == "cuda")
    AMP_RETURN_IF_ERROR(readCUDAOptions(*from, &cuda->emplace()));
  else if (!backend.empty() && backend != "cpu")
    return host::makeError(host::kInvalidArgument,
                           "unknown backend '%s', expected cpu or cuda",
                           backend.c_str());
  else if (from->batch_size || from->cuda_compiler || from->cuda_cache ||
           from->device || (from->flags & kOfCUDA))
    return host::makeError(host::kInvalidArgument,
                           "batch_size, device, cuda_compiler, cuda_cache, "
                           "AMP_STEP_STRICT_ROUNDING and AMP_STEP_NOTE_NUMBERS "
                           "are for the backend cuda");
  AMP_RETURN_IF_ERROR(readRanks(*from, options));
  options->entry = text(from->entry);
  options->precision = text(from->precision);
  options->lossScaling = text(from->loss_scale);
  options->masterWeights = text(from->master_weights);
  options->pipeline = text(from->pipeline);
  options->threads = from->threads;
  options->objectCache = text(from->cpu_cache);
  *watch = text(from->watch);
  AMP_RETURN_IF_ERROR(toStatus(checkProgramOptions(*options)));
  return toStatus(checkIdleOptions(*options, options->precision));
}

/// `text` ends with a zero, as the parser needs it.
static host::Status compileStep(const std::string &text,
                                const amp_step_compile_options *options,
                                const amp_step_program **program) {
  ProgramOptions settings;
  std::optional<CUDAStepOptions> cuda;
  std::string watch;
  AMP_RETURN_IF_ERROR(readOptions(options, &settings, &watch, &cuda));
  auto made = std::make_unique<CPUProgram>();
  AMP_RETURN_IF_ERROR(made->compile(text, settings));
  if (cuda) {
    cuda->watch = watch;
    return made->load(settings, std::move(*cuda), program);
  }
  if (!watch.empty())
    AMP_RETURN_IF_ERROR(made->addWatched(settings, watch));
  *program = made.release()->getTable();
  return host::Status();
}

extern "C" AMP_STEP_EXPORT int32_t
amp_step_compile(uint32_t version, const char *module, uint64_t length,
                 const amp_step_compile_options *options,
                 const amp_step_program **program, const char **message) {
  int32_t code = host::checkVersion(version, program, message);
  if (code != AMP_STEP_OK)
    return code;
  code = host::reportCall([&] {
    if (!module)
      return host::makeError(host::kInvalidArgument, "the module is null");
    return compileStep(std::string(module, length), options, program)
        .rename(host::nameForC);
  });
  if (message)
    *message = code == AMP_STEP_OK ? nullptr : host::lastError();
  return code;
}
