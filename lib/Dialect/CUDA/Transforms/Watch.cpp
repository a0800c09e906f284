//===- Watch.cpp - Statistics of the values of launches -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the values of the source step in the launches that compute them. The
// locations of operations name these values: each operation of a kernel body
// keeps the location of the operation from which it was lowered.
//
//===----------------------------------------------------------------------===//

#include "WatchedKernels.h"

#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Runtime/Host/WatchedRecord.h"
#include "amp/Support/LocationText.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Regex.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CUDAWATCH
#include "amp/Dialect/CUDA/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// An operation of the source step: its name with its place, and its part.
struct SourceOp {
  std::string name;
  std::string part = "forward";

  bool operator==(const SourceOp &other) const {
    return name == other.name && part == other.part;
  }
};
} // namespace

/// Returns the part that 'convert-train-to-cuda' recorded in a location.
static std::string readPart(Location loc) {
  std::string part = "forward";
  loc->walk([&](Location inner) {
    auto fused = dyn_cast<FusedLoc>(inner);
    auto noted = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata())
                       : StringAttr();
    if (!noted)
      return WalkResult::advance();
    part = noted.str();
    return WalkResult::interrupt();
  });
  return part;
}

/// Appends the operations in `loc` with their source places.
static void readOperations(Location loc, SmallVectorImpl<SourceOp> &ops) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      readOperations(part, ops);
    return;
  }
  auto named = dyn_cast<NameLoc>(loc);
  if (!named || !named.getName().getValue().contains('.'))
    return;
  std::string text = named.getName().str();
  mlir::amp::LocationText source(named.getChildLoc());
  for (const std::string &part : {source.name, source.place})
    if (!part.empty())
      text += " " + part;
  SourceOp op{text, readPart(named.getChildLoc())};
  if (!llvm::is_contained(ops, op))
    ops.push_back(op);
}

/// Whether an operation at `loc` converts values to another type.
static bool isCastLocation(Location loc) {
  SmallVector<SourceOp> ops;
  readOperations(loc, ops);
  StringRef op = ops.empty() ? StringRef() : StringRef(ops[0].name);
  op = op.split(' ').first;
  return op.contains("cast") || op.contains("convert") || op.contains("trunc");
}

/// Returns the operations for result `target` of a launch of a library or of a
/// tuned kernel. The first operation computes the result.
static SmallVector<SourceOp> nameResult(LaunchOpInterface launch,
                                        unsigned target) {
  SmallVector<SourceOp> ops;
  readOperations(launch->getLoc(), ops);
  // An optimizer merges updates. Its results are the first result of each
  // update, then the second result of each.
  if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation())) {
    unsigned results = launch.getNumTargets() - optimizer.getCopies().size() -
                       optimizer.getNumQuantizedTargets();
    if (ops.empty() || results % ops.size() != 0)
      return ops;
    SourceOp update = ops[target % ops.size()];
    auto [op, place] = StringRef(update.name).split(' ');
    update.name = (op + "#" + Twine(target / ops.size()) + " " + place).str();
    return {update};
  }
  if (ops.size() < 2)
    return ops;
  // Merged operations have the same number of results each. The location of an
  // epilogue follows the location of its product. The second result is the
  // product before the epilogue.
  bool isMerged = !launch.isProduct() && launch.getNumTargets() > 1 &&
                  launch.getNumTargets() % ops.size() == 0;
  size_t first = isMerged      ? target % ops.size()
                 : target == 0 ? ops.size() - 1
                               : 0;
  std::swap(ops[0], ops[first]);
  return ops;
}

//===----------------------------------------------------------------------===//
// Values of bodies
//===----------------------------------------------------------------------===//

