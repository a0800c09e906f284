//===- StepProgram.cpp - Preparation of a step ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/StepProgram.h"

#include "ObjectCache.h"
#include "amp/Analysis/BufferLiveness.h"
#include "amp/Analysis/StepIdentity.h"
#include "amp/Analysis/TensorLiveness.h"
#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Execution/Errors.h"
#include "amp/Execution/Threads.h"
#include "amp/Execution/UnrollLoops.h"
#include "amp/Pipelines/CPUPipeline.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Runtime/Host/MemoryLimit.h"
#include "amp/Support/PrecisionName.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Finding the step
//===----------------------------------------------------------------------===//

/// Finds the function to run: the one named `entry`, or the only step.
static llvm::Expected<FunctionOpInterface> findStep(ModuleOp module,
                                                    llvm::StringRef entry) {
  llvm::SmallVector<FunctionOpInterface> steps;
  llvm::SmallVector<std::string> names;
  for (auto function : module.getOps<FunctionOpInterface>()) {
    if (!entry.empty() && function.getName() == entry) {
      if (!isStepFunction(function))
        return makeError("function '{0}' is not a training step: none of its "
                         "arguments has 'amp.role'",
                         entry);
      return function;
    }
    if (!function.isExternal() && isStepFunction(function)) {
      steps.push_back(function);
      names.push_back("'" + function.getName().str() + "'");
    }
  }
  std::string known =
      names.empty() ? "" : "; it has " + llvm::join(names, ", ");
  if (!entry.empty())
    return makeError("the module has no function '{0}'{1}", entry, known);
  if (steps.empty())
    return makeError("the module has no training step: no function has "
                     "arguments with 'amp.role'");
  if (steps.size() > 1)
    return makeError("the module has several training steps, choose one by "
                     "--entry{0}",
                     known);
  return steps.front();
}

/// Fails if `function`, or one of its callees, calls a function that cannot
/// run: one without a body, or one in `callers`.
static llvm::Error checkCalls(FunctionOpInterface function,
                              llvm::SmallVectorImpl<Operation *> &callers,
                              llvm::SmallPtrSetImpl<Operation *> &done) {
  if (!done.insert(function).second)
    return llvm::Error::success();
  callers.push_back(function);
  llvm::SmallVector<CallOpInterface> calls;
  function.getFunctionBody().walk(
      [&](CallOpInterface call) { calls.push_back(call); });
  for (CallOpInterface call : calls) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
    if (!callee)
      continue;
    auto refuse = [&](const llvm::Twine &why) -> llvm::Error {
      call->emitError() << "cannot run the call of '" << callee.getName()
                        << "': " << why;
      return llvm::make_error<DiagnosedError>();
    };
    if (callee.isExternal())
      return refuse("it is only declared, expected a function with a body");
    if (llvm::is_contained(callers, callee.getOperation()))
      return refuse("it is recursive");
    if (llvm::Error error = checkCalls(callee, callers, done))
      return error;
  }
  callers.pop_back();
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Preparing the step
//===----------------------------------------------------------------------===//

/// Runs the passes that `build` adds on `module`. Failures are diagnosed.
static llvm::Error runPasses(ModuleOp module,
                             llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(module.getContext());
  build(manager);
  if (failed(manager.run(module)))
    return llvm::make_error<DiagnosedError>();
  return llvm::Error::success();
}

