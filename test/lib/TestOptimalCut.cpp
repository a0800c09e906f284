//===- TestOptimalCut.cpp - The minimum cut against brute force -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random functions with few free slots, of the train dialect or of linalg, tosa
// and calls of a private function. The test writes every assignment that obeys
// the hard constraints into the IR and counts its cost there, from types, casts
// and numbers of iterations. The strategy `optimal` must find the least cost.
// Of several assignments it must find the one in which every slot is low that
// is low in any of them.
//
//===----------------------------------------------------------------------===//

#include "ReferenceConstraints.h"
#include "SmallFunctions.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Transforms/PrecisionRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::test;

namespace {

/// Counts the cost of functions in their current form.
class Recount {
public:
  Recount(const Target *target, bool masterCopies)
      : target(target), masterCopies(masterCopies) {}

  int64_t count(ModuleOp module) const {
    int64_t cost = 0;
    module.walk([&](Operation *op) {
      CastLike cast(op);
      if (cast && cast.isInserted())
        cost += countCast(cast) * countRuns(op);
      else if (isa<linalg::LinalgOp>(op) ||
               (op->getNumRegions() == 0 && !isa<func::CallOp>(op) &&
                !op->hasTrait<OpTrait::IsTerminator>()))
        cost += countOperation(op) * countRuns(op);
    });
    return cost;
  }

private:
  /// How often `op` runs when its function runs once. Loops with an unknown
  /// number of iterations count 32.
  static int64_t countRuns(Operation *op) {
    int64_t runs = 1;
    for (; !isa<func::FuncOp>(op); op = op->getParentOp()) {
      if (isa<scf::WhileOp>(op->getParentOp()))
        runs *= 32;
      if (auto loop = dyn_cast<scf::ForOp>(op->getParentOp())) {
        IntegerAttr upper;
        runs *= matchPattern(loop.getUpperBound(), m_Constant(&upper))
                    ? upper.getInt()
                    : 32;
      }
    }
    return runs;
  }

  static int64_t bytesOf(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isa<FloatType>(tensor.getElementType()))
      return 0;
    return tensor.getNumElements() * tensor.getElementTypeBitWidth() / 8;
  }

  int64_t countCast(CastLike op) const {
    bool narrows = bytesOf(op.getType()) < bytesOf(op.getInput().getType());
    Operation *producer = op.getInput().getDefiningOp();
    if (narrows && producer && producer->hasTrait<OpTrait::ConstantLike>())
      return 0;
    int64_t written = bytesOf(op.getType());
    if (auto argument = dyn_cast<BlockArgument>(op.getInput());
        argument && narrows && masterCopies) {
      auto function =
          dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      if (function &&
          function.getArgAttr(argument.getArgNumber(), AMPDialect::kRoleAttr) ==
              StringAttr::get(function.getContext(), "parameter"))
        return written;
    }
    return written + bytesOf(op.getInput().getType());
  }

  /// The part of an operand that `op` reads: for a slice or a gather the size
  /// of its result.
  static int64_t countRead(OpOperand &operand) {
    Operation *op = operand.getOwner();
    int64_t all = bytesOf(operand.get().getType());
    if (operand.getOperandNumber() != 0 ||
        !isa<train::SliceOp, train::GatherOp, tensor::ExtractSliceOp>(op))
      return all;
    auto given = cast<RankedTensorType>(op->getResult(0).getType());
    return given.getNumElements() *
           getElementTypeOrSelf(operand.get()).getIntOrFloatBitWidth() / 8;
  }

  int64_t countOperation(Operation *op) const {
    int64_t cost = 0;
    for (OpOperand &operand : op->getOpOperands())
      cost += countRead(operand);
    for (Type type : op->getResultTypes())
      cost += bytesOf(type);
    // A copy in another type is free. An f32 copy of a low constant costs as
    // much as a cast. Otherwise readers of the exact constant would get it.
    auto recorded = op->getAttrOfType<ArrayAttr>(AMPDialect::kInputTypesAttr);
    if (recorded && recorded.empty() && op->getNumResults() != 0)
      return op->hasTrait<OpTrait::ConstantLike>() &&
                     getElementTypeOrSelf(op->getResult(0)).isF32()
                 ? cost / 2 * 3
                 : 0;
    if (!target || !isa<train::MatmulOp, train::LinearOp, linalg::MatmulOp,
                        tosa::MatMulOp>(op))
      return cost;
    int64_t extent =
        cast<RankedTensorType>(op->getResult(0).getType()).getShape().back();
    bool isFast =
        extent % 8 == 0 && getElementTypeOrSelf(op->getOperand(0)) != f32(op);
    double rate = isFast ? target->lowFlopPerByte : target->f32FlopPerByte;
    return cost + std::llround(2.0 * extent * extent * extent / rate);
  }