static bool isWatchableType(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

/// Returns the type to which an operation of a body narrows `scalar`, or null.
static FloatType getNarrowScalar(Value scalar) {
  for (Operation *user : scalar.getUsers())
    if (auto narrow = dyn_cast<arith::TruncFOp>(user))
      if (auto type = dyn_cast<FloatType>(narrow.getType());
          type && isWatchableType(type))
        return type;
  return {};
}

/// Whether `op` in the body of a kernel computes the result of an operation of
/// the source step. All operations that a composite was lowered to share a
/// location, and only the last one computes the result.
static bool isResultInBody(Operation &op) {
  if (op.getNumResults() != 1 || op.getNumOperands() == 0 ||
      !isWatchableType(op.getResult(0).getType()) || isa<arith::ExtFOp>(op) ||
      (isa<arith::TruncFOp>(op) && isCastLocation(op.getLoc())))
    return false;
  return llvm::none_of(op.getUsers(), [&](Operation *user) {
    return !isa<YieldOp>(user) && user->getLoc() == op.getLoc();
  });
}

namespace {

/// A value to count: a tensor, or a scalar in a region of a kernel.
struct Found {
  Value value;
  /// The type to which the step narrows the value, or null.
  FloatType to;
  SmallVector<SourceOp> ops;
  /// The kernel that computes a scalar. Null for a tensor.
  KernelOp kernel = {};
  /// The position among the values that a library computes and does not store.
  /// `value` is then a result of the launch.
  std::optional<unsigned> inner = {};
};

class WatchLaunches final
    : public mlir::amp::impl::CudaWatchBase<WatchLaunches> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  void find(Block &block);
  void findInKernel(KernelOp kernel);
  void findResults(LaunchOpInterface launch);
  void findInAttention(LaunchOpInterface launch);
  void add(Value value, FloatType to, ArrayRef<SourceOp> ops,
           KernelOp kernel = {});
  void build(func::FuncOp step);
  /// Adds the numbers of the found values from which `value` is computed.
  void appendOperands(Value value, SetVector<unsigned> &operands);
  void reportHidden(LaunchOpInterface launch);

  std::vector<Found> found;
  llvm::DenseMap<Value, unsigned> numbers;
};
} // namespace

/// Returns the type to which a launch narrows `tensor`, or null.
static FloatType getNarrowTensor(Value tensor) {
  for (OpOperand &use : tensor.getUses()) {
    Operation *user = use.getOwner();
    FloatType type;
    if (auto view = dyn_cast<ViewOp>(user))
      type = getNarrowTensor(view.getResult());
    else if (isa<CastsOp>(user))
      type = dyn_cast<FloatType>(
          typeOf(user->getResult(use.getOperandNumber())).getElementType());
    else if (auto kernel = dyn_cast<KernelOp>(user);
             kernel && use.getOperandNumber() < kernel.getNumElementInputs())
      type = getNarrowScalar(
          kernel.getBody().front().getArgument(use.getOperandNumber()));
    if (type && type.getWidth() < typeOf(tensor).getElementTypeBitWidth())
      return type;
  }
  return {};
}

void WatchLaunches::add(Value value, FloatType to, ArrayRef<SourceOp> ops,
                        KernelOp kernel) {
  if (ops.empty() || (!match.empty() && llvm::none_of(ops, [&](auto &op) {
        return llvm::Regex(match).match(op.name);
      })))
    return;
  found.push_back({value, to, SmallVector<SourceOp>(ops), kernel});
}

/// Finds the values that `kernel` computes and does not store.
void WatchLaunches::findInKernel(KernelOp kernel) {
  if (kernel.getPredicate())
    return;
  SmallVector<SourceOp> own;
  Block &body = kernel.getBody().front();
  unsigned numStored = kernel.getNumStored();
  if (kernel.isReduction())
    readOperations(body.getTerminator()->getLoc(), own);
  for (Region *region : {&kernel.getBody(), &kernel.getFinish()})
    for (Block &block : *region)
      for (Operation &op : block.without_terminator()) {
        if (!isResultInBody(op))
          continue;
        Value value = op.getResult(0);
        // A kernel that quantises also yields the value of the 8-bit copies.
        bool isYielded = llvm::is_contained(
            block.getTerminator()->getOperands().take_front(numStored), value);
        SmallVector<SourceOp> ops;
        readOperations(op.getLoc(), ops);
        // A yielded value that belongs to the operation of the reduction is not
        // a value of the source step.
        bool isStored = !kernel.isReduction() ||
                        region == &kernel.getFinish() || ops.empty() ||
                        own.empty() || ops.front() == own.front();
        if (!isYielded || !isStored)
          add(value, getNarrowScalar(value), ops, kernel);
      }
}

