//===- FuzzModules.cpp - Policies, options and modules --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "amp-c/Pipeline.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/RegisterAll/Tools.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// A context that swallows diagnostics. It is replaced from time to time,
/// because types and attributes of all inputs stay in it.
class Context {
public:
  static MLIRContext &get() {
    static std::unique_ptr<Context> current;
    static unsigned uses = 0;
    if (!current || ++uses % 500 == 0) {
      current.reset();
      current.reset(new Context);
    }
    return current->context;
  }

private:
  Context()
      : context(getRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context, [](Diagnostic &) { return success(); }) {
    context.allowUnregisteredDialects();
    context.loadDialect<AMPDialect, train::TrainDialect, cuda::CUDADialect>();
  }

  static const DialectRegistry &getRegistry() {
    static const DialectRegistry *registry = [] {
      auto *registry = new DialectRegistry;
      amp::registerToolDialects(*registry);
      amp::registerToolPasses();
      return registry;
    }();
    return *registry;
  }

  MLIRContext context;
  ScopedDiagnosticHandler handler;
};

} // namespace

const std::vector<std::string> &fuzz::getWords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> words = {
        "f16",          "bf16",       "f32",     "f64",     "i1",
        "i32",          "i64",        "?",       "0",       "1",
        "-1",           "2147483648", "true",    "inf",     "nan",
        "f8E4M3FN",     "version: 1", "extends", "allow",   "deny",
        "infer",        "clear",      "keep",    "slots",   "pins",
        "kind",         "adapters",   "dialect", "cast",    "compute",
        "range",        "amp.role",   "storage", "default", "amp.updates",
        "amp.init",     "none",       "fp16",    "masters", "target",
        "amp.precision"};
    words.insert(words.end(), {"slot-types", "same-as", "low", "any"});
    for (RegisteredOperationName name :
         Context::get().getRegisteredOperations())
      if (llvm::is_contained({"amp", "train", "cuda", "scf"},
                             name.getDialectNamespace()))
        words.push_back(name.getStringRef().str());
    return words;
  }();
  return words;
}

void fuzz::fuzzPolicy(StringRef input) {
  MLIRContext &context = Context::get();
  FailureOr<Policy> policy =
      Policy::parse(input, "policy", UnknownLoc::get(&context));
  if (failed(policy))
    return;
  std::string text, again;
  llvm::raw_string_ostream os(text), osAgain(again);
  policy->print(os);
  FailureOr<Policy> back =
      Policy::parse(text, "printed", UnknownLoc::get(&context));
  require(succeeded(back), "a printed policy is a policy");
  back->print(osAgain);
  require(text == again, "a policy that is read and printed stays the same");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// A step with a product, and one operation that only adapters know. Keys of
/// `slot-types` name the operations with locations.
static constexpr StringRef kStep = R"mlir(
func.func @step(%x: tensor<4x3xf32> {amp.role = "batch", amp.name = "x"},
                %w: tensor<3x2xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<3x2xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.matmul %x, %w : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> loc("product")
  %z = "other.gelu"(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = train.relu %z : tensor<4x2xf32> loc("relu")
  %m = train.reduce_mean %r {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  %d = "other.scale"(%w) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %d, %m : tensor<3x2xf32>, tensor<f32>
}
)mlir";

void fuzz::fuzzOptions(StringRef input) {
  auto [options, policy] = input.split('\n');
  // Options name files that the pipeline writes.
  if (options.contains('/') || options.contains("report"))
    return;
  MLIRContext &context = Context::get();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kStep, &context);
  require(bool(module), "the step of this target is valid");
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    return text;
  };
  auto swallow = [](MlirStringRef, void *) {};
  auto handle = [](MlirDiagnostic, void *) {
    return mlirLogicalResultSuccess();
  };
  if (policy.empty())
    policy = "default";
  const std::string before = print();
  MlirLogicalResult result = ampRunTrainingPipeline(
      wrap(*module), mlirStringRefCreate(policy.data(), policy.size()),
      mlirStringRefCreate(options.data(), options.size()), handle, nullptr,
      swallow, nullptr);
  if (mlirLogicalResultIsFailure(result))
    require(before == print(), "a failure leaves the module as it was");
}

static constexpr StringRef kPipelines[] = {
    "amp-training-pipeline{precision=fp16}",
    "amp-training-pipeline{precision=bf16 master-weights=copy}",
    "train-autodiff,amp-training-pipeline{precision=fp16 policy=pytorch}",
    "amp-import-step,amp-training-pipeline{precision=fp16 policy=stablehlo}",
    "amp-cuda-pipeline",
    "amp-training-pipeline{precision=fp16},amp-cuda-pipeline",
    "amp-cpu-pipeline",
    "amp-check-loss-scaling",
    "train-autodiff,train-rematerialize",
    "stablehlo-to-train",
};

/// Whether MLIR's parser would ask an array of `text` for the width of a type
/// that has none, such as `array<none: 0>`. It has no error for this.
static bool hasArrayWithoutWidth(StringRef text) {
  constexpr StringLiteral kArray = "array<";
  for (size_t at = text.find(kArray); at != StringRef::npos;
       at = text.find(kArray, at + 1)) {
    StringRef type = text.substr(at + kArray.size()).ltrim();
    type.consume_front("b");
    if (!type.consume_front("i") && !type.consume_front("f"))
      return true;
    if (type.empty() || !llvm::isDigit(type.front()))
      return true;
  }
  return false;
}

void fuzz::fuzzModule(StringRef input) {
  if (input.empty())
    return;
  const size_t pipeline = size_t(input.front() - '0');
  if (pipeline >= std::size(kPipelines))
    return;
  MLIRContext &context = Context::get();
  ParserConfig config(&context);
  // MLIR's parser reads one character behind the text where it reports an error
  // at its end. Texts of files have a null there.
  const std::string source = input.drop_front().str();
  if (hasArrayWithoutWidth(source))
    return;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, config);
  if (!module)
    return;
  PassManager manager(&context, ModuleOp::getOperationName());
  const LogicalResult parsed =
      parsePassPipeline(kPipelines[pipeline], manager, llvm::errs());
  require(succeeded(parsed), "the pipelines of this target exist");
  if (failed(manager.run(*module)))
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
}