  static Type f32(Operation *op) { return Float32Type::get(op->getContext()); }

  const Target *target;
  bool masterCopies;
};

/// Undoes `rewritePrecision`.
class Undo {
public:
  explicit Undo(func::FuncOp function) : function(function) {
    function.walk([&](Operation *op) {
      operands.emplace_back(op, SmallVector<Value>(op->getOperands()));
      results.emplace_back(op, SmallVector<Type>(op->getResultTypes()));
      if (op->hasTrait<OpTrait::ConstantLike>())
        attributes.emplace_back(op, op->getAttrDictionary());
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          arguments.emplace_back(argument, argument.getType());
    });
  }

  void run() {
    for (auto &[op, values] : operands)
      op->setOperands(values);
    for (auto &[op, types] : results)
      for (auto [result, type] : llvm::zip(op->getResults(), types))
        result.setType(type);
    for (auto &[op, dictionary] : attributes)
      op->setAttrs(dictionary);
    for (auto &[argument, type] : arguments)
      argument.setType(type);
    SmallVector<Operation *> added;
    function.walk([&](Operation *op) {
      auto recorded = op->getAttrOfType<ArrayAttr>(AMPDialect::kInputTypesAttr);
      CastLike cast(op);
      bool isCopy = recorded && recorded.empty() && op->getNumResults() != 0;
      if ((cast && cast.isInserted()) || isCopy)
        added.push_back(op);
    });
    for (Operation *op : added)
      op->erase();
  }

private:
  func::FuncOp function;
  std::vector<std::pair<Operation *, SmallVector<Value>>> operands;
  std::vector<std::pair<Operation *, SmallVector<Type>>> results;
  std::vector<std::pair<Operation *, DictionaryAttr>> attributes;
  std::vector<std::pair<BlockArgument, Type>> arguments;
};

/// A module with its graph, on which assignments can be tried. Changes of
/// linalg operations and calls are not undone, so each assignment has a copy of
/// the module.
class Trial {
public:
  Trial(ModuleOp module, bool isCopy, const Policy &policy, FloatType low,
        const CostOptions &options)
      : copy(isCopy ? module.clone() : ModuleOp()),
        module(isCopy ? *copy : module), group(findGroup(this->module)),
        policy(policy), low(low), graph(group, policy, low),
        costs(graph, options) {}

  /// Applies `assignment`.
  LogicalResult rewrite(const Assignment &assignment) {
    CastRules casts(policy);
    if (failed(casts.choose(graph, assignment, low)) ||
        failed(rewritePrecision(graph, assignment, casts, low)))
      return failure();
    for (FunctionOpInterface function : group.functions) {
      Operation *last = function.getFunctionBody().back().getTerminator();
      function.setType(FunctionType::get(
          function.getContext(), ValueRange(function.getArguments()).getTypes(),
          last->getOperandTypes()));
    }
    return success();
  }

private:
  static CallGroup findGroup(ModuleOp module) {
    SmallVector<KeptSignature> kept;
    for (const CallGroup &group : findCallGroups(module, kept))
      for (FunctionOpInterface function : group.functions)
        if (function.getName() == "f")
          return group;
    llvm_unreachable("every module has the function");
  }

  OwningOpRef<ModuleOp> copy;

public:
  ModuleOp module;

private:
  CallGroup group;
  const Policy &policy;
  FloatType low;

public:
  SlotGraph graph;
  CostModel costs;
};

