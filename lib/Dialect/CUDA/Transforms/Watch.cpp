//===- Watch.cpp - Statistics of the values of launches -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the values of the source step in the launches that compute them. The
// locations of operations name these values: each operation of a body has the
// location of the operation that it was lowered from.
//
//===----------------------------------------------------------------------===//

#include "WatchedKernels.h"

#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/AMP/IR/Watched.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Support/LocationText.h"
#include "amp/Support/TensorTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringExtras.h"
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

/// Appends the names of the operations that `loc` holds, with their places.
static void readOperationNames(Location loc,
                               SmallVectorImpl<std::string> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      readOperationNames(part, names);
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
  if (!llvm::is_contained(names, text))
    names.push_back(text);
}

/// Whether an operation at `loc` converts values to another type.
static bool isCastLocation(Location loc) {
  SmallVector<std::string> names;
  readOperationNames(loc, names);
  StringRef op = names.empty() ? StringRef() : StringRef(names[0]);
  op = op.split(' ').first;
  return op.contains("cast") || op.contains("convert") || op.contains("trunc");
}

/// The names of result `target` of a launch of a library or of a tuned kernel,
/// that of the result first.
static SmallVector<std::string> nameResult(LaunchOpInterface launch,
                                           unsigned target) {
  SmallVector<std::string> names;
  readOperationNames(launch->getLoc(), names);
  // An optimizer has the results of merged updates: the first result of each,
  // then the second of each.
  if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation())) {
    unsigned results = launch.getNumTargets() - optimizer.getCopies().size();
    if (names.empty() || results % names.size() != 0)
      return names;
    auto [op, place] = StringRef(names[target % names.size()]).split(' ');
    return {(op + "#" + Twine(target / names.size()) + " " + place).str()};
  }
  if (names.size() < 2)
    return names;
  // Merged operations have as many results each. An epilogue follows its
  // product, whose result before the epilogue is the second one.
  bool isMerged = !launch.isProduct() && launch.getNumTargets() > 1 &&
                  launch.getNumTargets() % names.size() == 0;
  size_t first = isMerged      ? target % names.size()
                 : target == 0 ? names.size() - 1
                               : 0;
  std::swap(names[0], names[first]);
  return names;
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

/// Whether `op`, of the body of a kernel, computes the result of an operation
/// of the source step. The operations that a composite was lowered to have one
/// location.
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
  FloatType to;
  SmallVector<std::string> names;
  /// The kernel of a scalar.
  KernelOp kernel = {};
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
  void add(Value value, FloatType to, ArrayRef<std::string> names,
           KernelOp kernel = {});
  void build(func::FuncOp step);
  void reportHidden(LaunchOpInterface launch);

  std::vector<Found> found;
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

void WatchLaunches::add(Value value, FloatType to, ArrayRef<std::string> names,
                        KernelOp kernel) {
  if (names.empty() || (!match.empty() && llvm::none_of(names, [&](auto &name) {
        return llvm::Regex(match).match(name);
      })))
    return;
  found.push_back({value, to, SmallVector<std::string>(names), kernel});
}

/// Finds the values that `kernel` computes and does not store.
void WatchLaunches::findInKernel(KernelOp kernel) {
  if (kernel.getPredicate())
    return;
  SmallVector<std::string> own;
  Block &body = kernel.getBody().front();
  unsigned numStored = kernel.getNumStored();
  if (kernel.isReduction())
    readOperationNames(body.getTerminator()->getLoc(), own);
  for (Region *region : {&kernel.getBody(), &kernel.getFinish()})
    for (Block &block : *region)
      for (Operation &op : block.without_terminator()) {
        if (!isResultInBody(op))
          continue;
        Value value = op.getResult(0);
        // A kernel that quantises also yields the value of the 8-bit copies.
        bool isYielded = llvm::is_contained(
            block.getTerminator()->getOperands().take_front(numStored), value);
        SmallVector<std::string> names;
        readOperationNames(op.getLoc(), names);
        // A reduction combines values of its own operation.
        bool isStored = !kernel.isReduction() ||
                        region == &kernel.getFinish() || names.empty() ||
                        own.empty() || names.front() == own.front();
        if (!isYielded || !isStored)
          add(value, getNarrowScalar(value), names, kernel);
      }
}

/// The names of result `target` of `kernel`. Empty for the result of a cast,
/// whose operand is counted.
static SmallVector<std::string> nameKernelResult(KernelOp kernel,
                                                 unsigned target) {
  SmallVector<std::string> names;
  Region &last =
      kernel.getFinish().empty() ? kernel.getBody() : kernel.getFinish();
  Operation *yield = last.front().getTerminator();
  Operation *op = yield->getOperand(target).getDefiningOp();
  if (kernel.isReduction() && kernel.getFinish().empty())
    readOperationNames(yield->getLoc(), names);
  else if (op && !isa<arith::ExtFOp>(op) &&
           !(isa<arith::TruncFOp>(op) && isCastLocation(op->getLoc())))
    readOperationNames(op->getLoc(), names);
  else if (!op)
    readOperationNames(kernel.getLoc(), names);
  return names;
}

