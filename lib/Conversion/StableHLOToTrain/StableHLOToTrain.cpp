//===- StableHLOToTrain.cpp - Forward losses of JAX as train graphs -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/Passes.h"

#include "StableHLOImporter.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Support/ConvertOnCopy.h"
#include "amp/Support/StableHLOText.h"
#include "amp/Support/SymbolUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

namespace mlir::amp {
#define GEN_PASS_DEF_STABLEHLOTOTRAIN
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

namespace {

struct StableHLOToTrain final
    : mlir::amp::impl::StableHLOToTrainBase<StableHLOToTrain> {
  using Base::Base;

  void runOnOperation() override {
    if (optimizer != "none" && optimizer != "sgd" && optimizer != "adam") {
      getOperation().emitError("stablehlo-to-train: unknown optimizer '")
          << optimizer << "', expected none, sgd or adam";
      return signalPassFailure();
    }
    if (failed(convertOnCopy(getOperation(), [&](Operation *root) {
          return convert(cast<ModuleOp>(root));
        })))
      signalPassFailure();
  }

private:
  LogicalResult convert(ModuleOp module) {
    SmallVector<func::FuncOp> steps;
    for (auto function : module.getOps<func::FuncOp>())
      if (isStepFunction(function))
        steps.push_back(function);
    if (steps.empty())
      return module.emitError(
          "stablehlo-to-train: no function has arguments with 'amp.role'; "
          "expected a loss that is marked by position");
    for (func::FuncOp step : steps)
      if (failed(StableHLOImporter(step).run(optimizer, learningRate)))
        return failure();
    eraseUnused(module);
    return success();
  }

  /// Erases private functions without uses. Their bodies have been inlined into
  /// the steps.
  static void eraseUnused(ModuleOp module) {
    llvm::StringMap<func::FuncOp> unused;
    SmallVector<Operation *> worklist;
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (function && function.isPrivate() && !isStepFunction(function))
        unused[function.getName()] = function;
      else
        worklist.push_back(&op);
    }
    while (!worklist.empty())
      worklist.pop_back_val()->walk([&](Operation *op) {
        forEachSymbolRef(op, [&](SymbolRefAttr symbol) {
          auto it = unused.find(symbol.getRootReference().getValue());
          if (it == unused.end())
            return;
          worklist.push_back(it->second);
          unused.erase(it);
        });
      });
    for (auto &entry : unused)
      entry.second.erase();
  }
};

} // namespace

Value StableHLOImporter::get(Value value) {
  auto it = known.find(value);
  if (it == known.end())
    return {};
  Known &entry = it->second;
  if (entry.value || !entry.number)
    return entry.value;
  auto type = typeOf(value);
  if (!type || !type.hasStaticShape() || !isFloat(type))
    return {};
  auto number = builder.getFloatAttr(type.getElementType(), *entry.number);
  return train::ConstantOp::create(
      builder, value.getLoc(), DenseElementsAttr::get(type, number.getValue()));
}

StringRef StableHLOImporter::getBody(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return {};
  Block &body = op->getRegion(0).front();
  if (llvm::range_size(body) != 2)
    return {};
  return body.front().getName().stripDialect();
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

void StableHLOImporter::visitBlock(Block &block,
                                   SmallVectorImpl<Value> &returned) {
  for (Operation &op : block) {
    if (isa<func::ReturnOp>(op) ||
        op.getName().getStringRef() == "stablehlo.return") {
      returned.assign(op.operand_begin(), op.operand_end());
      continue;
    }
    visit(&op);
  }
}

void StableHLOImporter::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    // A recursive function cannot be inlined. Its call is reported as
    // unsupported.
    if (callee && callee.getBody().hasOneBlock() && callee != function &&
        !llvm::is_contained(callees, callee)) {
      callees.push_back(callee);
      for (auto [argument, operand] :
           llvm::zip(callee.getArguments(), call.getOperands()))
        known[argument] = known.lookup(operand);
      SmallVector<Value> returned;
      visitBlock(callee.getBody().front(), returned);
      for (auto [result, value] : llvm::zip(call.getResults(), returned))
        known[result] = known.lookup(value);
      callees.pop_back();
      return;
    }
  }
  // Values of an earlier call of this function are not valid any more.
  for (Value result : op->getResults()) {
    known.erase(result);
    gelus.erase(result);
    averages.erase(result);
  }
  advice = {};
  StringRef dialect = op->getName().getDialectNamespace();
  bool isKnown = dialect == "stablehlo" || dialect == "chlo";
  if (isKnown && !areOperandsValid(op))
    advice = "its operands do not fit";
  else if (convertMany(op) || convert(op)) {
    if (haveResultTypes(op))
      return;
    advice = "its results have other types than it computes";
    for (Value result : op->getResults())
      known.erase(result);
  }
  // The operation that needs unknown integers or booleans reports itself.
  bool hasFloats = llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  if (!hasFloats && advice.empty())
    return;
  if (unsupported.empty())
    firstUnsupported = op->getLoc();
  std::string name = op->getName().getStringRef().str();
  if (!advice.empty())
    name += (" (" + advice + ")").str();
  ++unsupported[builder.getStringAttr(name)];
  // Continue, so that the error names the others as well.
  for (OpResult result : op->getResults())
    if (auto type = typeOf(result);
        type && type.hasStaticShape() && isFloat(type))
      known[result] = {Value(), 0.0, std::nullopt};
}