struct TestOptimalCut : PassWrapper<TestOptimalCut, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestOptimalCut)

  TestOptimalCut() = default;
  TestOptimalCut(const TestOptimalCut &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "test-optimal-cut"; }
  StringRef getDescription() const override {
    return "compare the strategy optimal with brute force on random functions";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                    AMPDialect, train::TrainDialect, linalg::LinalgDialect,
                    tensor::TensorDialect, tosa::TosaDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Policy> policy = Policy::load("default", module.getLoc());
    if (failed(policy))
      return signalPassFailure();
    std::mt19937 random(seed);
    unsigned tested = 0;
    while (tested < count) {
      OwningOpRef<ModuleOp> holder = ModuleOp::create(module.getLoc());
      OpBuilder builder = OpBuilder::atBlockEnd(holder->getBody());
      int64_t extent = std::array{4, 8, 12, 24}[random() % 4];
      // Choose many slots rarely, because each one doubles the time.
      unsigned most = random() % 100 == 0 ? 14 : 9;
      FunctionMaker maker(random, builder, module.getLoc(), upstream);
      func::FuncOp function = maker.make(extent, 1 + random() % most);
      if (failed(verify(*holder))) {
        function.emitError("the generator made an ill-formed function");
        return signalPassFailure();
      }
      std::optional<Target> target;
      if (random() % 3 == 0)
        target = getTarget("h100");
      bool copies = random() % 3 == 0;
      // Range proofs and masks take part, and need a low type.
      FloatType low = random() % 3 == 0
                          ? FloatType(BFloat16Type::get(&getContext()))
                          : FloatType(Float16Type::get(&getContext()));
      std::string message =
          check(*holder, function, *policy,
                CostOptions{target ? &*target : nullptr, copies}, low, most);
      if (!message.empty()) {
        if (message != "skipped") {
          function.emitError("seed ")
              << seed.getValue() << ", function " << tested << ": " << message;
          return signalPassFailure();
        }
      } else {
        ++tested;
      }
    }
    module.emitRemark() << tested << " functions, " << assignments
                        << " assignments, " << ties
                        << " functions with several of least cost, " << mixed
                        << " with both types, " << idle
                        << " slots that would gain nothing, " << proven
                        << " with a range proof, " << masked << " with a mask";
  }

