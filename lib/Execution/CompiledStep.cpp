//===- CompiledStep.cpp - A function compiled for this machine ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/CompiledStep.h"

#include "CPUCollectives.h"
#include "ObjectCache.h"
#include "amp/Execution/Caller.h"
#include "amp/Execution/Errors.h"
#include "amp/Execution/StepMemory.h"
#include "amp/Execution/Threads.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::amp;

void mlir::amp::registerExecutionDialects(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
}

unsigned mlir::amp::getHostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup("avx512f") ? 512 : features.lookup("avx") ? 256 : 128;
}

CompiledStep::CompiledStep() = default;
CompiledStep::~CompiledStep() = default;

/// The functions of this process that compiled code calls.
static llvm::orc::SymbolMap getOwnSymbols(llvm::orc::MangleAndInterner names) {
  llvm::orc::SymbolMap symbols;
  auto define = [&](llvm::StringRef name, auto *function) {
    symbols[names(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                            llvm::JITSymbolFlags::Exported};
  };
  define("aligned_alloc", &allocateForStep);
  define("free", &freeForStep);
  defineCollectives(define);
  defineCalls(define);
  return symbols;
}

llvm::Error CompiledStep::load(std::unique_ptr<llvm::MemoryBuffer> object,
                               llvm::StringRef function,
                               llvm::ArrayRef<StringRef> libraries) {
  using llvm::orc::DynamicLibrarySearchGenerator;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  llvm::orc::JITDylib &symbols = (*jit)->getMainJITDylib();
  const char prefix = (*jit)->getDataLayout().getGlobalPrefix();
  if (llvm::Error error = symbols.define(
          llvm::orc::absoluteSymbols(getOwnSymbols(llvm::orc::MangleAndInterner(
              (*jit)->getExecutionSession(), (*jit)->getDataLayout())))))
    return error;
  for (StringRef library : libraries) {
    auto generator =
        DynamicLibrarySearchGenerator::Load(library.str().c_str(), prefix);
    if (!generator)
      return generator.takeError();
    symbols.addGenerator(std::move(*generator));
  }
  auto process = DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  symbols.addGenerator(std::move(*process));
  if (llvm::Error error = (*jit)->addObjectFile(std::move(object)))
    return error;
  // The name of the function that takes a pointer to each argument.
  auto address = (*jit)->lookup(("_mlir_" + function).str());
  if (!address)
    return address.takeError();
  entry = address->toPtr<void (*)(void **)>();
  loaded = std::move(*jit);
  return llvm::Error::success();
}

std::optional<host::ElementType> mlir::amp::getElementType(Type type) {
  using host::ElementType;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return isUnsigned ? std::nullopt : std::optional(ElementType::Bool);
  case 8:
    return isUnsigned ? ElementType::U8 : ElementType::I8;
  case 16:
    return isUnsigned ? ElementType::U16 : ElementType::I16;
  case 32:
    return isUnsigned ? std::nullopt : std::optional(ElementType::I32);
  case 64:
    return isUnsigned ? std::nullopt : std::optional(ElementType::I64);
  default:
    return std::nullopt;
  }
}

