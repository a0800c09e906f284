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

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Precision/Optimal.h"
#include "amp/Transforms/PrecisionRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include <random>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Builds one random function.
class FunctionMaker {
public:
  FunctionMaker(std::mt19937 &random, OpBuilder &builder, Location loc)
      : random(random), builder(builder), loc(loc) {}

  func::FuncOp make(int64_t extent, unsigned size) {
    matrix = RankedTensorType::get({extent, extent}, builder.getF32Type());
    vector = RankedTensorType::get({extent}, builder.getF32Type());
    SmallVector<Type> arguments = {matrix,
                                   matrix,
                                   vector,
                                   vector,
                                   builder.getI1Type(),
                                   builder.getIndexType()};
    auto function = func::FuncOp::create(
        builder, loc, "f", builder.getFunctionType(arguments, {}));
    // Any but the last two may be state, of which the cost model and the
    // constraints know more.
    for (unsigned i = 0; i < 4; ++i) {
      StringRef role = pick<StringRef>(
          {"batch", "batch", "parameter", "parameter", "hyperparameter"});
      if (below(3) != 0)
        function.setArgAttr(i, AMPDialect::kRoleAttr,
                            builder.getStringAttr(role));
    }
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    matrices = {body->getArgument(0), body->getArgument(1)};
    vectors = {body->getArgument(2), body->getArgument(3)};
    condition = body->getArgument(4);
    bound = body->getArgument(5);
    fill(size, /*depth=*/0);

    SmallVector<Value> returned;
    for (unsigned i = below(3); i != 0; --i)
      returned.push_back(below(4) == 0 ? any(vectors) : any(matrices));
    func::ReturnOp::create(builder, loc, returned);
    function.setType(
        builder.getFunctionType(arguments, ValueRange(returned).getTypes()));
    return function;
  }

private:
  unsigned below(unsigned limit) { return random() % limit; }
  template <typename T>
  T pick(ArrayRef<T> items) {
    return items[below(items.size())];
  }
  /// Mostly a recent value, so that chains arise.
  Value any(ArrayRef<Value> values) {
    return below(2) == 0 ? values.back() : pick(values);
  }

  Operation *create(StringRef name, ValueRange operands, TypeRange results,
                    ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(loc, name, operands, results);
    state.addAttributes(attributes);
    if (below(12) == 0)
      state.addAttribute(
          AMPDialect::kPrecisionAttr,
          builder.getStringAttr(pick<StringRef>({"f32", "low", "keep"})));
    else if (below(16) == 0 && name != "train.constant") {
      SmallVector<StringRef> names(results.size(), "");
      names[0] = "w";
      state.addAttribute(AMPDialect::kGradientOfAttr,
                         builder.getStrArrayAttr(names));
    }
    Operation *op = builder.create(state);
    for (Value result : op->getResults())
      (result.getType() == matrix ? matrices : vectors).push_back(result);
    return op;
  }
  NamedAttribute dims(StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  }

  void fill(unsigned size, unsigned depth) {
    for (unsigned i = 0; i < size; ++i)
      addOperation(depth);
  }

