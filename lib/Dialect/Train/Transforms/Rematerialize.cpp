//===- Rematerialize.cpp - Compute values again instead of keeping them ---===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything goes by position in the function's block: what stands before the
// first gradient seed is the forward pass, and a value from there that is read
// behind the seed is kept between the two.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINREMATERIALIZE
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;

/// What marks operations that run again, with the number of their group.
static constexpr StringLiteral kRecomputedAttr = "train.recomputed";

/// Returns whether `op` takes about as long as reading its operands.
static bool isCheap(Operation *op) {
  return isa<amp::CastOp, NegOp, AbsOp, SignOp, SinOp, CosOp, ErfOp, SqrtOp,
             LogOp, Log1pOp, TanhOp, SigmoidOp, SiluOp, ReluOp, ExpOp, Expm1Op,
             RsqrtOp, ReciprocalOp, SquareOp, GeluOp, ClipOp, AddOp, SubOp,
             MulOp, DivOp, MaximumOp, MinimumOp, PowOp, CompareOp, SelectOp,
             OneHotOp, BroadcastOp, ReshapeOp, TransposeOp, SliceOp, PadOp,
             ConcatOp, DropoutOp, GatherOp, RotaryEmbeddingOp, LayerNormOp,
             RMSNormOp, BatchNormTrainingOp, BatchNormInferenceOp>(op);
}

/// Returns the bytes of `value`, or 0 if that is not known.
static int64_t countBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrIndexOrFloat())
    return 0;
  int64_t width = type.getElementType().isIndex()
                      ? 8
                      : (type.getElementTypeBitWidth() + 7) / 8;
  return llvm::SaturatingMultiply<uint64_t>(type.getNumElements(), width);
}

/// Returns the name of `location`, or of the first part of it that has one.
static StringRef getName(Location location) {
  StringRef name;
  location->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

/// Matches `text` with `pattern`, in which `*` stands for any characters.
static bool matches(StringRef pattern, StringRef text) {
  size_t star = pattern.find('*');
  if (star == StringRef::npos)
    return pattern == text;
  if (!text.consume_front(pattern.take_front(star)))
    return false;
  pattern = pattern.drop_front(star + 1);
  for (size_t skip = 0; skip <= text.size(); ++skip)
    if (matches(pattern, text.drop_front(skip)))
      return true;
  return false;
}

/// Returns the beginning of `name` that `pattern` matches, part by part between
/// dots, or an empty string.
static StringRef matchBlock(StringRef pattern, StringRef name) {
  SmallVector<StringRef> patterns, parts;
  pattern.split(patterns, '.');
  name.split(parts, '.');
  if (name.empty() || patterns.size() > parts.size())
    return {};
  size_t length = 0;
  for (auto [one, part] : llvm::zip(patterns, parts)) {
    if (!matches(one, part))
      return {};
    length += part.size() + 1;
  }
  return name.take_front(length - 1);
}

static remark::RemarkOpts getOptions(StringRef name, Operation *op) {
  auto options = remark::RemarkOpts::name(name).category("amp");
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    options = options.function(function.getName());
  return options;
}

namespace {

/// The body of one step.
class Step {
public:
  Step(Block &block, int64_t chain, int64_t minBytes)
      : block(block), chain(chain), minBytes(minBytes) {}

  /// Returns false if the block has no gradient seed.
  bool analyze();
  void dropBlocks(ArrayRef<std::string> patterns,
                  llvm::StringSet<> &usedPatterns);
  void dropSingleValues();
  void remarkOnKept();

  unsigned numValues = 0, numOps = 0, numBlocks = 0;
  int64_t numBytes = 0;

private:
  using Ops = llvm::SetVector<Operation *>;

  unsigned numberOf(Operation *op) const { return numbers.lookup(op); }
  bool isForward(Operation *op) const {
    return op->getBlock() == &block && numberOf(op) < seed;
  }
  bool isForwardValue(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && isForward(op);
  }
  /// The value of whose memory `value` is a view.
  Value getRoot(Value value) const {
    while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
      if (!isForward(reshape.getOperation()))
        break;
      value = reshape.getInput();
    }
    return value;
  }
  /// `value` and the views of it that the forward pass makes.
  void collectViews(Value value, SmallVectorImpl<Value> &views) const;
  Operation *getUser(OpOperand &use) const {
    return block.findAncestorOpInBlock(*use.getOwner());
  }
  /// The first operation behind the seed that reads `value` or a view.
  Operation *getFirstReader(Value value) const;
  bool isReturned(Value value) const;
  bool isConstant(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->hasTrait<OpTrait::ConstantLike>();
  }
  bool isKept(Value value) const {
    return saved.contains(value) && !dropped.contains(value);
  }

  /// Collects in `ops` what computes `value` again, in `inputs` the kept values
  /// that it takes and in `grown` those that would have to be kept for it.
  /// Returns why that cannot be, or an empty string.
  std::string collect(Value value, Ops &ops, llvm::SetVector<Value> &inputs,
                      llvm::SetVector<Value> &grown) const;
  /// Writes `ops` again before `where`, and lets all behind the seed that reads
  /// one of `values` read the copy.
  void emit(ArrayRef<Value> values, const Ops &ops, Operation *where);

  Block &block;
  int64_t chain, minBytes;
  unsigned seed = 0;
  int64_t group = 0;
  DenseMap<Operation *, unsigned> numbers;
  /// What is kept, in order of the program; what of it is not any more; what
  /// must be, because something else is computed from it.
  llvm::SetVector<Value> saved;
  DenseSet<Value> dropped, pinned;
  llvm::MapVector<Value, std::string> reasons;
};

struct RematerializePass
    : public train::impl::TrainRematerializeBase<RematerializePass> {
  using TrainRematerializeBase::TrainRematerializeBase;
  void runOnOperation() override;
};

} // namespace