static bool hasThreads(ModuleOp module) {
  return module.walk([](omp::ParallelOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createHostMachine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Expected<llvm::orc::JITTargetMachineBuilder> builder =
      llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder->createTargetMachine();
}

/// Adds the OpenMP library to `libraries` if the code is parallel. `path` owns
/// its name.
static llvm::Error findLibraries(bool isParallel, std::string &path,
                                 llvm::SmallVectorImpl<StringRef> &libraries) {
  if (!isParallel)
    return llvm::Error::success();
  llvm::Expected<ThreadRuntime> runtime = getThreadRuntime();
  if (!runtime)
    return runtime.takeError();
  path = runtime->path;
  libraries.push_back(path);
  return llvm::Error::success();
}

std::unique_ptr<CompiledStep>
CompiledStep::loadObject(llvm::StringRef object, bool isParallel,
                         llvm::StringRef function,
                         llvm::ArrayRef<BufferType> buffers) {
  auto bytes = readObject(object);
  if (!bytes)
    return nullptr;
  llvm::SmallVector<StringRef, 1> libraries;
  std::string runtimePath;
  std::unique_ptr<CompiledStep> step(new CompiledStep());
  step->buffers.assign(buffers.begin(), buffers.end());
  step->object = object.str();
  step->parallel = isParallel;
  llvm::Error error = findLibraries(isParallel, runtimePath, libraries);
  if (!error)
    error = step->load(std::move(bytes), function, libraries);
  if (error) {
    // The caller compiles the step again and reports errors.
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  keepFreedMemory();
  return step;
}

llvm::Expected<std::unique_ptr<CompiledStep>>
CompiledStep::compile(ModuleOp module, llvm::StringRef function,
                      llvm::ArrayRef<BufferType> buffers,
                      llvm::StringRef cache) {
  std::unique_ptr<CompiledStep> step(new CompiledStep());
  step->buffers.assign(buffers.begin(), buffers.end());
  step->parallel = hasThreads(module);
  // The options refer to the list.
  llvm::SmallVector<StringRef, 1> libraries;
  std::string runtimePath;
  if (llvm::Error error = findLibraries(step->parallel, runtimePath, libraries))
    return error;
  keepFreedMemory();
  const std::string path = cache.empty() ? "" : getObjectPath(module, cache);
  if (auto object = path.empty() ? nullptr : readObject(path)) {
    llvm::Error error = step->load(std::move(object), function, libraries);
    if (!error) {
      step->object = path;
      return step;
    }
    // Compile again.
    llvm::consumeError(std::move(error));
  }

  // The engine takes one target machine. The optimiser keeps another.
  auto optimizerMachine = createHostMachine();
  if (!optimizerMachine)
    return optimizerMachine.takeError();
  auto engineMachine = createHostMachine();
  if (!engineMachine)
    return engineMachine.takeError();

  // ExecutionEngineOptions refers to the function, so it needs a name here.
  std::function<llvm::Error(llvm::Module *)> optimize =
      makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                optimizerMachine->get());
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  options.sharedLibPaths = libraries;
  options.enableObjectDump = !path.empty();
  auto engine =
      ExecutionEngine::create(module, options, std::move(*engineMachine));
  if (!engine)
    return makeError("cannot compile '{0}': {1}", function,
                     llvm::toString(engine.takeError()));

  (*engine)->registerSymbols(getOwnSymbols);

  step->engine = std::move(*engine);
  auto entry = step->engine->lookupPacked(function);
  if (!entry)
    return makeError("cannot compile '{0}': {1}", function,
                     llvm::toString(entry.takeError()));
  step->entry = *entry;
  if (!path.empty() && writeObject(path, [&](StringRef scratch) {
        step->engine->dumpToObjectFile(scratch);
        return true;
      }))
    step->object = path;
  return step;
}

llvm::Error CompiledStep::run(llvm::ArrayRef<host::Array *> arrays,
                              const amp_step_caller &caller) {
  if (arrays.size() != buffers.size())
    return makeError("the compiled function takes {0} buffers, got {1}",
                     buffers.size(), arrays.size());
  llvm::SmallVector<void *> pointers;
  for (auto [array, buffer] : llvm::zip_equal(arrays, buffers)) {
    if (array->getType() != buffer.type || array->getShape() != buffer.shape)
      return makeError("buffer {0} of the compiled function is {1}, got {2}",
                       pointers.size(), buffer.describe(), array->describe());
    pointers.push_back(array->data());
  }
  // The packed interface takes a pointer to each argument.
  llvm::SmallVector<void *> packed;
  for (void *&pointer : pointers)
    packed.push_back(&pointer);
  StepMemory &memory = getStepMemory();
  int64_t before = memory.peak = memory.live;
  llvm::Error error = runWithCaller(caller, entry, packed.data());
  peakBytes = memory.peak - before;
  return error;
}