/// Returns the operations for result `target` of `kernel`. Empty for the result
/// of a cast, because the pass counts its operand.
static SmallVector<SourceOp> nameKernelResult(KernelOp kernel,
                                              unsigned target) {
  SmallVector<SourceOp> ops;
  Region &last =
      kernel.getFinish().empty() ? kernel.getBody() : kernel.getFinish();
  Operation *yield = last.front().getTerminator();
  Operation *op = yield->getOperand(target).getDefiningOp();
  if (kernel.isReduction() && kernel.getFinish().empty())
    readOperations(yield->getLoc(), ops);
  else if (op && !isa<arith::ExtFOp>(op) &&
           !(isa<arith::TruncFOp>(op) && isCastLocation(op->getLoc())))
    readOperations(op->getLoc(), ops);
  else if (!op)
    readOperations(kernel.getLoc(), ops);
  return ops;
}

/// Describes the values that `launch` computes and does not store. Returns an
/// empty string if there are none.
static StringRef getHiddenValues(Operation *launch) {
  if (isa<LinearCrossEntropyOp>(launch))
    return "the logits of a loss in chunks";
  if (isa<SDPAOp, SDPAGradOp>(launch) &&
      getInnerValuesOfAttention(launch).empty())
    return "the scores of attention by cuDNN";
  auto norm = dyn_cast<QuantizedNormOp>(launch);
  return norm && !norm.getStored() ? "the results of a norm in 8 bits"
                                   : StringRef();
}

/// Reports a launch whose inner values are not counted.
void WatchLaunches::reportHidden(LaunchOpInterface launch) {
  StringRef what = getHiddenValues(launch);
  if (what.empty())
    return;
  remark::missed(
      launch->getLoc(),
      remark::RemarkOpts::name("NotWatched")
          .category("amp")
          .function(launch->getParentOfType<func::FuncOp>().getName()))
      << remark::metric("Launch", launch.getName().value_or(""))
      << remark::reason("{0} are not watched", what);
  ++numHidden;
}

/// Finds the values that the plan of an attention computes and does not store.
void WatchLaunches::findInAttention(LaunchOpInterface launch) {
  SmallVector<SourceOp> ops;
  readOperations(launch->getLoc(), ops);
  if (ops.empty())
    return;
  auto [op, place] = StringRef(ops[0].name).split(' ');
  for (auto [index, name] :
       llvm::enumerate(getInnerValuesOfAttention(launch))) {
    SourceOp inner{(op + "#" + name + " " + place).str(), ops[0].part};
    auto low = cast<FloatType>(typeOf(launch.getInputs()[0]).getElementType());
    const size_t before = found.size();
    add(launch.getResults()[0], low, inner);
    if (found.size() != before)
      found.back().inner = unsigned(index);
  }
}