  void addOperation(unsigned depth) {
    Value a = any(matrices), b = any(matrices), v = any(vectors);
    switch (below(16)) {
    case 0:
    case 1:
    case 2:
      create(pick<StringRef>({"train.relu", "train.neg", "train.tanh",
                              "train.gelu", "train.sigmoid"}),
             a, matrix);
      break;
    case 3:
      create(pick<StringRef>({"train.exp", "train.log", "train.square"}), a,
             matrix);
      break;
    case 4:
    case 5:
      create(pick<StringRef>({"train.add", "train.mul", "train.maximum"}),
             {a, below(4) == 0 ? v : b}, matrix);
      break;
    case 6:
    case 7:
      create("train.matmul", {a, b}, matrix);
      break;
    case 8:
      create("train.linear", {a, matrices[below(2)], v}, matrix);
      break;
    case 9:
      create(pick<StringRef>(
                 {"train.reduce_mean", "train.reduce_max", "train.reduce_sum"}),
             a, vector, dims("dims", {0}));
      break;
    case 10:
      create("train.broadcast", v, matrix, dims("dims", {0}));
      break;
    case 11:
      create("train.layer_norm", {a, vectors[0], vectors[1]},
             {matrix, vector, vector});
      break;
    case 12:
      create("train.transpose", a, matrix, dims("permutation", {1, 0}));
      break;
    case 13:
      create(
          "train.constant", {}, matrix,
          builder.getNamedAttr(
              "value", DenseElementsAttr::get(
                           matrix, builder.getF32FloatAttr(0.1f).getValue())));
      break;
    case 14: {
      auto narrow = CastOp::create(
          builder, loc, matrix.clone(builder.getF16Type()), a, false);
      matrices.push_back(CastOp::create(builder, loc, matrix, narrow, false));
      break;
    }
    case 15:
      if (depth < 2)
        addRegion(depth);
      break;
    }
  }

  void addRegion(unsigned depth) {
    SmallVector<Value> outerMatrices = matrices, outerVectors = vectors;
    OpBuilder::InsertionGuard guard(builder);
    auto body = [&](Block *block, ValueRange carried) {
      matrices = outerMatrices;
      vectors = outerVectors;
      matrices.append(carried.begin(), carried.end());
      builder.setInsertionPointToEnd(block);
      fill(1 + below(2), depth + 1);
      SmallVector<Value> yielded = {any(matrices)};
      scf::YieldOp::create(builder, loc, yielded);
    };
    Operation *op;
    if (below(2) == 0) {
      auto branch =
          scf::IfOp::create(builder, loc, TypeRange(matrix), condition, true);
      body(branch.thenBlock(), {});
      body(branch.elseBlock(), {});
      op = branch;
    } else {
      auto loop = scf::ForOp::create(builder, loc, bound, bound, bound,
                                     ValueRange(any(matrices)));
      body(loop.getBody(), loop.getRegionIterArgs());
      op = loop;
    }
    matrices = outerMatrices;
    vectors = outerVectors;
    matrices.push_back(op->getResult(0));
  }

  std::mt19937 &random;
  OpBuilder &builder;
  Location loc;
  RankedTensorType matrix, vector;
  SmallVector<Value> matrices, vectors;
  Value condition, bound;
};

/// The hard constraints once more, by their definition: no order, no worklist.
class PlainConstraints {
public:
  using State = HardConstraints::State;

  PlainConstraints(const SlotGraph &graph, const CostModel &costs)
      : graph(graph), vertices(graph.getVertices()),
        states(vertices.size(), State::Free) {
    states[0] = State::F32;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      bool mayLose = costs.getTarget() && vertex.kind == SlotKind::Compute;
      if (vertex.opClass == OpClass::Deny)
        states[v] = State::F32;
      else if (vertex.opClass == OpClass::Allow &&
               (vertex.pinned || (!vertex.isProductResult && !mayLose)))
        states[v] = State::Low;
    }
    holdFrom([&](const SlotUse &use) {
      return use.producer != 0 &&
             vertices[use.producer].kind == SlotKind::Range &&
             states[use.producer] == State::F32;
    });
    holdFrom([&](const SlotUse &use) { return isGradient(use); });
    holdState();
  }

  /// Slots that take part at all, and may be either.
  std::vector<VertexId> getFree() const {
    std::vector<VertexId> free;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (states[v] == State::Free &&
          !(graph.getUsesInto(v).empty() && graph.getUsesOf(v).empty() &&
            vertices[v].slot == SlotVertex::carried))
        free.push_back(v);
    return free;
  }

  /// Returns whether `low` has what must be, but for implications.
  bool areMet(const std::vector<bool> &low) const {
    for (VertexId v = 1; v < vertices.size(); ++v)
      if ((states[v] == State::Low && !low[v] &&
           !isHeldByImplication(v, low)) ||
          (states[v] == State::F32 && low[v]))
        return false;
    return true;
  }
  bool areImplicationsMet(const std::vector<bool> &low) const {
    return llvm::none_of(graph.getImplications(), [&](auto implication) {
      return low[implication.first] && !low[implication.second];
    });
  }
  bool isLow(VertexId v) const { return states[v] == State::Low; }