void Step::collectViews(Value value, SmallVectorImpl<Value> &views) const {
  views.push_back(value);
  for (Operation *user : value.getUsers())
    if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && isForward(user))
      collectViews(reshape, views);
}

Operation *Step::getFirstReader(Value value) const {
  SmallVector<Value> views;
  collectViews(value, views);
  Operation *first = nullptr;
  for (Value view : views)
    for (OpOperand &use : view.getUses()) {
      Operation *user = getUser(use);
      if (user && numberOf(user) >= seed &&
          (!first || numberOf(user) < numberOf(first)))
        first = user;
    }
  return first;
}

bool Step::isReturned(Value value) const {
  SmallVector<Value> views;
  collectViews(value, views);
  return llvm::any_of(views, [&](Value view) {
    return llvm::is_contained(view.getUsers(), block.getTerminator());
  });
}

bool Step::analyze() {
  Operation *first = nullptr;
  unsigned number = 0;
  for (Operation &op : block) {
    numbers[&op] = number++;
    if (!first && (isa<amp::GradientSeedOpInterface>(op) ||
                   op.hasAttr(amp::AMPDialect::kGradientSeedAttr)))
      first = &op;
    if (auto attr = op.getAttrOfType<IntegerAttr>(kRecomputedAttr))
      group = std::max(group, attr.getInt() + 1);
  }
  if (!first)
    return false;
  seed = numberOf(first);
  for (Operation &op : block) {
    if (!isForward(&op))
      break;
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    for (Value result : op.getResults()) {
      Value root = getRoot(result);
      if (root != result || !isa<TensorType>(result.getType()) ||
          !getFirstReader(result))
        continue;
      saved.insert(result);
      SmallVector<Value> views;
      collectViews(result, views);
      // What an earlier run computes others from.
      for (Value view : views)
        for (Operation *user : view.getUsers())
          if (user->hasAttr(kRecomputedAttr))
            pinned.insert(result);
    }
  }
  return true;
}

std::string Step::collect(Value value, Ops &ops, llvm::SetVector<Value> &inputs,
                          llvm::SetVector<Value> &grown) const {
  SmallVector<Operation *> worklist;
  auto visit = [&](Operation *op) -> std::string {
    if (!isCheap(op) || !isPure(op))
      return (op->getName().getStringRef() + " is not cheap").str();
    if (ops.insert(op))
      worklist.push_back(op);
    return {};
  };
  if (std::string why = visit(value.getDefiningOp()); !why.empty())
    return why;
  while (!worklist.empty()) {
    if (int64_t(ops.size()) > chain)
      return "it takes more than " + std::to_string(chain) + " operations";
    Operation *op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      Value root = getRoot(operand);
      if (!isForwardValue(operand) || isConstant(operand))
        continue;
      if (isKept(root)) {
        inputs.insert(root);
        if (root != operand)
          if (std::string why = visit(operand.getDefiningOp()); !why.empty())
            return why;
        continue;
      }
      Operation *producer = operand.getDefiningOp();
      if (isCheap(producer) && isPure(producer)) {
        (void)visit(producer);
        continue;
      }
      grown.insert(operand);
    }
  }
  return {};
}