void WatchLaunches::findResults(LaunchOpInterface launch) {
  // Later launches would wait for a kernel that reads the result of a
  // collective. The results of the other launches here are not values of the
  // source step.
  if (launch.isCollective() ||
      isa<CastsOp, CheckGradientsOp, UpdateScaleOp, QuantizeBlocksOp,
          QuantizeOp, UpdateQuantizerOp>(launch.getOperation()))
    return;
  auto kernel = dyn_cast<KernelOp>(launch.getOperation());
  auto norm = dyn_cast<QuantizedNormOp>(launch.getOperation());
  // The other results of a launch that quantises are 8-bit copies.
  unsigned numStored = kernel ? kernel.getNumStored()
                       : norm ? norm.getStored() * norm.getNumStored()
                              : launch.getNumTargets();
  for (unsigned target = 0; target < numStored; ++target) {
    Value result = launch.getResults()[target];
    // Copies of parameters are not counted. A launch with a predicate may leave
    // a result undefined, so this result is not counted either.
    if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
        optimizer && target >= launch.getNumTargets() -
                                   optimizer.getCopies().size() -
                                   optimizer.getNumQuantizedTargets())
      break;
    if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
        optimizer && llvm::is_contained(optimizer.getSplits(), int64_t(target)))
      continue;
    if (!isWatchableType(typeOf(result).getElementType()) ||
        typeOf(result).getNumElements() == 0 ||
        (launch.getPredicate() && !launch.getTiedInput(target)))
      continue;
    add(result, getNarrowTensor(result),
        kernel ? nameKernelResult(kernel, target) : nameResult(launch, target));
  }
}

void WatchLaunches::find(Block &block) {
  // Counting kernels cannot read a tensor whose halves are stored apart.
  for (BlockArgument argument : block.getArguments())
    if (!getOperation().getArgAttr(argument.getArgNumber(), kSplitAttr) &&
        isWatchableType(typeOf(argument).getElementType()) &&
        typeOf(argument).getNumElements() != 0)
      add(argument, getNarrowTensor(argument),
          SourceOp{mlir::amp::nameWatchedValue(argument)});
  for (auto launch : block.getOps<LaunchOpInterface>()) {
    reportHidden(launch);
    if (auto kernel = dyn_cast<KernelOp>(launch.getOperation()))
      findInKernel(kernel);
    findInAttention(launch);
    findResults(launch);
  }
}

/// Follows views to the tensor that they read.
static Value skipViews(Value tensor) {
  while (auto view = tensor.getDefiningOp<ViewOp>())
    tensor = view->getOperand(0);
  return tensor;
}

void WatchLaunches::appendOperands(Value value, SetVector<unsigned> &operands) {
  SmallVector<Value> pending;
  llvm::DenseSet<Value> seen;
  // Appends the values from which `from` is computed, also within a kernel.
  auto expand = [&](Value from) {
    if (auto argument = dyn_cast<BlockArgument>(from)) {
      auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
      if (!kernel)
        return;
      if (argument.getOwner()->getParent() == &kernel.getFinish())
        llvm::append_range(
            pending, kernel.getBody().front().getTerminator()->getOperands());
      else if (argument.getArgNumber() < kernel.getInputs().size())
        pending.push_back(kernel.getInputs()[argument.getArgNumber()]);
      return;
    }
    Operation *op = from.getDefiningOp();
    unsigned number = cast<OpResult>(from).getResultNumber();
    if (isa<CastsOp>(op)) {
      pending.push_back(op->getOperand(number));
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      Region &last =
          kernel.getFinish().empty() ? kernel.getBody() : kernel.getFinish();
      ValueRange yielded = last.front().getTerminator()->getOperands();
      if (number < yielded.size())
        pending.push_back(yielded[number]);
    } else {
      llvm::append_range(pending, op->getOperands());
    }
  };
  expand(skipViews(value));
  while (!pending.empty()) {
    Value next = skipViews(pending.pop_back_val());
    if (!seen.insert(next).second)
      continue;
    if (auto it = numbers.find(next); it != numbers.end())
      operands.insert(it->second);
    else if (Operation *op = next.getDefiningOp();
             !op || !isa<LaunchOpInterface>(op) || isa<CastsOp>(op))
      expand(next);
  }
}

/// Describes a value, without its operands.
static ::amphost::WatchedRecord describe(const CountedValue &counted,
                                         const Found &found) {
  auto print = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  ::amphost::WatchedRecord record;
  // Libraries compute inner values in f32.
  record.type =
      found.inner ? "f32" : print(getElementTypeOrSelf(found.value.getType()));
  if (found.to)
    record.to = print(found.to);
  record.shape.assign(counted.shape.begin(), counted.shape.end());
  record.part = found.ops.front().part;
  record.name = found.ops.front().name;
  for (const SourceOp &op : llvm::drop_begin(found.ops))
    record.fused.push_back(op.name);
  return record;
}