llvm::Error StepProgram::exposeGradients() {
  FunctionOpInterface function = getFunction();
  Block &body = function.getFunctionBody().front();
  Operation *terminator = body.getTerminator();
  auto type = cast<FunctionType>(function.getFunctionType());
  llvm::SmallVector<Type> results(type.getResults());
  llvm::SmallVector<std::string> names;
  for (Operation &op : body) {
    auto gradients = op.getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    if (!gradients)
      continue;
    for (auto [result, attr] : llvm::zip_equal(op.getResults(), gradients)) {
      llvm::StringRef name = cast<StringAttr>(attr).getValue();
      std::string prediction = (kGradientPrefix + name).str();
      if (name.empty() || llvm::is_contained(names, prediction))
        continue;
      names.push_back(prediction);
      results.push_back(result.getType());
      terminator->insertOperands(terminator->getNumOperands(), result);
    }
  }
  if (names.empty())
    return makeError("function '{0}' has no gradients: no operation has "
                     "'amp.gradient_of'",
                     entry);
  unsigned first = type.getNumResults();
  function.setType(
      FunctionType::get(module->getContext(), type.getInputs(), results));
  for (auto [index, name] : llvm::enumerate(names))
    function.setResultAttr(first + index, AMPDialect::kPredictionAttr,
                           StringAttr::get(module->getContext(), name));
  return llvm::Error::success();
}

/// The forward function runs on one rank.
llvm::Error StepProgram::divideBetweenRanks(const AMPPipelineOptions &options,
                                            bool shardOptimizer) {
  unexposed = module->clone();
  AMPPipelineOptions pipeline;
  pipeline.copyOptionValuesFrom(options);
  if (shardOptimizer || pipeline.shardOptimizer != 0)
    pipeline.shardOptimizer = ranks;
  return runPasses(*module, [&](OpPassManager &manager) {
    buildDataParallelPipeline(manager, pipeline);
  });
}

FunctionOpInterface StepProgram::getFunction() {
  return cast<FunctionOpInterface>(SymbolTable::lookupSymbolIn(*module, entry));
}

/// Returns the first option of `options` or the pipeline that has no effect on
/// a step that scales its loss, or an empty string.
static llvm::StringRef findScalingOption(const ProgramOptions &options,
                                         const AMPPipelineOptions &pipeline) {
  for (auto [name, isGiven] :
       {std::pair<llvm::StringRef, bool>("loss-scale",
                                         !options.lossScaling.empty() &&
                                             options.lossScaling != "none"),
        {"master-weights", !options.masterWeights.empty()},
        {"pipeline=loss-scale", !pipeline.lossScaling.empty()},
        {"pipeline=scaler", !pipeline.scaler.empty()},
        {"pipeline=master-weights", !pipeline.masterWeights.empty()}})
    if (isGiven)
      return name;
  return "";
}