/// Returns what `launch` computes and does not store, or an empty string.
static StringRef getHiddenValues(Operation *launch) {
  if (isa<LinearCrossEntropyOp>(launch))
    return "the logits of a loss in chunks";
  if (isa<SDPAOp, SDPAGradOp>(launch))
    return "the scores of attention by cuDNN";
  auto norm = dyn_cast<QuantizedNormOp>(launch);
  return norm && !norm.getStored() ? "the results of a norm in 8 bits"
                                   : StringRef();
}

/// Reports an operation whose inner values are not stored.
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

void WatchLaunches::findResults(LaunchOpInterface launch) {
  // A reader of a collective would make later launches wait for it. The results
  // of the other launches are not values of the source step.
  if (launch.isCollective() ||
      isa<CastsOp, CheckGradientsOp, UpdateScaleOp, QuantizeOp,
          UpdateQuantizerOp>(launch.getOperation()))
    return;
  auto kernel = dyn_cast<KernelOp>(launch.getOperation());
  auto norm = dyn_cast<QuantizedNormOp>(launch.getOperation());
  // The other results of a launch that quantises are 8-bit copies.
  unsigned numStored = kernel ? kernel.getNumStored()
                       : norm ? norm.getStored() * norm.getNumStored()
                              : launch.getNumTargets();
  for (unsigned target = 0; target < numStored; ++target) {
    Value result = launch.getResults()[target];
    // A copy has the counts of the cast. A result that a flag may leave without
    // a value has none to count.
    if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
        optimizer &&
        target >= launch.getNumTargets() - optimizer.getCopies().size())
      break;
    if (!isWatchableType(typeOf(result).getElementType()) ||
        typeOf(result).getNumElements() == 0 ||
        (launch.getPredicate() && !launch.getTiedInput(target)))
      continue;
    add(result, getNarrowTensor(result),
        kernel ? nameKernelResult(kernel, target) : nameResult(launch, target));
  }
}

void WatchLaunches::find(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (isWatchableType(typeOf(argument).getElementType()) &&
        typeOf(argument).getNumElements() != 0)
      add(argument, getNarrowTensor(argument),
          mlir::amp::nameWatchedValue(argument));
  for (auto launch : block.getOps<LaunchOpInterface>()) {
    reportHidden(launch);
    if (auto kernel = dyn_cast<KernelOp>(launch.getOperation()))
      findInKernel(kernel);
    findResults(launch);
  }
}

/// The name of a prediction: what the counts describe.
static std::string describe(unsigned number, const CountedValue &counted,
                            const Found &found) {
  auto print = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  std::string text = (mlir::amp::kWatchPrefix + Twine(number) + " ").str();
  text += print(getElementTypeOrSelf(found.value.getType()));
  if (found.to)
    text += ">" + print(found.to);
  text += " ";
  for (int64_t extent : counted.shape)
    text += std::to_string(extent) + "x";
  return text + " " + llvm::join(found.names, " | ");
}

void WatchLaunches::build(func::FuncOp step) {
  SmallVector<ScalarToCount> scalars;
  std::vector<CountedValue> counted(found.size());
  for (auto [number, each] : llvm::enumerate(found))
    if (!each.kernel)
      counted[number] = countTensor(each.value, each.to);
    else if (each.value.getParentRegion() == &each.kernel.getFinish())
      counted[number] = countInFinish(each.kernel, each.value, each.to);
    else
      scalars.push_back({unsigned(number), each.kernel, each.value, each.to});
  countScalars(scalars, counted);
  Block &block = step.getBody().front();
  Operation *terminator = block.getTerminator();
  FunctionType type = step.getFunctionType();
  SmallVector<Type> results(type.getResults());
  unsigned first = results.size(), number = 0;
  SmallVector<std::string> names;
  for (auto [each, description] : llvm::zip_equal(counted, found)) {
    // A scalar that its loops visit several times is not counted.
    if (!each.counts)
      continue;
    names.push_back(describe(number++, each, description));
    results.push_back(each.counts.getType());
    terminator->insertOperands(terminator->getNumOperands(), each.counts);
  }
  step.setType(FunctionType::get(&getContext(), type.getInputs(), results));
  for (auto [index, name] : llvm::enumerate(names))
    step.setResultAttr(first + index, mlir::amp::AMPDialect::kPredictionAttr,
                       StringAttr::get(&getContext(), name));
  numWatched += number;
}

/// Whether `step` may have become launches, which take static tensors.
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
    step.emitError("'match' selects no value: '")
        << match << "' is in no name; expected a part of the name of an "
        << "operation with its place";
    return signalPassFailure();
  }
  build(step);
}