void WatchLaunches::build(func::FuncOp step) {
  SmallVector<ScalarToCount> scalars;
  std::vector<CountedValue> counted(found.size());
  llvm::DenseMap<Operation *, SmallVector<CountedValue>> inner;
  std::vector<SetVector<unsigned>> operands(found.size());
  numbers.clear();
  for (auto [index, each] : llvm::enumerate(found))
    if (!each.inner)
      numbers.try_emplace(each.value, index);
  for (auto [index, each] : llvm::enumerate(found))
    appendOperands(each.value, operands[index]);
  for (auto [index, each] : llvm::enumerate(found))
    if (each.inner) {
      Operation *launch = each.value.getDefiningOp();
      // One kernel counts all inner values of a launch.
      SmallVector<CountedValue> &values = inner[launch];
      if (values.empty()) {
        values.resize(getInnerValuesOfAttention(launch).size());
        countAttention(launch, values);
      }
      counted[index] = values[*each.inner];
    } else if (!each.kernel)
      counted[index] = countTensor(each.value, each.to);
    else if (each.value.getParentRegion() == &each.kernel.getFinish())
      counted[index] = countInFinish(each.kernel, each.value, each.to);
    else
      scalars.push_back({unsigned(index), each.kernel, each.value, each.to});
  countScalars(scalars, counted);
  // Scalars that loops visit several times are not counted.
  SmallVector<unsigned> positions(found.size());
  unsigned number = 0;
  for (auto [index, each] : llvm::enumerate(counted))
    positions[index] = each.counts ? number++ : ~0u;
  Block &block = step.getBody().front();
  Operation *terminator = block.getTerminator();
  FunctionType type = step.getFunctionType();
  SmallVector<Type> results(type.getResults());
  unsigned first = results.size();
  SmallVector<std::string> names;
  for (auto [index, each] : llvm::enumerate(counted)) {
    if (!each.counts)
      continue;
    ::amphost::WatchedRecord record = describe(each, found[index]);
    for (unsigned operand : operands[index])
      if (counted[operand].counts)
        record.operands.push_back(positions[operand]);
    llvm::sort(record.operands);
    names.push_back(::amphost::nameCounts(positions[index], record));
    results.push_back(each.counts.getType());
    terminator->insertOperands(terminator->getNumOperands(), each.counts);
  }
  step.setType(FunctionType::get(&getContext(), type.getInputs(), results));
  for (auto [index, name] : llvm::enumerate(names))
    step.setResultAttr(first + index, mlir::amp::AMPDialect::kPredictionAttr,
                       StringAttr::get(&getContext(), name));
  numWatched += number;
}

/// Whether `step` can consist of launches, which take static tensors.
static bool hasStaticArguments(func::FuncOp step) {
  return llvm::all_of(step.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  });
}

void WatchLaunches::runOnOperation() {
  func::FuncOp step = getOperation();
  if (step.isExternal() || !mlir::amp::isStepFunction(step) ||
      step->hasAttr(mlir::amp::kInferenceOfAttr) ||
      !step.getBody().hasOneBlock() || !hasStaticArguments(step))
    return;
  std::string wrong;
  if (llvm::Regex regex(match); !match.empty() && !regex.isValid(wrong)) {
    step.emitError("wrong value of 'match': '")
        << match << "', expected a regular expression: " << wrong;
    return signalPassFailure();
  }
  Block &block = step.getBody().front();
  if (llvm::any_of(block.getOps<KernelOp>(),
                   [](KernelOp kernel) { return kernel.isStatistics(); }))
    return;
  found.clear();
  find(block);
  if (found.empty()) {
    step.emitError("'")
        << match << "' selects no value to watch, expected a regular "
        << "expression for a part of the name of an operation with its place";
    return signalPassFailure();
  }
  build(step);
}