/// Converts operations with any number of results.
bool StableHLOImporter::convertMany(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !tensor.hasStaticShape())
      return false;
  if (name == "stablehlo.while")
    return convertWhile(op);
  if (name == "stablehlo.case" || name == "stablehlo.if")
    return convertBranches(op);
  if (name == "stablehlo.sort")
    return convertSort(op);
  if (name == "chlo.top_k")
    return convertTopK(op);
  return name == "stablehlo.reduce" && op->getNumResults() == 2 &&
         convertArgReduce(op);
}

bool StableHLOImporter::convert(Operation *op) {
  StringRef name = op->getName().stripDialect();
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect != "stablehlo" && dialect != "chlo") || op->getNumResults() != 1)
    return false;
  auto type = typeOf(op->getResult(0));
  if (!type || !type.hasStaticShape())
    return false;
  if (fold(op))
    return true;
  if (!isFloat(type)) {
    if ((name == "compare" || name == "is_finite") &&
        isFloat(op->getOperand(0).getType()))
      return convertElementwise(op, name);
    return convertIntegers(op) || convertComputed(op);
  }
  return convertResult(op, name);
}

/// Converts an operation whose result consists of floats.
bool StableHLOImporter::convertResult(Operation *op, StringRef name) {
  if (name == "select")
    return convertSelect(op);
  if (name == "convert")
    return convertConvert(op);
  if (name == "iota")
    return convertIota(op);
  if (name == "erfc")
    return convertErfc(op);
  if (name == "concatenate")
    return convertConcatenate(op);
  if (name == "pad")
    return convertPad(op);
  if (name == "dot_general")
    return convertDot(op);
  if (name == "convolution")
    return convertConvolution(op);
  if (name == "reduce")
    return convertReduce(op);
  if (name == "reduce_window")
    return convertPool(op);
  if (name == "gather")
    return convertGather(op) || convertAnyGather(op);
  if (name == "reverse")
    return convertReverse(op);
  if (name == "erf_inv")
    return convertErfInv(op);
  if (name == "bitcast_convert")
    return computeConversion(op);
  if (name == "dynamic_slice")
    return convertDynamicSlice(op);
  if (name == "dynamic_update_slice")
    return convertDynamicUpdate(op);
  if (name == "scatter")
    return convertScatter(op) || convertAnyScatter(op);
  if (name == "remainder")
    return convertRemainder(op);
  return convertElementwise(op, name) || convertMovement(op, name);
}

/// Rounds `number` to the type of the result, as the operation does.
bool StableHLOImporter::set(Operation *op, double number) {
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (auto type = dyn_cast<FloatType>(element)) {
    if (type.getWidth() > 64)
      return false;
    bool ignored;
    APFloat rounded(number);
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &ignored);
    number = rounded.convertToDouble();
  }
  known[op->getResult(0)] = {Value(), number, std::nullopt};
  return true;
}