llvm::Expected<std::unique_ptr<StepProgram>>
StepProgram::create(ModuleOp source, const ProgramOptions &options) {
  llvm::Expected<FunctionOpInterface> step = findStep(source, options.entry);
  if (!step)
    return step.takeError();
  llvm::SmallVector<Operation *> callers;
  llvm::SmallPtrSet<Operation *, 8> done;
  if (llvm::Error error = checkCalls(*step, callers, done))
    return error;
  llvm::Expected<unsigned> threads = chooseThreads(options.threads);
  if (!threads)
    return threads.takeError();
  std::unique_ptr<StepProgram> program(new StepProgram());
  program->threads = *threads;
  program->ranks = options.ranks;
  program->rank = options.rank;
  program->objectCache = options.objectCache;
  program->entry = step->getName().str();
  program->module = source.clone();
  // Other steps need no compilation.
  eraseOtherSteps(*program->module, program->entry);

  AMPPipelineOptions pipeline;
  if (std::string wrong = parsePipeline(options.pipeline, pipeline);
      !wrong.empty())
    return makeError("{0}", wrong);
  if (pipeline.mode != PipelineMode::Training)
    return makeError("the pipeline has 'mode=inference', which leaves no "
                     "training step; expected mode=training");
  if (llvm::StringRef option = findScalingOption(options, pipeline);
      !option.empty() && !describeScalerRules(*step).empty())
    return makeError("--{0} has no effect: function '{1}' scales its loss "
                     "already; expected a step in f32",
                     option, program->entry);
  program->precision = canonicalizePrecision(options.precision).str();
  program->fingerprint = computeFingerprint(*program->module, program->entry);

  llvm::Error prepared =
      runPasses(*program->module, [&](OpPassManager &manager) {
        if (options.precision.empty()) {
          manager.addPass(train::createTrainAutodiff());
          return;
        }
        pipeline.precision = program->precision;
        if (!options.lossScaling.empty())
          pipeline.lossScaling = options.lossScaling;
        if (!options.masterWeights.empty())
          pipeline.masterWeights = options.masterWeights;
        buildAMPTrainingPipeline(manager, pipeline);
      });
  if (prepared)
    return prepared;
  program->scalerRules = describeScalerRules(program->getFunction());
  if (options.ranks > 1)
    if (llvm::Error error =
            program->divideBetweenRanks(pipeline, options.shardOptimizer))
      return error;
  if (options.exposeGradients) {
    if (!program->unexposed)
      program->unexposed = program->module->clone();
    if (llvm::Error error = program->exposeGradients())
      return error;
  }
  if (options.watch) {
    if (!program->unexposed)
      program->unexposed = program->module->clone();
    if (options.watch->inside) {
      if (llvm::Error error =
              runPasses(*program->module, [](OpPassManager &manager) {
                manager.addPass(createInlinerPass());
              }))
        return error;
      unrollLoops(program->getFunction());
    }
    if (llvm::Error error =
            runPasses(*program->module, [&](OpPassManager &manager) {
              buildWatchPipeline(manager, options.watch->match,
                                 options.watch->values, options.watch->inside);
            }))
      return error;
  }

  FailureOr<StepSignature> signature =
      StepSignature::get(program->getFunction());
  if (failed(signature))
    return llvm::make_error<DiagnosedError>();
  program->signature = std::move(*signature);
  if (llvm::Error error = program->collectStates())
    return error;
  if (llvm::Error error = program->collectBatches())
    return error;
  if (llvm::Error error = program->collectResults())
    return error;
  program->collectRules();
  program->module->walk([&](CallOp call) {
    program->callee = call.getCallee().str();
    return WalkResult::interrupt();
  });
  return program;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

llvm::Error StepProgram::deriveForward() {
  if (forwardModule)
    return llvm::Error::success();
  OwningOpRef<ModuleOp> derived =
      unexposed ? unexposed->clone() : module->clone();
  train::TrainToInferenceOptions options;
  options.entry = entry;
  if (llvm::Error error = runPasses(*derived, [&](OpPassManager &manager) {
        manager.addPass(train::createTrainToInference(options));
      }))
    return error;
  // A function that is already a forward function keeps its name.
  std::string name = entry + options.suffix;
  forwardEntry = SymbolTable::lookupSymbolIn(*derived, name) ? name : entry;
  forwardModule = std::move(derived);
  return llvm::Error::success();
}

llvm::Expected<std::vector<host::TensorInfo>> StepProgram::getForwardTensors() {
  if (llvm::Error error = deriveForward())
    return error;
  FailureOr<StepSignature> step = StepSignature::get(cast<FunctionOpInterface>(
      SymbolTable::lookupSymbolIn(*forwardModule, forwardEntry)));
  if (failed(step))
    return llvm::make_error<DiagnosedError>();
  std::vector<host::TensorInfo> infos;
  for (const StepArgument &argument : step->arguments)
    infos.push_back(
        describeTensor(getHostRole(argument), argument.name, argument.type));
  for (const StepResult &result : step->results)
    if (result.kind != ResultKind::Update)
      infos.push_back(
          describeTensor(getHostRole(result), result.name, result.type));
  return infos;
}

/// A copy of `source` whose batch dimension is `batchSize`.
static llvm::Expected<OwningOpRef<ModuleOp>> setBatch(ModuleOp source,
                                                      int64_t batchSize) {
  OwningOpRef<ModuleOp> clone = source.clone();
  train::TrainSetBatchOptions options;
  options.batchSize = batchSize;
  if (llvm::Error error = runPasses(*clone, [&](OpPassManager &manager) {
        manager.addPass(train::createTrainSetBatch(options));
      }))
    return error;
  return clone;
}

llvm::Expected<StepStatistics> StepProgram::getStatistics(int64_t batchSize) {
  auto clone = setBatch(*module, batchSize);
  if (!clone)
    return clone.takeError();
  FailureOr<StepStatistics> statistics =
      computeStepStatistics(cast<FunctionOpInterface>(
          SymbolTable::lookupSymbolIn(clone->get(), entry)));
  if (failed(statistics))
    return llvm::make_error<DiagnosedError>();
  return *statistics;
}

/// Fails if the machine lacks the memory for the arguments and states of
/// `function`, or for these and all its tensors at the point where most of them
/// live.
static llvm::Error checkNeeds(FunctionOpInterface function) {
  FailureOr<StepSignature> signature = StepSignature::get(function);
  FailureOr<TensorLiveness> liveness = TensorLiveness::compute(function);
  if (failed(signature) || failed(liveness))
    return llvm::make_error<DiagnosedError>();
  uint64_t state = 0, batch = 0;
  for (const StepArgument &argument : signature->arguments) {
    FailureOr<int64_t> bytes = getTensorBytes(argument.type);
    uint64_t &sum = argument.role == Role::Batch ? batch : state;
    sum = llvm::SaturatingAdd(sum, uint64_t(succeeded(bytes) ? *bytes : 0));
  }
  uint64_t peak =
      liveness->getPeakBytes([](const TensorRange &) { return true; });
  uint64_t sum = llvm::SaturatingAdd(llvm::SaturatingAdd(state, batch), peak);
  uint64_t limit = host::getMemoryLimit();
  if (sum <= limit)
    return llvm::Error::success();
  return makeError(
      "function '{0}' takes {1} bytes of state and up to {2} bytes "
      "of other tensors at once, but this machine has {3}",
      function.getName(), state, llvm::SaturatingAdd(batch, peak), limit);
}

llvm::Error StepProgram::checkMemory(std::optional<int64_t> batchSize) {
  if (batchSize) {
    auto clone = setBatch(*module, *batchSize);
    if (!clone)
      return clone.takeError();
    return checkNeeds(cast<FunctionOpInterface>(
        SymbolTable::lookupSymbolIn(clone->get(), entry)));
  }
  uint64_t state = 0;
  for (const StepArgument &argument : signature.arguments)
    if (FailureOr<int64_t> bytes = getTensorBytes(argument.type);
        argument.isState() && succeeded(bytes))
      state = llvm::SaturatingAdd(state, uint64_t(*bytes));
  return toError(
      host::checkMemory("the state of function '" + entry + "'", state));
}

/// Returns the file in the folder `cache` that refers to the code of `function`
/// of `module`. Returns an empty string if `cache` is empty.
static std::string getStoredPath(ModuleOp module, llvm::StringRef function,
                                 const CPUPipelineOptions &options,
                                 llvm::StringRef cache) {
  if (cache.empty())
    return "";
  return getStoredStepPath(
      module,
      llvm::formatv("{0} {1} {2} {3} {4}", function, options.threads.getValue(),
                    options.vectorBits.getValue(), options.ranks.getValue(),
                    options.rank.getValue())
          .str(),
      cache);
}

/// Loads the code that the file `stored` refers to. Returns whether it
/// succeeded.
static bool loadStored(llvm::StringRef stored, llvm::StringRef cache,
                       llvm::StringRef function,
                       llvm::ArrayRef<BufferType> buffers, BoundStep &bound) {
  std::optional<StoredStep> step;
  if (!stored.empty())
    step = readStoredStep(stored);
  if (!step)
    return false;
  llvm::SmallString<128> object(cache);
  llvm::sys::path::append(object, step->object);
  bound.code =
      CompiledStep::loadObject(object, step->isParallel, function, buffers);
  bound.plannedBytes = step->plannedBytes;
  return bound.code != nullptr;
}

llvm::Expected<BoundStep> StepProgram::compile(ModuleOp source,
                                               llvm::StringRef name,
                                               int64_t batchSize,
                                               int64_t numRanks) {
  auto prepared = setBatch(source, batchSize);
  if (!prepared)
    return prepared.takeError();
  OwningOpRef<ModuleOp> clone = std::move(*prepared);
  auto function =
      cast<FunctionOpInterface>(SymbolTable::lookupSymbolIn(*clone, name));
  if (llvm::Error error = checkNeeds(function))
    return error;
  // Make any step public: roles make a step, and
  // private functions without callers are erased.
  SymbolTable::setSymbolVisibility(function, SymbolTable::Visibility::Public);
  FailureOr<StepSignature> tensors = StepSignature::get(function);
  if (failed(tensors))
    return llvm::make_error<DiagnosedError>();

  // The lowered function takes the arguments in order, with state updated in
  // place. A buffer follows for each result that is not an update.
  BoundStep bound;
  llvm::SmallVector<BufferType> buffers;
  auto bind = [&](host::Role role, llvm::StringRef name,
                  RankedTensorType type) -> llvm::Error {
    llvm::Expected<BufferType> buffer =
        getBufferType(type, ("'" + name + "'").str());
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(*buffer);
    bound.bindings.push_back({role, name.str(), *buffer});
    return llvm::Error::success();
  };
  for (const StepArgument &argument : tensors->arguments)
    if (llvm::Error error =
            bind(getHostRole(argument), argument.name, argument.type))
      return error;
  for (const StepResult &result : tensors->results) {
    if (result.kind == ResultKind::Update)
      continue;
    if (llvm::Error error = bind(getHostRole(result), result.name, result.type))
      return error;
  }

  CPUPipelineOptions options;
  options.toLLVM = false;
  options.threads = threads;
  options.vectorBits = getHostVectorBits();
  options.ranks = numRanks;
  options.rank = numRanks == 1 ? 0 : rank;
  const std::string lowered = (name + kLoweredSuffix).str();
  const std::string stored = getStoredPath(*clone, name, options, objectCache);
  if (loadStored(stored, objectCache, lowered, buffers, bound))
    return bound;
  if (llvm::Error error = runPasses(*clone, [&](OpPassManager &manager) {
        buildCPUPipeline(manager, options);
      }))
    return error;
  bound.plannedBytes = computePeakBufferBytes(
      cast<func::FuncOp>(SymbolTable::lookupSymbolIn(*clone, lowered)));
  if (llvm::Error error = runPasses(*clone, [&](OpPassManager &manager) {
        buildLoopsToLLVMPipeline(manager, options);
      }))
    return error;
  llvm::Expected<std::unique_ptr<CompiledStep>> code =
      CompiledStep::compile(*clone, lowered, buffers, objectCache);
  if (!code)
    return code.takeError();
  bound.code = std::move(*code);
  if (!stored.empty())
    writeStoredStep(stored,
                    {llvm::sys::path::filename(bound.code->getObject()).str(),
                     bound.code->isParallel(), bound.plannedBytes});
  return bound;
}

llvm::Expected<BoundStep *> StepProgram::getTraining(int64_t batchSize) {
  auto it = training.find(batchSize);
  if (it == training.end()) {
    llvm::Expected<BoundStep> step = compile(*module, entry, batchSize, ranks);
    if (!step)
      return step.takeError();
    it = training.emplace(batchSize, std::move(*step)).first;
  }
  return &it->second;
}

llvm::Expected<BoundStep *> StepProgram::getForward(int64_t batchSize) {
  auto it = forward.find(batchSize);
  if (it == forward.end()) {
    if (llvm::Error error = deriveForward())
      return error;
    llvm::Expected<BoundStep> step =
        compile(*forwardModule, forwardEntry, batchSize, /*numRanks=*/1);
    if (!step)
      return step.takeError();
    it = forward.emplace(batchSize, std::move(*step)).first;
  }
  return &it->second;
}
