//===- TestPrecisionProperties.cpp - What must hold for every graph -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "ReferencePins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Precision/Assignment/SharedFunctions.h"
#include "amp/Support/PrecisionName.h"
#include "amp/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ThreadPool.h"
#include <map>
#include <mutex>
#include <random>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::test;

/// Numbers the operations of a graph to find them later.
static constexpr StringLiteral kId = "test.id";

namespace {

/// The types of the operands and results of each operation, by its number.
using TypesById = std::map<int64_t, SmallVector<Type>>;

/// The configuration of the pass.
struct Configuration {
  std::string strategy, policy, target;
};

/// Tests all properties of one random graph under one configuration.
class PropertyTest {
public:
  PropertyTest(MLIRContext *context, const RandomGraphOptions &options,
               const Configuration &configuration)
      : context(context), options(options), configuration(configuration) {}

  /// Returns a property that does not hold, or an empty result.
  std::string run() {
    input = makeRandomGraph(context, options);
    if (failed(verify(*input)))
      return "the graph does not verify";
    // The copies remain after amp-strip-precision.
    if (configuration.strategy == "optimal")
      splitFunctionsOfUpdates(*input);
    int64_t next = 0;
    input->walk([&](Operation *op) {
      if (!isa<ModuleOp>(op))
        op->setAttr(kId, Builder(context).getI64IntegerAttr(next++));
    });
    if (pinsContradict(*input))
      return checkContradiction(*input, "fp16", /*policy=*/{});
    inputText = print(*input);
    for (StringRef precision : {"fp16", "bf16"}) {
      std::string problem = runWith(precision);
      if (!problem.empty())
        return (precision + ": " + problem).str();
    }
    return {};
  }