private:
  /// An implication wins over a pin.
  bool isHeldByImplication(VertexId v, const std::vector<bool> &low) const {
    return llvm::any_of(graph.getImplications(), [&](auto implication) {
      return implication.first == v && states[implication.second] == State::F32;
    });
  }
  bool ends(const SlotUse &use) const {
    return vertices[use.user].kind == SlotKind::Compute ||
           states[use.user] == State::Low;
  }
  bool isGradient(const SlotUse &use) const {
    auto result = dyn_cast<OpResult>(use.operand->get());
    if (use.producer != 0 || !result)
      return false;
    auto names = result.getOwner()->getAttrOfType<ArrayAttr>(
        AMPDialect::kGradientOfAttr);
    return names &&
           cast<StringAttr>(names[result.getResultNumber()]).size() != 0;
  }

  template <typename IsSource>
  void holdFrom(IsSource isSource) {
    std::vector<bool> held(vertices.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      auto hold = [&](VertexId v) {
        changed |= v != 0 && !held[v];
        held[v] = held[v] || v != 0;
      };
      for (const SlotUse &use : graph.getUses())
        if ((isSource(use) || held[use.producer]) && !ends(use))
          hold(use.user);
      for (auto [premise, conclusion] : graph.getImplications())
        if (held[conclusion] && vertices[conclusion].kind != SlotKind::Compute)
          hold(premise);
    }
    // Clear slots all of whose uses end at products are let go: the largest
    // such set.
    std::vector<bool> released = held;
    for (bool changed = true; changed;) {
      changed = false;
      for (VertexId v = 1; v < vertices.size(); ++v) {
        bool stays = vertices[v].opClass == OpClass::Clear &&
                     vertices[v].produces && states[v] == State::Free &&
                     !graph.getUsesOf(v).empty();
        for (uint32_t index : graph.getUsesOf(v)) {
          const SlotUse &use = graph.getUses()[index];
          stays &= ends(use) || released[use.user];
        }
        if (released[v] && !stays) {
          released[v] = false;
          changed = true;
        }
      }
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (held[v] && !released[v] && states[v] == State::Free)
        states[v] = State::F32;
  }

  void holdState() {
    std::vector<bool> held(vertices.size(), false);
    auto isState = [&](const SlotUse &use) {
      auto argument = dyn_cast<BlockArgument>(use.operand->get());
      auto function =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp();
      return function &&
             function.getArgAttr(argument.getArgNumber(),
                                 AMPDialect::kRoleAttr) ==
                 StringAttr::get(function.getContext(), "hyperparameter");
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (VertexId v = 1; v < vertices.size(); ++v) {
        bool reads = false, all = true;
        for (uint32_t index : graph.getUsesInto(v)) {
          const SlotUse &use = graph.getUses()[index];
          bool derived = isState(use) || held[use.producer];
          reads |= derived;
          all &= derived || vertices[use.producer].isConstant;
        }
        for (auto [premise, conclusion] : graph.getImplications())
          reads |= premise == v && held[conclusion];
        if (held[v] || !reads || !all || vertices[v].kind == SlotKind::Compute)
          continue;
        held[v] = changed = true;
      }
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (held[v] && states[v] == State::Free)
        states[v] = State::F32;
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  std::vector<State> states;
};

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
      bool rewritten = succeeded(rewritePrecision(graph, assignment, low));
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
