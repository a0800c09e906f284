//===- RecomputeLaunches.cpp - Values of the forward pass again -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which values of the forward pass the backward pass computes again.
// It runs after fusion, where each launch and its operands are known: a value
// that fusion removed costs nothing, and a kernel that reads the operands
// anyway computes the value at the cost of one write.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Runtime/Host/GPUModels.h"
#include "amp/Runtime/Host/KernelRates.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// The GPU whose rates the decision takes. A program does not name its GPU.
static constexpr const char *kReferenceGPU = "h100";

/// The operands that must live longer for a second computation may take at most
/// this part of the bytes that it frees.
static constexpr int64_t kExtensionPart = 8;

static Value getRoot(Value value) {
  while (auto view = value.getDefiningOp<ViewOp>())
    value = view.getSource();
  return value;
}

namespace {

/// The memory of a launch result, and the numbers of the operations between
/// which it lives.
struct Lifetime {
  int64_t bytes = 0;
  unsigned first = 0, last = 0;
};

/// A value that the operations from `late` on read again.
struct Candidate {
  OpResult value;
  /// The readers after the point where most memory is in use, in order.
  SmallVector<Operation *> readers;
  /// The launch of the backward pass that can compute the value too: a kernel
  /// over the same elements, or the gradient of the norm. Null if the value
  /// needs a launch of its own.
  Operation *host = nullptr;
  /// Bytes freed per microsecond.
  double rate = 0;
};

/// Computes values again while that lowers the most memory in use.
class Recomputation {
public:
  Recomputation(func::FuncOp step, int64_t leastRate)
      : step(step), block(step.getBody().front()), leastRate(leastRate) {}

  /// Returns whether a kernel may now be merged with another one.
  bool run();

private:
  void findNeeded();
  void measure();
  unsigned findPeak() const;
  void forEachReader(Value value, function_ref<void(Operation *)> visit) const;
  std::optional<Candidate> examine(OpResult value, unsigned peak) const;
  bool mayReadAgain(Operation *op, ArrayRef<Operation *> readers,
                    int64_t bytes) const;
  SmallVector<Operation *> findHosts(Operation *op, unsigned peak) const;
  Operation *findHost(Operation *op, ArrayRef<Operation *> readers,
                      unsigned peak) const;
  bool mayFollow(Operation *reader, Operation *host) const;
  void apply(const Candidate &candidate);