/// Folds `op` if every operand has one number as all its elements.
bool StableHLOImporter::fold(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name == "constant") {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(op->getAttr("value"));
    if (!elements)
      return false;
    if (!elements.isSplat())
      return isFloat(elements.getElementType())
                 ? set(op, train::ConstantOp::create(builder, op->getLoc(),
                                                     elements))
                 : convertIntegers(op);
    if (isa<FloatType>(elements.getElementType()))
      return set(op, elements.getSplatValue<APFloat>().convertToDouble());
    if (!elements.getElementType().isSignlessInteger())
      return false;
    APInt value = elements.getSplatValue<APInt>();
    // True is one. All other integers are signed.
    double number = value.getBitWidth() == 1 ? double(value.getZExtValue())
                                             : double(value.getSExtValue());
    return std::abs(number) <= double(1LL << 53) && set(op, number);
  }
  SmallVector<double> x;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = getNumber(operand);
    if (!number)
      return false;
    x.push_back(*number);
  }
  if (x.empty() || op->getNumRegions() != 0)
    return false;
  if (name == "compare") {
    StringRef how = getEnum(op, "comparison_direction");
    return set(op, how == "EQ"   ? x[0] == x[1]
                   : how == "NE" ? x[0] != x[1]
                   : how == "GT" ? x[0] > x[1]
                   : how == "GE" ? x[0] >= x[1]
                   : how == "LT" ? x[0] < x[1]
                                 : x[0] <= x[1]);
  }
  if (name == "select")
    return set(op, x[0] != 0 ? x[1] : x[2]);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  if (name == "broadcast_in_dim" || name == "reshape" || name == "transpose" ||
      (name == "convert" && isFloat))
    return set(op, x[0]);
  if (name == "convert") {
    auto type = getElementTypeOrSelf(op->getResult(0));
    if (type.isInteger(1))
      return set(op, x[0] != 0);
    // Round towards zero. The result of an overflow is implementation-defined.
    double number = std::trunc(x[0]);
    double end = type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64
                     ? std::ldexp(1, type.getIntOrFloatBitWidth() - 1)
                     : 0;
    return number >= -end && number < end && set(op, number);
  }
  // Integers wrap around.
  if (!isFloat && name != "is_finite")
    return false;
  bool isNaN = llvm::any_of(x, [](double each) { return std::isnan(each); });
  auto result = llvm::StringSwitch<std::optional<double>>(name)
                    .Case("negate", -x[0])
                    .Case("sqrt", std::sqrt(x[0]))
                    .Case("is_finite", std::isfinite(x[0]))
                    .Default(std::nullopt);
  if (!result && x.size() == 2)
    result = llvm::StringSwitch<std::optional<double>>(name)
                 .Case("add", x[0] + x[1])
                 .Case("subtract", x[0] - x[1])
                 .Case("multiply", x[0] * x[1])
                 .Case("maximum", isNaN ? NAN : std::max(x[0], x[1]))
                 .Case("minimum", isNaN ? NAN : std::min(x[0], x[1]))
                 .Default(std::nullopt);
  if (!result && name == "divide" && isFloat)
    result = x[0] / x[1];
  return result && set(op, *result);
}

//===----------------------------------------------------------------------===//
// Elementwise and movement
//===----------------------------------------------------------------------===//

bool StableHLOImporter::convertElementwise(Operation *op, StringRef name) {
  TrainBuilder b = at(op);
  if (name == "clamp") {
    Value low = get(op->getOperand(0)), x = get(op->getOperand(1)),
          high = get(op->getOperand(2));
    return low && x && high && set(op, b.minimum(b.maximum(x, low), high));
  }
  if (name == "multiply")
    for (Value operand : op->getOperands())
      if (Value gelu = gelus.lookup(operand))
        return set(op, gelu);
  if (name == "divide")
    if (auto it = averages.find(op->getOperand(0));
        it != averages.end() &&
        getNumber(op->getOperand(1)) == double(it->second.second))
      return set(op, it->second.first);
  SmallVector<Value> x;
  for (Value operand : op->getOperands()) {
    Value value = get(operand);
    if (!value)
      return false;
    x.push_back(value);
  }
  if (name == "compare") {
    auto predicate =
        symbolizeComparePredicate(getEnum(op, "comparison_direction").lower());
    return predicate && set(op, b.compare(*predicate, x[0], x[1]));
  }
  Location loc = op->getLoc();
  auto unary = [&](auto tag) {
    using OpTy = decltype(tag);
    return set(op, OpTy::create(builder, loc, x[0].getType(), x[0]));
  };
  if (x.size() == 1) {
    if (name == "is_finite")
      return set(op, b.compare(ComparePredicate::LT, b.abs(x[0]),
                               b.scalar(INFINITY, x[0])));
    if (name == "logistic")
      return unary(SigmoidOp());
    if (name == "log_plus_one")
      return unary(Log1pOp());
    if (name == "exponential_minus_one")
      return unary(Expm1Op());
    Value result;
    if (name == "negate")
      result = b.neg(x[0]);
    else if (name == "abs")
      result = b.abs(x[0]);
    else if (name == "sign")
      result = b.sign(x[0]);
    else if (name == "exponential")
      result = b.exp(x[0]);
    else if (name == "log")
      result = b.log(x[0]);
    else if (name == "sqrt")
      result = b.sqrt(x[0]);
    else if (name == "rsqrt")
      result = b.rsqrt(x[0]);
    else if (name == "tanh")
      result = b.tanh(x[0]);
    else if (name == "sine")
      result = b.sin(x[0]);
    else if (name == "cosine")
      result = b.cos(x[0]);
    else if (name == "erf")
      result = b.erf(x[0]);
    else if (name == "square")
      result = b.square(x[0]);
    else if (name == "optimization_barrier")
      result = x[0];
    return result ? set(op, result) : convertFunction(op, name, x[0]);
  }
  if (x.size() != 2)
    return false;
  // Frameworks define the gradient of relu at 0. A maximum shares its gradient.
  if (name == "maximum" && getNumber(op->getOperand(1)) == 0.0)
    return set(op, ReluOp::create(builder, loc, x[0].getType(), x[0]));
  Value result = name == "add"        ? b.add(x[0], x[1])
                 : name == "subtract" ? b.sub(x[0], x[1])
                 : name == "multiply" ? b.mul(x[0], x[1])
                 : name == "divide"   ? b.div(x[0], x[1])
                 : name == "maximum"  ? b.maximum(x[0], x[1])
                 : name == "minimum"  ? b.minimum(x[0], x[1])
                 : name == "power"    ? b.pow(x[0], x[1])
                 : name == "atan2"    ? makeAtan2(b, x[0], x[1])
                                      : Value();
  return result && set(op, result);
}