void Step::emit(ArrayRef<Value> values, const Ops &ops, Operation *where) {
  OpBuilder builder(where);
  IRMapping mapping;
  auto number = builder.getI64IntegerAttr(group++);
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [&](Operation *a, Operation *b) {
    return numberOf(a) < numberOf(b);
  });
  for (Operation *op : sorted) {
    for (Value operand : op->getOperands()) {
      if (mapping.contains(operand) || isConstant(operand) ||
          !isDifferentiableType(operand.getType()))
        continue;
      auto barrier =
          BroadcastOp::create(builder, op->getLoc(), operand.getType(), operand,
                              Value(), ArrayRef<int64_t>{}, /*mean=*/false);
      barrier->setAttr(kRecomputedAttr, number);
      numbers[barrier] = numberOf(where);
      mapping.map(operand, barrier.getResult());
    }
    Operation *copy = builder.clone(*op, mapping);
    copy->removeAttr(amp::AMPDialect::kIdAttr);
    copy->setAttr(kRecomputedAttr, number);
    numbers[copy] = numberOf(where);
    ++numOps;
  }
  for (Value value : values) {
    SmallVector<Value> views;
    collectViews(value, views);
    numBytes += countBytes(value);
    ++numValues;
    dropped.insert(value);
    for (Value view : views) {
      if (!mapping.contains(view)) {
        if (!llvm::any_of(view.getUses(), [&](OpOperand &use) {
              return numberOf(getUser(use)) >= seed;
            }))
          continue;
        // A view of a view is cloned after what it is a view of.
        Operation *copy = builder.clone(*view.getDefiningOp(), mapping);
        copy->removeAttr(amp::AMPDialect::kIdAttr);
        copy->setAttr(kRecomputedAttr, number);
        numbers[copy] = numberOf(where);
      }
      Value replacement = mapping.lookup(view);
      view.replaceUsesWithIf(replacement, [&](OpOperand &use) {
        Operation *user = getUser(use);
        return user && numberOf(user) >= seed &&
               !user->hasAttr(kRecomputedAttr);
      });
    }
  }
}

void Step::dropBlocks(ArrayRef<std::string> patterns,
                      llvm::StringSet<> &usedPatterns) {
  llvm::MapVector<StringRef, Ops> blocks;
  for (Operation &op : block) {
    if (!isForward(&op))
      break;
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    for (const std::string &pattern : patterns) {
      StringRef name = matchBlock(pattern, getName(op.getLoc()));
      if (name.empty())
        continue;
      usedPatterns.insert(pattern);
      blocks[name].insert(&op);
      break;
    }
  }
  for (auto &entry : blocks) {
    StringRef name = entry.first;
    Ops &members = entry.second;
    // What leaves the block is kept: the next one is computed from it.
    auto leaves = [&](Value value) {
      SmallVector<Value> views;
      collectViews(value, views);
      for (Value view : views)
        for (OpOperand &use : view.getUses())
          if (Operation *user = getUser(use);
              !user || (isForward(user) && !members.contains(user)) ||
              user->hasAttr(kRecomputedAttr))
            return true;
      return isReturned(value);
    };
    SmallVector<Value> values;
    Operation *where = nullptr;
    int64_t bytes = 0;
    for (Operation *op : members)
      for (Value result : op->getResults()) {
        if (!saved.contains(result) || pinned.contains(result))
          continue;
        if (leaves(result)) {
          pinned.insert(result);
          reasons[result] = "it leaves its block";
          continue;
        }
        Operation *reader = getFirstReader(result);
        if (!where || numberOf(reader) < numberOf(where))
          where = reader;
        values.push_back(result);
        bytes += countBytes(result);
      }
    if (values.empty())
      continue;
    // Back to what is kept.
    Ops ops;
    SmallVector<Operation *> worklist;
    SmallVector<Value> inputs;
    Operation *impure = nullptr;
    auto visit = [&](Operation *op) {
      if (!isPure(op) || op->getNumRegions() > 0)
        impure = op;
      if (ops.insert(op))
        worklist.push_back(op);
    };
    for (Value value : values)
      visit(value.getDefiningOp());
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val();
      for (Value operand : op->getOperands()) {
        if (!isForwardValue(operand) || isConstant(operand))
          continue;
        Value root = getRoot(operand);
        Operation *producer = operand.getDefiningOp();
        bool stays = !members.contains(producer) ||
                     (pinned.contains(root) && root == operand);
        if (!stays)
          visit(producer);
        else
          inputs.push_back(root);
      }
    }
    if (impure) {
      auto remark =
          remark::missed(impure->getLoc(), getOptions("BlockKept", impure));
      if (remark)
        remark << remark::metric("Block", name)
               << remark::reason("{0} has regions or effects",
                                 impure->getName().getStringRef());
      continue;
    }
    for (Value input : inputs) {
      saved.insert(input);
      pinned.insert(input);
      reasons.insert({input, "another block is computed again from it"});
    }
    if (auto remark = remark::passed(values.front().getLoc(),
                                     getOptions("BlockRecomputed", where)))
      remark << remark::metric("Block", name) << remark::metric("Bytes", bytes)
             << remark::metric("Operations", ops.size());
    emit(values, ops, where);
    ++numBlocks;
  }
}