private:
  /// Free slots that share a value, or of which one implies the other, and all
  /// that these share one with.
  static std::vector<SmallVector<VertexId>>
  findComponents(const SlotGraph &graph, ArrayRef<VertexId> free) {
    std::vector<SmallVector<VertexId>> components;
    for (VertexId v : free)
      components.push_back({v});
    auto touches = [&](VertexId v, uint32_t value) {
      return graph.getValues()[value].vertex == v ||
             llvm::any_of(graph.getUsesInto(v), [&](uint32_t use) {
               return graph.getUses()[use].value == value;
             });
    };
    auto areTied = [&](VertexId a, VertexId b) {
      for (auto [premise, conclusion] : graph.getImplications())
        if ((premise == a && conclusion == b) ||
            (premise == b && conclusion == a))
          return true;
      for (uint32_t value = 0; value < graph.getValues().size(); ++value)
        if (touches(a, value) && touches(b, value))
          return true;
      return false;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (auto &first : components)
        for (auto &second : components)
          if (&first != &second && llvm::any_of(first, [&](VertexId a) {
                return llvm::any_of(second,
                                    [&](VertexId b) { return areTied(a, b); });
              })) {
            first.append(second);
            second.clear();
            changed = true;
          }
    }
    return components;
  }

  /// Whether a low product is one of `component`, or gives or reads a value of
  /// it.
  static bool isNearProduct(const SlotGraph &graph,
                            ArrayRef<VertexId> component,
                            const std::vector<bool> &low) {
    auto isProduct = [&](VertexId v) {
      return graph.getVertices()[v].kind == SlotKind::Compute && low[v];
    };
    auto isOfComponent = [&](VertexId v) {
      return llvm::is_contained(component, v);
    };
    return llvm::any_of(component, isProduct) ||
           llvm::any_of(
               graph.getUses(),
               [&](const SlotUse &use) {
                 return (isOfComponent(use.producer) && isProduct(use.user)) ||
                        (isOfComponent(use.user) && isProduct(use.producer));
               }) ||
           llvm::any_of(graph.getImplications(), [&](auto entry) {
             return isOfComponent(entry.first) && isProduct(entry.second);
           });
  }

  /// Returns the fault, "skipped" if the function is too large or has no
  /// choice, or nothing.
  std::string check(ModuleOp module, func::FuncOp function,
                    const Policy &policy, const CostOptions &options,
                    FloatType low, unsigned most) {
    Trial first(module, /*isCopy=*/false, policy, low, options);
    const SlotGraph &graph = first.graph;
    const CostModel &costs = first.costs;
    ReferenceConstraints constraints(graph, costs);
    std::vector<VertexId> free = constraints.getFree();
    if (free.empty() || free.size() > most)
      return "skipped";

    Assignment optimal = assignOptimal(graph, costs);
    if (!constraints.areMet(optimal.low))
      return "a hard constraint is violated";
    if (!constraints.areImplicationsMet(optimal.low))
      return "an implication is violated";

    Recount recount(options.target, options.masterCopies);
    Undo undo(function);
    bool isIllFormed = false;
    auto rewriteAndCount = [&](const Assignment &assignment) {
      std::optional<Trial> copy;
      if (upstream)
        copy.emplace(module, /*isCopy=*/true, policy, low, options);
      Trial &trial = copy ? *copy : first;
      int64_t cost = succeeded(trial.rewrite(assignment))
                         ? recount.count(trial.module)
                         : -1;
      isIllFormed =
          cost < 0 || (&assignment == &optimal && failed(verify(trial.module)));
      if (!copy)
        undo.run();
      return cost;
    };

    int64_t found = rewriteAndCount(optimal);
    if (isIllFormed)
      return "the rewritten function is ill-formed";
    // The costs that the model omits are equal for all assignments.
    int64_t uncounted = found - costs.evaluate(optimal).cost;

    int64_t least = std::numeric_limits<int64_t>::max();
    std::vector<bool> lowInAny;
    std::vector<SmallVector<VertexId>> components = findComponents(graph, free);
    std::vector<bool> mayBeF32;
    unsigned numLeast = 0;
    Assignment candidate;
    candidate.reasons.assign(graph.getVertices().size(), Reason::Fixed);
    for (unsigned bits = 0; bits < 1u << free.size(); ++bits) {
      candidate.low = optimal.low;
      for (VertexId v = 1; v < candidate.low.size(); ++v)
        candidate.low[v] = candidate.low[v] && constraints.isLow(v);
      for (auto [index, v] : llvm::enumerate(free))
        candidate.low[v] = (bits >> index) & 1;
      if (!constraints.areImplicationsMet(candidate.low))
        continue;
      ++assignments;
      int64_t cost = rewriteAndCount(candidate);
      if (cost != costs.evaluate(candidate).cost + uncounted)
        return "the cost model says " +
               std::to_string(costs.evaluate(candidate).cost + uncounted) +
               ", the rewritten function costs " + std::to_string(cost);
      if (cost < least) {
        least = cost;
        numLeast = 0;
        lowInAny.assign(candidate.low.size(), false);
        mayBeF32.assign(components.size(), false);
      }
      if (cost == least) {
        ++numLeast;
        for (VertexId v = 1; v < candidate.low.size(); ++v)
          lowInAny[v] = lowInAny[v] || candidate.low[v];
        for (auto [index, component] : llvm::enumerate(components))
          mayBeF32[index] =
              mayBeF32[index] || llvm::none_of(component, [&](VertexId v) {
                return candidate.low[v];
              });
      }
    }
    // What gains nothing, far from products, stays f32.
    for (auto [index, component] : llvm::enumerate(components)) {
      if (!mayBeF32[index] || isNearProduct(graph, component, lowInAny))
        continue;
      for (VertexId v : component) {
        idle += lowInAny[v];
        lowInAny[v] = false;
      }
    }
    if (found != least)
      return "optimal costs " + std::to_string(found) +
             ", but the least cost is " + std::to_string(least);
    for (VertexId v : free)
      if (optimal.low[v] != lowInAny[v])
        return "a slot of '" +
               graph.getVertices()[v].op->getName().getStringRef().str() +
               (optimal.low[v] ? "' is low and gains nothing"
                               : "' could be low at the same cost");
    ties += numLeast > 1;
    proven += llvm::any_of(graph.getVertices(), [](const SlotVertex &vertex) {
      return vertex.proof == RangeProof::Fits;
    });
    masked += llvm::any_of(graph.getValues(), [&](const SlotValue &value) {
      return graph.isMask(value.value);
    });
    mixed += llvm::any_of(free, [&](VertexId v) { return optimal.low[v]; }) &&
             llvm::any_of(free, [&](VertexId v) { return !optimal.low[v]; });
    return {};
  }

  Option<unsigned> count{*this, "count", llvm::cl::init(2000),
                         llvm::cl::desc("Functions to test")};
  Option<unsigned> seed{*this, "seed", llvm::cl::init(1),
                        llvm::cl::desc("Of the random numbers")};
  Option<bool> upstream{
      *this, "upstream", llvm::cl::init(false),
      llvm::cl::desc("Functions with linalg, tosa, tensor and calls as well")};
  uint64_t assignments = 0;
  unsigned ties = 0, mixed = 0, idle = 0, proven = 0, masked = 0;
};

} // namespace

namespace mlir::amp::test {
void registerOptimalCutTest() { PassRegistration<TestOptimalCut>(); }
} // namespace mlir::amp::test