bool StableHLOImporter::convertMovement(Operation *op, StringRef name) {
  TrainBuilder b = at(op);
  if (op->getNumOperands() == 0)
    return false;
  Value x = get(op->getOperand(0));
  if (!x)
    return false;
  auto type = typeOf(op->getResult(0));
  if (name == "reshape")
    return set(op, reshape(b, x, type.getShape()));
  if (name == "transpose") {
    auto permutation = getNumbers(op, "permutation");
    return permutation && set(op, transpose(b, x, *permutation));
  }
  if (name == "broadcast_in_dim") {
    auto dims = getNumbers(op, "broadcast_dimensions");
    if (!dims || !llvm::is_sorted(*dims))
      return false;
    SmallVector<int64_t> kept, repeated;
    for (int64_t dim = 0, next = 0; dim < type.getRank(); ++dim) {
      bool isThere =
          next < static_cast<int64_t>(dims->size()) && (*dims)[next] == dim;
      int64_t extent = isThere ? typeOf(x).getDimSize(next++) : 1;
      if (extent == type.getDimSize(dim))
        kept.push_back(extent);
      else
        repeated.push_back(dim);
    }
    x = reshape(b, x, kept);
    if (!repeated.empty())
      x = train::BroadcastOp::create(builder, op->getLoc(), type, x, Value(),
                                     repeated, /*mean=*/false);
    return set(op, x);
  }
  if (name == "slice") {
    auto from = getNumbers(op, "start_indices");
    auto steps = getNumbers(op, "strides");
    return from && steps &&
           set(op, train::SliceOp::create(builder, op->getLoc(), type, x, *from,
                                          type.getShape(), *steps));
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool StableHLOImporter::convertDot(Operation *op) {
  TrainBuilder b = at(op);
  Value lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  std::string text = getText(op, "dot_dimension_numbers");
  if (!lhs || !rhs || text.empty())
    return false;
  SmallVector<int64_t> lb = getField(text, "lhs_batching_dimensions"),
                       rb = getField(text, "rhs_batching_dimensions"),
                       lc = getField(text, "lhs_contracting_dimensions"),
                       rc = getField(text, "rhs_contracting_dimensions");
  SmallVector<int64_t> shape;
  for (int64_t dim : lb)
    shape.push_back(typeOf(lhs).getDimSize(dim));
  // Transposes an operand to the order batch, first, second, as a matrix.
  auto bring = [&](Value x, ArrayRef<int64_t> batch, ArrayRef<int64_t> inner,
                   bool innerFirst) {
    SmallVector<int64_t> outer;
    for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(inner, dim))
        outer.push_back(dim);
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, innerFirst ? inner : ArrayRef<int64_t>(outer));
    llvm::append_range(order, innerFirst ? ArrayRef<int64_t>(outer) : inner);
    auto count = [&](ArrayRef<int64_t> dims) {
      int64_t product = 1;
      for (int64_t dim : dims)
        product *= typeOf(x).getDimSize(dim);
      return product;
    };
    SmallVector<int64_t> matrix(shape);
    matrix.push_back(count(innerFirst ? inner : ArrayRef<int64_t>(outer)));
    matrix.push_back(count(innerFirst ? ArrayRef<int64_t>(outer) : inner));
    return reshape(b, transpose(b, x, order), matrix);
  };
  lhs = bring(lhs, lb, lc, /*innerFirst=*/false);
  rhs = bring(rhs, rb, rc, /*innerFirst=*/true);
  SmallVector<int64_t> product(typeOf(lhs).getShape());
  product.back() = typeOf(rhs).getShape().back();
  Value result = train::MatmulOp::create(builder, op->getLoc(),
                                         typeOf(lhs).clone(product), lhs, rhs);
  return set(op, reshape(b, result, typeOf(op->getResult(0)).getShape()));
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Describes an argument. Signed integers are indices.
static Known describeArgument(Value argument, bool isSigned) {
  Known result{argument, std::nullopt, std::nullopt};
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (isSigned && type && type.hasStaticShape() &&
      (type.getElementType().isSignlessInteger(32) ||
       type.getElementType().isSignlessInteger(64)))
    result.integers =
        KnownIntegers{KnownIntegers::Kind::Index,
                      llvm::to_vector(type.getShape()), argument, 0, nullptr};
  return result;
}

LogicalResult StableHLOImporter::run(StringRef optimizer, double learningRate) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a loss of one block");
  Block *old = &function.getBody().front();
  unsigned loss = function.getNumResults();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto metric = function.getResultAttrOfType<StringAttr>(
            i, AMPDialect::kMetricAttr);
        metric && metric.getValue() == "loss")
      loss = i;
  bool updates = optimizer != "none";
  if (updates &&
      (loss == function.getNumResults() || function.getNumResults() != 1))
    return function.emitError(
        "expected a loss as the only result, with 'amp.metric' = \"loss\"");

  Block *block =
      builder.createBlock(&function.getBody(), function.getBody().begin());
  SmallVector<Type> inputs;
  for (BlockArgument argument : old->getArguments()) {
    // Arithmetic has operations for unsigned integers and no types.
    RankedTensorType type = getComputedType(argument.getType());
    inputs.push_back(type ? type : argument.getType());
    known[argument] =
        describeArgument(block->addArgument(inputs.back(), argument.getLoc()),
                         inputs.back() == argument.getType());
  }
  SmallVector<Value> returned, results;
  visitBlock(*old, returned);
  function.setFunctionType(
      builder.getFunctionType(inputs, function.getFunctionType().getResults()));
  for (Value value : returned)
    results.push_back(get(value));
  if (unsupported.empty() && llvm::is_contained(results, Value()))
    ++unsupported[builder.getStringAttr("a result other than tensor<...xf32>")];
  if (!unsupported.empty()) {
    block->dropAllReferences();
    block->erase();
    auto diag = emitError(firstUnsupported)
                << "stablehlo-to-train: unsupported here: ";
    llvm::interleaveComma(unsupported, diag, [&](const auto &entry) {
      diag << entry.second << " x " << entry.first.getValue();
    });
    return diag;
  }
  // Erase operations that only a part of a pattern needed.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op) && !llvm::is_contained(results, op.getResult(0)))
      op.erase();
  builder.setInsertionPointToEnd(block);
  if (updates &&
      failed(addUpdates(optimizer, learningRate, results[0], results)))
    return failure();
  func::ReturnOp::create(builder, function.getLoc(), results);
  // No callee reads values of the old body any more.
  old->dropAllDefinedValueUses();
  old->erase();
  return success();
}