void Step::dropSingleValues() {
  auto drop = [&](Value value) {
    auto keep = [&](std::string why) {
      reasons[value] = std::move(why);
      return false;
    };
    int64_t bytes = countBytes(value);
    if (pinned.contains(value)) {
      reasons.insert({value, "another value is computed again from it"});
      return false;
    }
    if (bytes < minBytes)
      return keep("it is small");
    if (isReturned(value))
      return keep("it is a result of the step");
    Ops ops;
    llvm::SetVector<Value> inputs, grown;
    std::string why = collect(value, ops, inputs, grown);
    if (!why.empty())
      return keep(why);
    int64_t grownBytes = 0;
    for (Value input : grown)
      grownBytes += countBytes(input);
    if (grownBytes >= bytes)
      return keep("what computes it is no smaller and would be kept instead");
    Operation *where = getFirstReader(value);
    if (auto remark =
            remark::passed(value.getLoc(), getOptions("Recomputed", where)))
      remark << remark::metric("Op",
                               value.getDefiningOp()->getName().getStringRef())
             << remark::metric("Bytes", bytes - grownBytes)
             << remark::metric("Operations", ops.size());
    for (Value input : grown) {
      numBytes -= countBytes(input);
      saved.insert(input);
    }
    pinned.insert(inputs.begin(), inputs.end());
    pinned.insert(grown.begin(), grown.end());
    emit(value, ops, where);
    return true;
  };
  // What one value needs may make another one cheap.
  bool changed = chain > 0;
  while (changed) {
    changed = false;
    for (Value value : llvm::to_vector(saved))
      if (!dropped.contains(value))
        changed |= drop(value);
  }
}

void Step::remarkOnKept() {
  for (Value value : saved) {
    if (dropped.contains(value) || countBytes(value) < minBytes)
      continue;
    auto remark = remark::missed(value.getLoc(),
                                 getOptions("Kept", value.getDefiningOp()));
    if (!remark)
      return;
    StringRef why = "single values are not computed again";
    if (auto it = reasons.find(value); it != reasons.end())
      why = it->second;
    remark << remark::metric("Op",
                             value.getDefiningOp()->getName().getStringRef())
           << remark::metric("Bytes", countBytes(value))
           << remark::reason("{0}", why);
  }
}

void RematerializePass::runOnOperation() {
  if (chain < 0 || minBytes < 0) {
    getOperation()->emitError("train-rematerialize: 'chain' and 'min-bytes' "
                              "must not be negative, got ")
        << chain.getValue() << " and " << minBytes.getValue();
    return signalPassFailure();
  }
  llvm::StringSet<> usedPatterns;
  getOperation()->walk([&](FunctionOpInterface function) {
    if (function.isExternal() || !function.getFunctionBody().hasOneBlock())
      return;
    Step step(function.getFunctionBody().front(), chain, minBytes);
    if (!step.analyze())
      return;
    step.dropBlocks(blocks, usedPatterns);
    step.dropSingleValues();
    step.remarkOnKept();
    numValues += step.numValues;
    numOps += step.numOps;
    numBytes += step.numBytes;
    numBlocks += step.numBlocks;
  });
  for (const std::string &pattern : blocks) {
    if (usedPatterns.contains(pattern))
      continue;
    getOperation()->emitError("train-rematerialize: no location in the forward "
                              "pass of a step matches '")
        << pattern << "' of 'blocks'";
    return signalPassFailure();
  }
}