  func::FuncOp step;
  Block &block;
  int64_t leastRate;
  /// The operations that the updates of the step depend on. Readers of metrics
  /// and predictions do not count: 'cuda-plan-memory' moves them.
  DenseSet<Operation *> needed;
  DenseMap<Operation *, unsigned> numbers;
  llvm::MapVector<Value, Lifetime> lifetimes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

void Recomputation::findNeeded() {
  FailureOr<mlir::amp::StepSignature> signature =
      mlir::amp::StepSignature::get(step);
  if (failed(signature))
    return;
  SmallVector<Value> worklist;
  for (const mlir::amp::StepResult &result : signature->results)
    if (result.kind == mlir::amp::ResultKind::Update)
      worklist.push_back(block.getTerminator()->getOperand(result.index));
  while (!worklist.empty())
    if (Operation *op = worklist.pop_back_val().getDefiningOp();
        op && needed.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
}

/// Calls `visit` for the operations that read the memory of `value`.
void Recomputation::forEachReader(Value value,
                                  function_ref<void(Operation *)> visit) const {
  for (Operation *user : value.getUsers()) {
    if (auto view = dyn_cast<ViewOp>(user))
      forEachReader(view.getResult(), visit);
    else if (needed.contains(user) || user == block.getTerminator())
      visit(user);
  }
}

void Recomputation::measure() {
  numbers.clear();
  lifetimes.clear();
  for (Operation &op : block)
    numbers[&op] = numbers.size();
  for (auto launch : block.getOps<LaunchOpInterface>())
    for (Value result : launch.getResults()) {
      unsigned number = numbers[launch];
      Lifetime lifetime{getBytes(typeOf(result)), number, number};
      forEachReader(result, [&](Operation *reader) {
        // A result of the step is in the memory of a state.
        if (reader == block.getTerminator())
          lifetime.bytes = 0;
        else
          lifetime.last = std::max(lifetime.last, numbers.lookup(reader));
      });
      lifetimes[result] = lifetime;
    }
}

/// The operation during which most bytes are in use.
unsigned Recomputation::findPeak() const {
  SmallVector<int64_t> changes(numbers.size() + 1, 0);
  for (const auto &[value, lifetime] : lifetimes) {
    changes[lifetime.first] += lifetime.bytes;
    changes[lifetime.last + 1] -= lifetime.bytes;
  }
  unsigned peak = 0;
  int64_t used = 0, most = -1;
  for (auto [number, op] : llvm::enumerate(block)) {
    used += changes[number];
    auto launch = dyn_cast<LaunchOpInterface>(op);
    int64_t now = used + (launch ? launch.getScratchBytes() : 0);
    if (now > most) {
      most = now;
      peak = number;
    }
  }
  return peak;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Whether a launch that computes result 0 of `op` again takes one pass over
/// operands and result.
static bool isCheap(Operation *op) {
  auto launch = cast<LaunchOpInterface>(op);
  if (launch.getPredicate())
    return false;
  if (isa<LayerNormOp, RMSNormOp, BatchNormTrainingOp, BatchNormReluOp,
          BatchNormAddReluOp>(op))
    return true;
  auto kernel = dyn_cast<KernelOp>(op);
  return kernel && !kernel.isReduction() && kernel.getNumResults() == 1 &&
         llvm::all_of(kernel.getMaps().getAsValueRange<AffineMapAttr>(),
                      [](AffineMap map) {
                        return map.isProjectedPermutation(
                            /*allowZeroInResults=*/true);
                      }) &&
         llvm::all_of(
             kernel.getInputs().drop_front(kernel.getNumElementInputs()),
             [](Value input) { return typeOf(input).getRank() == 0; });
}

/// The operands of the launch that computes result 0 of `op` again.
static SmallVector<Value> getInputsOfCopy(Operation *op) {
  auto launch = cast<LaunchOpInterface>(op);
  SmallVector<Value> inputs(launch.getInputs());
  if (isa<BatchNormTrainingOp, BatchNormReluOp, BatchNormAddReluOp>(op)) {
    // The statistics take the place of the running ones.
    inputs[3] = launch.getResults()[1];
    inputs[4] = launch.getResults()[2];
  }
  return inputs;
}

static Operation *createCopy(OpBuilder &builder, Operation *op) {
  Type type = op->getResult(0).getType();
  auto name = op->getAttrOfType<StringAttr>("name");
  if (name)
    name = builder.getStringAttr(name.getValue() + "_again");
  if (isa<BatchNormAddReluOp>(op))
    return BatchNormAddReluApplyOp::create(builder, op->getLoc(), type, name,
                                           getInputsOfCopy(op), ValueRange(),
                                           ValueRange(), Value());
  if (isa<BatchNormTrainingOp, BatchNormReluOp>(op))
    return BatchNormApplyOp::create(
        builder, op->getLoc(), type, name, getInputsOfCopy(op), ValueRange(),
        ValueRange(), Value(), isa<BatchNormReluOp>(op));
  Operation *copy = builder.clone(*op);
  if (name)
    copy->setAttr("name", name);
  return copy;
}

/// Whether `readers` may read the operands of `op`: these live until then
/// anyway, or take little of the `bytes` of the value.
bool Recomputation::mayReadAgain(Operation *op, ArrayRef<Operation *> readers,
                                 int64_t bytes) const {
  unsigned late = numbers.lookup(readers.front());
  int64_t extended = 0;
  for (Value input : getInputsOfCopy(op)) {
    Value root = getRoot(input);
    if (auto lifetime = lifetimes.find(root); lifetime != lifetimes.end()) {
      if (lifetime->second.last < late)
        extended += lifetime->second.bytes;
      continue;
    }
    // A state that is read after its update could not be updated in place.
    std::optional<mlir::amp::Role> role = mlir::amp::getRole(root);
    if (role && *role != mlir::amp::Role::Parameter &&
        *role != mlir::amp::Role::Batch &&
        *role != mlir::amp::Role::Hyperparameter)
      return false;
  }
  return extended <= bytes / kExtensionPart;
}

/// Whether `reader`, a launch before `host`, may run after it: nothing up to
/// `host` reads its results.
bool Recomputation::mayFollow(Operation *reader, Operation *host) const {
  return llvm::all_of(reader->getResults(), [&](Value result) {
    bool isReadLater = true;
    forEachReader(result, [&](Operation *user) {
      isReadLater &= numbers.lookup(user) > numbers.lookup(host);
    });
    return isReadLater;
  });
}

/// Whether `gradient` is the gradient of the norm `op`. It reads x, gamma and
/// statistics of the norm from input 1 on.
static bool isGradientOf(Operation *gradient, Operation *op) {
  if (!(isa<LayerNormOp>(op) && isa<LayerNormGradOp>(gradient)) &&
      !(isa<RMSNormOp>(op) && isa<RMSNormGradOp>(gradient)))
    return false;
  if (gradient->getOperand(1) != op->getOperand(0) ||
      gradient->getAttr("x_rows") != op->getAttr("x_rows") ||
      gradient->getOperand(2) != op->getOperand(1))
    return false;
  const unsigned numAddends = gradient->hasAttr("accumulate");
  return llvm::equal(
      gradient->getOperands().drop_front(3).drop_back(numAddends),
      op->getResults().drop_front());
}

/// The launches after `peak` that read an operand of `op` and can compute its
/// value too.
SmallVector<Operation *> Recomputation::findHosts(Operation *op,
                                                  unsigned peak) const {
  auto kernel = dyn_cast<KernelOp>(op);
  SmallVector<Operation *> hosts;
  for (Value input : cast<LaunchOpInterface>(op).getInputs())
    for (Operation *user : input.getUsers()) {
      if (!needed.contains(user) || numbers.lookup(user) <= peak)
        continue;
      auto other = dyn_cast<KernelOp>(user);
      if (isGradientOf(user, op) ||
          (kernel && other && !other.isReduction() && !other.getPredicate() &&
           other.getExtents() == kernel.getExtents()))
        hosts.push_back(user);
    }
  return hosts;
}

/// A launch that can compute the value of `op` too, before all `readers`.
Operation *Recomputation::findHost(Operation *op, ArrayRef<Operation *> readers,
                                   unsigned peak) const {
  for (Operation *host : findHosts(op, peak))
    if (llvm::all_of(readers, [&](Operation *reader) {
          return reader != host &&
                 (host->isBeforeInBlock(reader) || mayFollow(reader, host));
        }))
      return host;
  return nullptr;
}

std::optional<Candidate> Recomputation::examine(OpResult value,
                                                unsigned peak) const {
  const Lifetime &lifetime = lifetimes.find(value)->second;
  Operation *op = value.getOwner();
  if (value.getResultNumber() != 0 || lifetime.bytes == 0 ||
      lifetime.first >= peak || lifetime.last <= peak || !needed.contains(op) ||
      !isCheap(op))
    return std::nullopt;
  llvm::SetVector<Operation *> readers;
  bool isReadNow = false;
  forEachReader(value, [&](Operation *reader) {
    unsigned number = numbers.lookup(reader);
    isReadNow |= number == peak;
    if (number > peak)
      readers.insert(reader);
  });
  if (isReadNow)
    return std::nullopt;
  Candidate candidate;
  candidate.value = value;
  candidate.readers = readers.takeVector();
  llvm::sort(candidate.readers,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (!mayReadAgain(op, candidate.readers, lifetime.bytes))
    return std::nullopt;
  candidate.host = findHost(op, candidate.readers, peak);
  int64_t moved = lifetime.bytes;
  llvm::SetVector<Value> inputs;
  for (Value input : getInputsOfCopy(op))
    if (!candidate.host ||
        !llvm::is_contained(candidate.host->getOperands(), input))
      inputs.insert(getRoot(input));
  for (Value input : inputs)
    moved += getBytes(typeOf(input));
  const amphost::GPUModel *gpu = amphost::findGPUTarget(kReferenceGPU);
  // A kernel that joins another one is charged for a node too: it needs more
  // registers, which is worth it only for large values.
  double seconds =
      moved / (gpu->bandwidth * amphost::bandwidthPart::elementwise) +
      amphost::kNodeSeconds;
  candidate.rate = lifetime.bytes / (seconds * 1e6);
  return candidate;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

/// Replaces all results of `gradient`, that of the norm `op`, by those of a
/// launch that computes the norm too. Returns the norm.
static Value extendGradient(OpBuilder &builder, Operation *gradient,
                            Operation *op) {
  SmallVector<Value> inputs(gradient->getOperands());
  SmallVector<Type> types(gradient->getResultTypes());
  types.push_back(op->getResult(0).getType());
  auto name = gradient->getAttrOfType<StringAttr>("name");
  Location loc = builder.getFusedLoc({gradient->getLoc(), op->getLoc()});
  Operation *both;
  if (isa<LayerNormOp>(op)) {
    // An addend comes last.
    inputs.insert(inputs.end() - gradient->hasAttr("accumulate"),
                  op->getOperand(2));
    both = LayerNormAndGradOp::create(builder, loc, types, name, inputs,
                                      ValueRange(), ValueRange(), Value(),
                                      HeadsAttr(), HeadsAttr(), UnitAttr());
  } else {
    both = RMSNormAndGradOp::create(builder, loc, types, name, inputs,
                                    ValueRange(), ValueRange(), Value(),
                                    HeadsAttr(), HeadsAttr(), UnitAttr());
  }
  for (StringRef kept : {"x_rows", "dx_rows", "accumulate"})
    if (Attribute attribute = gradient->getAttr(kept))
      both->setAttr(kept, attribute);
  both->setDiscardableAttrs(gradient->getDiscardableAttrDictionary());
  // The norm is not a gradient of an argument.
  if (auto gradients = both->getAttrOfType<ArrayAttr>(
          mlir::amp::AMPDialect::kGradientOfAttr)) {
    SmallVector<Attribute> names(gradients.getValue());
    names.push_back(builder.getStringAttr(""));
    both->setAttr(mlir::amp::AMPDialect::kGradientOfAttr,
                  builder.getArrayAttr(names));
  }
  gradient->replaceAllUsesWith(both->getResults().drop_back());
  return both->getResults().back();
}

/// Moves `op` and the views of its results after `position`. Returns the last
/// one.
static Operation *moveAfter(Operation *op, Operation *position) {
  op->moveAfter(position);
  position = op;
  for (Operation *user : op->getUsers())
    if (isa<ViewOp>(user))
      position = moveAfter(user, position);
  return position;
}

void Recomputation::apply(const Candidate &candidate) {
  Operation *op = candidate.value.getOwner();
  OpBuilder builder(candidate.readers.front());
  if (candidate.host) {
    Operation *position = candidate.host;
    builder.setInsertionPointAfter(position);
    for (Operation *reader : candidate.readers)
      if (reader->isBeforeInBlock(candidate.host))
        position = moveAfter(reader, position);
    builder.setInsertionPointAfter(candidate.host);
  }
  const bool isNorm = candidate.host && !isa<KernelOp>(candidate.host);
  Value again;
  if (isNorm) {
    again = extendGradient(builder, candidate.host, op);
    needed.erase(candidate.host);
    candidate.host->erase();
  } else {
    again = createCopy(builder, op)->getResult(0);
  }
  needed.insert(again.getDefiningOp());
  // A view of the value becomes one of the copy.
  auto replace = [&](auto &&self, Value from, Value to) -> void {
    for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
      if (llvm::is_contained(candidate.readers, use.getOwner())) {
        use.set(to);
        continue;
      }
      auto view = dyn_cast<ViewOp>(use.getOwner());
      if (!view)
        continue;
      builder.setInsertionPointAfterValue(to);
      auto viewed = ViewOp::create(builder, view.getLoc(),
                                   view.getResult().getType(), to);
      self(self, view.getResult(), viewed.getResult());
      if (viewed.getResult().use_empty())
        viewed.erase();
      else
        needed.insert(viewed);
    }
  };
  replace(replace, candidate.value, again);
  auto launch = cast<LaunchOpInterface>(op);
  remark::passed(op->getLoc(), remark::RemarkOpts::name("Recomputed")
                                   .category("amp")
                                   .function(step.getName()))
      << remark::metric("Op", op->getName().getStringRef())
      << remark::metric("Bytes", getBytes(typeOf(candidate.value)))
      << remark::reason(
             "{0} of {1} bytes is computed again for the backward pass",
             launch.getName().value_or("a value"),
             getBytes(typeOf(candidate.value)));
}

bool Recomputation::run() {
  findNeeded();
  bool hasNewKernels = false;
  for (;;) {
    measure();
    const unsigned peak = findPeak();
    std::optional<Candidate> best;
    for (const auto &[value, lifetime] : lifetimes)
      if (auto candidate = examine(cast<OpResult>(value), peak);
          candidate && (!best || candidate->rate > best->rate))
        best = std::move(candidate);
    if (!best || best->rate < double(leastRate))
      return hasNewKernels;
    hasNewKernels |= isa_and_present<KernelOp>(best->host);
    apply(*best);
  }
}

bool mlir::cuda::recomputeLaunches(func::FuncOp step, int64_t leastRate) {
  return leastRate > 0 && Recomputation(step, leastRate).run();
}