/// Lets `function` return the new value of each state, and then the loss.
static void setResults(func::FuncOp function,
                       ArrayRef<std::pair<std::string, Value>> updated,
                       Value loss, SmallVectorImpl<Value> &results) {
  Builder builder(function.getContext());
  SmallVector<Attribute> attributes;
  SmallVector<Type> types;
  Attribute metric = function.getResultAttrDict(0);
  results.clear();
  for (const auto &[name, value] : updated) {
    results.push_back(value);
    types.push_back(value.getType());
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        AMPDialect::kUpdatesAttr, builder.getStringAttr(name))));
  }
  results.push_back(loss);
  types.push_back(loss.getType());
  attributes.push_back(metric);
  function.setFunctionType(
      builder.getFunctionType(function.getArgumentTypes(), types));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
}

/// Appends gradients and an update of each parameter, with the state of the
/// optimizer as arguments.
LogicalResult StableHLOImporter::addUpdates(StringRef optimizer,
                                            double learningRate, Value loss,
                                            SmallVectorImpl<Value> &results) {
  Block *block = loss.getParentBlock();
  MLIRContext *context = function.getContext();
  Location loc = function.getLoc();
  StringAttr roleName = StringAttr::get(context, AMPDialect::kRoleAttr);
  StringAttr nameName = StringAttr::get(context, AMPDialect::kNameAttr);
  StringAttr initName = StringAttr::get(context, AMPDialect::kInitAttr);
  SmallVector<std::pair<std::string, Value>> parameters;
  llvm::StringSet<> names;
  std::string taken;
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto role = function.getArgAttrOfType<StringAttr>(i, roleName);
    auto name = function.getArgAttrOfType<StringAttr>(i, nameName);
    if (name)
      names.insert(name.getValue());
    if (role && name && role.getValue() == "parameter")
      parameters.push_back({name.str(), block->getArgument(i)});
  }
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto zeros = InitAttr::get(context, InitKind::Zeros, {}, {}, {});
  auto add = [&](Role role, const Twine &name, Type type, InitAttr init) {
    unsigned index = function.getNumArguments();
    if (!names.insert(name.str()).second)
      taken = name.str();
    DictionaryAttr attributes = builder.getDictionaryAttr(
        {{roleName, builder.getStringAttr(stringifyRole(role))},
         {nameName, builder.getStringAttr(name)},
         {initName, init}});
    // The old block is not an entry block any more, so add arguments by hand.
    Value argument = block->addArgument(type, loc);
    SmallVector<Type> inputs(function.getArgumentTypes());
    inputs.push_back(type);
    function.setFunctionType(FunctionType::get(
        context, inputs, function.getFunctionType().getResults()));
    SmallVector<Attribute> all;
    if (ArrayAttr present = function.getArgAttrsAttr())
      all.assign(present.begin(), present.end());
    all.resize(index, builder.getDictionaryAttr({}));
    all.push_back(attributes);
    function.setArgAttrsAttr(builder.getArrayAttr(all));
    return argument;
  };
  SmallVector<Value> wrt;
  SmallVector<Type> types;
  for (auto &[name, value] : parameters) {
    wrt.push_back(value);
    types.push_back(value.getType());
  }
  auto gradients = train::GradientsOp::create(builder, loc, types, loss, wrt);
  bool adam = optimizer == "adam";
  auto rate = InitAttr::get(context, InitKind::Constant,
                            builder.getF64FloatAttr(learningRate), {}, {});
  Value lr = add(Role::Hyperparameter, "lr", scalar, rate);
  Value step, next;
  SmallVector<std::pair<std::string, Value>> updated;
  if (adam) {
    step = add(Role::OptimizerState, "step", scalar, zeros);
    TrainBuilder b(builder, loc);
    next = b.add(step, 1.0);
    updated.push_back({"step", next});
  }
  for (auto [parameter, gradient] :
       llvm::zip(parameters, gradients.getResults())) {
    Value w = parameter.second;
    const std::string &name = parameter.first;
    if (!adam) {
      auto update = train::SGDOp::create(builder, loc, TypeRange(w.getType()),
                                         ValueRange{w, gradient, lr});
      updated.push_back({name, update->getResult(0)});
      continue;
    }
    Value m = add(Role::OptimizerState, name + ".m", w.getType(), zeros);
    Value v = add(Role::OptimizerState, name + ".v", w.getType(), zeros);
    Type same[] = {w.getType(), w.getType(), w.getType()};
    auto update = train::AdamOp::create(
        builder, loc, TypeRange(same), ValueRange{w, gradient, lr, m, v, next});
    updated.push_back({name, update->getResult(0)});
    updated.push_back({name + ".m", update->getResult(1)});
    updated.push_back({name + ".v", update->getResult(2)});
  }
  setResults(function, updated, loss, results);
  if (!taken.empty())
    return function.emitError("stablehlo-to-train: the optimizer '")
           << optimizer << "' needs an argument named '" << taken
           << "', but there is one; expected it to have another 'amp.name'";
  return success();
}
