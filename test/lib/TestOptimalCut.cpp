//===- TestOptimalCut.cpp - The minimum cut against brute force -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random functions of few free slots. Every assignment that obeys the hard
// constraints is written into the IR, and what it costs is counted there, from
// types and casts. The strategy `optimal` has to find the least, and of several
// the one in which every slot is low that is low in any.
//
//===----------------------------------------------------------------------===//

#include "PlainConstraints.h"
#include "SmallFunctions.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Transforms/PrecisionRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::test;

namespace {

/// Counts what a function costs as it stands.
class Recount {
public:
  Recount(const Target *target, bool masterCopies)
      : target(target), masterCopies(masterCopies) {}

  int64_t count(func::FuncOp function) const {
    int64_t cost = 0;
    function.walk([&](Operation *op) {
      auto cast = dyn_cast<CastOp>(op);
      if (cast && cast.getInserted())
        cost += countCast(cast);
      else if (op->getNumRegions() == 0 &&
               !op->hasTrait<OpTrait::IsTerminator>())
        cost += countOperation(op);
    });
    return cost;
  }

private:
  static int64_t bytesOf(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !isa<FloatType>(tensor.getElementType()))
      return 0;
    return tensor.getNumElements() * tensor.getElementTypeBitWidth() / 8;
  }

  int64_t countCast(CastOp op) const {
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
              StringAttr::get(op.getContext(), "parameter"))
        return written;
    }
    return written + bytesOf(op.getInput().getType());
  }

  int64_t countOperation(Operation *op) const {
    int64_t cost = 0;
    for (Type type : op->getOperandTypes())
      cost += bytesOf(type);
    for (Type type : op->getResultTypes())
      cost += bytesOf(type);
    if (!target || !isa<train::MatmulOp, train::LinearOp>(op))
      return cost;
    int64_t extent =
        cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(0);
    bool isFast =
        extent % 8 == 0 && getElementTypeOrSelf(op->getOperand(0)).isF16();
    double rate = isFast ? target->lowFlopPerByte : target->f32FlopPerByte;
    return cost + std::llround(2.0 * extent * extent * extent / rate);
  }

  const Target *target;
  bool masterCopies;
};

/// Takes back what `rewritePrecision` did.
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
    SmallVector<CastOp> casts;
    function.walk([&](CastOp op) {
      if (op.getInserted())
        casts.push_back(op);
    });
    for (CastOp op : casts)
      op.erase();
  }

private:
  func::FuncOp function;
  std::vector<std::pair<Operation *, SmallVector<Value>>> operands;
  std::vector<std::pair<Operation *, SmallVector<Type>>> results;
  std::vector<std::pair<Operation *, DictionaryAttr>> attributes;
  std::vector<std::pair<BlockArgument, Type>> arguments;
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
                    AMPDialect, train::TrainDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Policy> policy = Policy::load("default", module.getLoc());
    if (failed(policy))
      return signalPassFailure();
    std::mt19937 random(seed);
    unsigned tested = 0;
    while (tested < count) {
      OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
      int64_t extent = std::array{4, 8, 12, 24}[random() % 4];
      // Seldom many slots: each more takes twice the time.
      unsigned most = random() % 100 == 0 ? 14 : 9;
      func::FuncOp function = FunctionMaker(random, builder, module.getLoc())
                                  .make(extent, 1 + random() % most);
      if (failed(verify(function))) {
        function.emitError("the generator made an ill-formed function");
        return signalPassFailure();
      }
      std::optional<Target> target;
      if (random() % 3 == 0)
        target = getTarget("h100");
      bool copies = random() % 3 == 0;
      std::string message =
          check(function, *policy, target ? &*target : nullptr, copies, most);
      if (!message.empty()) {
        if (message != "skipped") {
          function.emitError("seed ")
              << seed.getValue() << ", function " << tested << ": " << message;
          return signalPassFailure();
        }
      } else {
        ++tested;
      }
      function.erase();
    }
    module.emitRemark() << tested << " functions, " << assignments
                        << " assignments, " << ties
                        << " functions with several of least cost, " << mixed
                        << " with both types";
  }

private:
  /// Returns what is wrong, "skipped" if the function is too large or has no
  /// choice, or nothing.
  std::string check(func::FuncOp function, const Policy &policy,
                    const Target *target, bool copies, unsigned most) {
    SlotGraph graph(function, policy);
    CostModel costs(graph, {target, copies});
    PlainConstraints constraints(graph, costs);
    std::vector<VertexId> free = constraints.getFree();
    if (free.empty() || free.size() > most)
      return "skipped";

    Assignment optimal = assignOptimal(graph, costs);
    if (!constraints.areMet(optimal.low))
      return "a hard constraint is violated";
    if (!constraints.areImplicationsMet(optimal.low))
      return "an implication is violated";

    Recount recount(target, copies);
    Undo undo(function);
    auto low = FloatType(Float16Type::get(&getContext()));
    auto rewriteAndCount = [&](const Assignment &assignment) {
      CastRules casts(policy);
      bool rewritten =
          succeeded(casts.choose(graph, assignment, low)) &&
          succeeded(rewritePrecision(graph, assignment, casts, low));
      int64_t cost = rewritten ? recount.count(function) : -1;
      return cost;
    };

    int64_t found = rewriteAndCount(optimal);
    if (found < 0 || failed(verify(function)))
      return "the rewritten function is ill-formed";
    undo.run();
    // What the model does not count is the same for all assignments.
    int64_t uncounted = found - costs.evaluate(optimal).cost;

    int64_t least = std::numeric_limits<int64_t>::max();
    std::vector<bool> lowInAny;
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
      undo.run();
      if (cost != costs.evaluate(candidate).cost + uncounted)
        return "the cost model says " +
               std::to_string(costs.evaluate(candidate).cost + uncounted) +
               ", the rewritten function costs " + std::to_string(cost);
      if (cost < least) {
        least = cost;
        numLeast = 0;
        lowInAny.assign(candidate.low.size(), false);
      }
      if (cost == least) {
        ++numLeast;
        for (VertexId v = 1; v < candidate.low.size(); ++v)
          lowInAny[v] = lowInAny[v] || candidate.low[v];
      }
    }
    if (found != least)
      return "optimal costs " + std::to_string(found) +
             ", but the least cost is " + std::to_string(least);
    for (VertexId v : free)
      if (optimal.low[v] != lowInAny[v])
        return "a slot of '" +
               graph.getVertices()[v].op->getName().getStringRef().str() +
               "' could be low at the same cost";
    ties += numLeast > 1;
    mixed += llvm::any_of(free, [&](VertexId v) { return optimal.low[v]; }) &&
             llvm::any_of(free, [&](VertexId v) { return !optimal.low[v]; });
    return {};
  }

  Option<unsigned> count{*this, "count", llvm::cl::init(2000),
                         llvm::cl::desc("Functions to test")};
  Option<unsigned> seed{*this, "seed", llvm::cl::init(1),
                        llvm::cl::desc("Of the random numbers")};
  uint64_t assignments = 0;
  unsigned ties = 0, mixed = 0;
};

} // namespace

namespace mlir::amp::test {
void registerOptimalCutTest() { PassRegistration<TestOptimalCut>(); }
} // namespace mlir::amp::test