  /// Whether some value became low. Otherwise the test has no effect.
  bool becameLow = false;

private:
  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, OpPrintingFlags().useLocalScope());
    return text;
  }

  LogicalResult mix(ModuleOp module, StringRef precision,
                    StringRef policy = {}) {
    AutoMixedPrecisionPassOptions passOptions;
    passOptions.precision = precision.str();
    passOptions.policy = policy.empty() ? configuration.policy : policy.str();
    passOptions.strategy = configuration.strategy;
    passOptions.target = configuration.target;
    PassManager pm(context);
    pm.addPass(createAutoMixedPrecisionPass(passOptions));
    return pm.run(module);
  }

  /// The types of all operations but those that the pass added: casts, and
  /// copies of constants.
  static TypesById getTypes(ModuleOp module) {
    TypesById types;
    module.walk([&](Operation *op) {
      auto id = op->getAttrOfType<IntegerAttr>(kId);
      auto recorded = op->getAttrOfType<ArrayAttr>(AMPDialect::kInputTypesAttr);
      bool isCopy = recorded && recorded.empty() && op->getNumResults() != 0;
      if (!id || isCopy)
        return;
      SmallVector<Type> &entry = types[id.getInt()];
      llvm::append_range(entry, op->getOperandTypes());
      llvm::append_range(entry, op->getResultTypes());
      for (Region &region : op->getRegions())
        llvm::append_range(entry, region.getArgumentTypes());
    });
    return types;
  }

  /// Pins that cannot all hold are an error that names both.
  std::string checkContradiction(ModuleOp module, StringRef precision,
                                 StringRef policy) {
    unsigned numErrors = 0, numNotes = 0;
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      numErrors += StringRef(diagnostic.str())
                       .contains("control flow ties a value of it to one that "
                                 "is pinned to ");
      for (Diagnostic &note : diagnostic.getNotes())
        numNotes += StringRef(note.str()).starts_with("pinned to ");
      return success();
    });
    if (succeeded(mix(module, precision, policy)) || numErrors == 0 ||
        numNotes != numErrors)
      return "pins that contradict each other are not reported";
    return {};
  }

  std::string runWith(StringRef precision) {
    OwningOpRef<ModuleOp> mixed(input->clone());
    if (failed(mix(*mixed, precision)))
      return "the result does not verify";
    std::string mixedText = print(*mixed);
    TypesById before = getTypes(*input), after = getTypes(*mixed);

    std::string problem = checkTypes(*mixed, before, after, precision);
    if (!problem.empty())
      return problem;

    OwningOpRef<ModuleOp> other(mixed->clone());
    if (failed(mix(*other, precision)) || print(*other) != mixedText)
      return "a second run changes something";
    StringRef otherPrecision = precision == "fp16" ? "bf16" : "fp16";
    OwningOpRef<ModuleOp> direct(input->clone());
    if (failed(mix(*other, otherPrecision)) ||
        failed(mix(*direct, otherPrecision)) || print(*other) != print(*direct))
      return "a second run with another type does not start from the input";

    OwningOpRef<ModuleOp> stripped(mixed->clone());
    PassManager pm(context);
    pm.addPass(createStripPrecisionPass());
    if (failed(pm.run(*stripped)) || print(*stripped) != inputText)
      return "amp-strip-precision does not give the input back";

    OwningOpRef<ModuleOp> shuffled(input->clone());
    shuffle(*shuffled);
    if (failed(mix(*shuffled, precision)) || getTypes(*shuffled) != after)
      return "the assignment depends on the order of operations";
    return checkDeny(precision, after);
  }

  /// Only f32 tensors may change, and only to the low type. Casts of the user
  /// do not change.
  std::string checkTypes(ModuleOp mixed, const TypesById &before,
                         const TypesById &after, StringRef precision) {
    FloatType low = parsePrecision(precision, context);
    Type f32 = Float32Type::get(context);
    if (before.size() != after.size())
      return "operations disappear";
    for (const auto &[id, types] : before) {
      auto it = after.find(id);
      if (it == after.end() || it->second.size() != types.size())
        return "operation " + std::to_string(id) + " is not what it was";
      for (auto [from, to] : llvm::zip(types, it->second)) {
        if (from == to)
          continue;
        auto fromTensor = dyn_cast<RankedTensorType>(from);
        if (!fromTensor || fromTensor.getElementType() != f32 ||
            to != fromTensor.clone(low))
          return "a type that is not ours changes in operation " +
                 std::to_string(id);
        becameLow = true;
      }
    }
    std::string problem;
    mixed.walk([&](CastOp op) {
      auto id = op->getAttrOfType<IntegerAttr>(kId);
      SmallVector<Type> types(op->getOperandTypes());
      llvm::append_range(types, op->getResultTypes());
      if (id && types != before.at(id.getInt()))
        problem = "a cast of the input changes";
      else if (!id && !op.getInserted())
        problem = "a cast is not marked as inserted";
    });
    return problem;
  }

  /// Permutes independent operations of each block.
  void shuffle(ModuleOp module) {
    std::mt19937_64 engine(options.seed ^ 0x5eed);
    module.walk([&](func::FuncOp function) {
      function->walk([&](Block *block) {
        if (block->getParentOp() == module.getOperation() ||
            !block->mightHaveTerminator())
          return;
        Operation *terminator = block->getTerminator();
        DenseSet<Operation *> waiting;
        SmallVector<Operation *> ready, order;
        for (Operation &op : block->without_terminator())
          waiting.insert(&op);
        // An operation follows the operations of the block whose results it or
        // its regions read.
        auto isReady = [&](Operation *op) {
          bool ready = true;
          op->walk([&](Operation *inner) {
            for (Value operand : inner->getOperands())
              if (Operation *definition = operand.getDefiningOp())
                if (Operation *holder =
                        block->findAncestorOpInBlock(*definition))
                  ready &= holder == op || !waiting.contains(holder);
          });
          return ready;
        };
        while (!waiting.empty()) {
          ready.clear();
          for (Operation &op : block->without_terminator())
            if (waiting.contains(&op) && isReady(&op))
              ready.push_back(&op);
          Operation *chosen = ready[engine() % ready.size()];
          waiting.erase(chosen);
          order.push_back(chosen);
        }
        for (Operation *op : order)
          op->moveBefore(terminator);
      });
    });
  }

  /// Denies one kind of operation by a pin and by an entry of the policy. No
  /// other value may become low.
  std::string checkDeny(StringRef precision, const TypesById &after) {
    std::mt19937_64 engine(options.seed ^ 0xde47);
    SmallVector<StringRef> names;
    input->walk([&](Operation *op) {
      if (isa<PrecisionOpInterface>(op) && !isa<CastOp>(op))
        names.push_back(op->getName().getStringRef());
    });
    if (names.empty())
      return {};
    StringRef chosen = names[engine() % names.size()];
    OwningOpRef<ModuleOp> pinned(input->clone());
    pinned->walk([&](Operation *op) {
      if (op->getName().getStringRef() == chosen &&
          !op->hasAttr(AMPDialect::kPrecisionAttr))
        op->setAttr(AMPDialect::kPrecisionAttr,
                    StringAttr::get(context, "f32"));
    });
    std::string problem =
        checkDenied(*pinned, precision, /*policy=*/{}, chosen, after);
    if (!problem.empty())
      return problem + " by a pin";
    std::string policy = ("{version: 1, extends: " + configuration.policy +
                          ", deny: [" + chosen + "]}")
                             .str();
    OwningOpRef<ModuleOp> listed(input->clone());
    problem = checkDenied(*listed, precision, policy, chosen, after);
    return problem.empty() ? problem : problem + " by the policy";
  }

  std::string checkDenied(ModuleOp denied, StringRef precision,
                          StringRef policy, StringRef chosen,
                          const TypesById &after) {
    if (pinsContradict(denied))
      return checkContradiction(denied, precision, policy);
    if (failed(mix(denied, precision, policy)))
      return "the result does not verify where an operation is denied";
    FloatType low = parsePrecision(precision, context);
    std::string problem;
    TypesById now = getTypes(denied);
    denied.walk([&](Operation *op) {
      auto id = op->getAttrOfType<IntegerAttr>(kId);
      if (!id)
        return;
      // Operands that were low may have a cast now. The results of the
      // operation must not become low.
      for (unsigned i = op->getNumOperands(), e = now[id.getInt()].size();
           i != e; ++i)
        if (now[id.getInt()][i] != after.at(id.getInt())[i] &&
            getElementTypeOrSelf(now[id.getInt()][i]) == low)
          problem = ("denying '" + chosen + "' makes a result of '" +
                     op->getName().getStringRef() + "' (" +
                     std::to_string(id.getInt()) + ") low")
                        .str();
    });
    return problem;
  }

  MLIRContext *context;
  RandomGraphOptions options;
  Configuration configuration;
  OwningOpRef<ModuleOp> input;
  std::string inputText;
};

struct TestPrecisionProperties
    : PassWrapper<TestPrecisionProperties, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestPrecisionProperties)

  TestPrecisionProperties() = default;
  TestPrecisionProperties(const TestPrecisionProperties &other)
      : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-precision-properties"; }
  StringRef getDescription() const override {
    return "check properties of the precision passes on random graphs";
  }

  /// Returns a property that does not hold for the graph of a seed and a size.
  std::string check(MLIRContext *context, uint64_t graphSeed,
                    unsigned graphSize, const Configuration &configuration,
                    bool &becameLow) {
    RandomGraphOptions options;
    options.seed = graphSeed;
    options.size = graphSize;
    options.dynamic = graphSeed % 2;
    options.foreign = graphSeed % 3 != 0;
    options.calls = graphSeed % 5 != 0;
    PropertyTest test(context, options, configuration);
    std::string problem = test.run();
    becameLow |= test.becameLow;
    return problem;
  }

  void runSlice(unsigned begin, unsigned end) {
    DialectRegistry registry;
    registerRandomGraphDialects(registry);
    registerPrecisionExternalModels(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects();
    context.loadAllAvailableDialects();
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      diagnostics += diagnostic.str() + "\n";
      return success();
    });
    for (unsigned i = begin; i < end; ++i) {
      uint64_t graphSeed = seed + i;
      // All strategies, and all combinations of policies and targets in turn.
      Configuration configuration;
      configuration.policy = policies[graphSeed % policies.size()];
      configuration.target =
          targets[graphSeed / policies.size() % targets.size()];
      if (configuration.target == "none")
        configuration.target.clear();
      for (const std::string &strategy : strategies) {
        configuration.strategy = strategy;
        bool becameLow = false;
        diagnostics.clear();
        std::string problem =
            check(&context, graphSeed, size, configuration, becameLow);
        unsigned smallest = size;
        // Report the least size at which the seed still fails.
        for (unsigned s = 1; !problem.empty() && s < size; ++s) {
          bool ignored = false;
          diagnostics.clear();
          std::string smaller =
              check(&context, graphSeed, s, configuration, ignored);
          if (smaller.empty())
            continue;
          problem = smaller;
          smallest = s;
          break;
        }
        std::lock_guard<std::mutex> lock(mutex);
        numLow += becameLow;
        if (problem.empty())
          continue;
        if (++numFailures <= 5)
          llvm::errs() << "seed=" << graphSeed << " size=" << smallest << " "
                       << strategy << " policy=" << configuration.policy
                       << " target=" << configuration.target << " " << problem
                       << "\n"
                       << diagnostics;
      }
    }
  }

  void runOnOperation() override {
    if (strategies.empty())
      for (StringRef strategy : {"autocast", "grappler", "optimal"})
        strategies.push_back(strategy.str());
    if (policies.empty())
      policies.push_back("default");
    if (targets.empty())
      targets.push_back("none");
    // A context keeps every type and attribute. Use a new one after a few
    // seeds.
    static constexpr unsigned slice = 100;
    {
      llvm::DefaultThreadPool pool;
      for (unsigned begin = 0; begin < count; begin += slice)
        pool.async([this, begin] {
          runSlice(begin, std::min<unsigned>(begin + slice, count));
        });
      pool.wait();
    }
    if (numFailures != 0) {
      getOperation()->emitError() << numFailures << " of "
                                  << count * strategies.size() << " cases fail";
      return signalPassFailure();
    }
    if (numLow < count / 2) {
      getOperation()->emitError()
          << "only " << numLow << " cases have a low value";
      return signalPassFailure();
    }
    llvm::outs() << "// " << count << " graphs hold\n";
  }

  Option<uint64_t> seed{*this, "seed", llvm::cl::init(0),
                        llvm::cl::desc("Seed of the first graph")};
  Option<unsigned> count{*this, "count", llvm::cl::init(200),
                         llvm::cl::desc("How many graphs")};
  Option<unsigned> size{*this, "size", llvm::cl::init(24),
                        llvm::cl::desc("About how many operations each")};
  ListOption<std::string> policies{*this, "policies",
                                   llvm::cl::desc("Presets or files")};
  ListOption<std::string> targets{*this, "targets",
                                  llvm::cl::desc("Targets, or none")};
  ListOption<std::string> strategies{*this, "strategies",
                                     llvm::cl::desc("Strategies to test")};

  std::mutex mutex;
  unsigned numFailures = 0, numLow = 0;
};

} // namespace

namespace mlir::amp::test {
void registerPropertyTests() { PassRegistration<TestPrecisionProperties>(); }
} // namespace mlir::amp::test
