//===- AMPToStableHLO.cpp - Lowering to StableHLO -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of StableHLO are built in generic form, unregistered.
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/Passes.h"

#include "amp/Conversion/LinalgCommon/AMPAttributes.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/LossScaling/ScaleUpdate.h"
#include "amp/Support/ConvertOnCopy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CONVERTAMPTOSTABLEHLO
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Builds operations of StableHLO at one location.
class HLOBuilder {
public:
  HLOBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value create(StringRef name, ValueRange operands, Type type,
               ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(loc, ("stablehlo." + name).str());
    state.addOperands(operands);
    state.addTypes(type);
    // An unregistered operation keeps inherent attributes as properties. They
    // are printed where StableHLO expects them.
    if (!attributes.empty())
      state.propertiesAttr = builder.getDictionaryAttr(attributes);
    return builder.create(state)->getResult(0);
  }
  Value constant(DenseElementsAttr value) {
    return create("constant", {}, value.getType(),
                  builder.getNamedAttr("value", value));
  }
  Value scalar(Type element, double value) {
    auto type = RankedTensorType::get({}, element);
    Attribute number =
        isa<FloatType>(element)
            ? Attribute(builder.getFloatAttr(element, value))
            : builder.getIntegerAttr(element, static_cast<int64_t>(value));
    return constant(DenseElementsAttr::get(type, number));
  }
  Value scalar(int32_t value) { return scalar(builder.getI32Type(), value); }
  Value scalar(const APFloat &value) {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    return constant(DenseElementsAttr::get(type, value));
  }
  Value convert(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getElementType() == element
               ? value
               : create("convert", value, type.clone(element));
  }
  Value repeat(Value scalar, RankedTensorType like) {
    auto type = like.clone(getElementTypeOrSelf(scalar));
    return like.getRank() == 0
               ? scalar
               : create("broadcast_in_dim", scalar, type,
                        builder.getNamedAttr("broadcast_dimensions",
                                             builder.getDenseI64ArrayAttr({})));
  }
  /// Returns the upper 16 bits of each f32 as a bf16.
  Value upperHalf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    auto bits = type.clone(builder.getI32Type());
    Value mask = repeat(scalar(-0x10000), bits);
    Value upper = binary("and", create("bitcast_convert", value, bits), mask);
    return convert(create("bitcast_convert", upper, type),
                   builder.getBF16Type());
  }
  Value binary(StringRef name, Value a, Value b) {
    return create(name, {a, b}, a.getType());
  }
  Value select(Value condition, Value yes, Value no) {
    return create("select", {condition, yes, no}, yes.getType());
  }
  Value compare(StringRef direction, Value a, Value b) {
    auto type = cast<RankedTensorType>(a.getType());
    auto kind = [&](StringRef mnemonic, StringRef value) {
      return OpaqueAttr::get(builder.getStringAttr("stablehlo"),
                             (mnemonic + " " + value).str(),
                             builder.getNoneType());
    };
    bool isFloat = isa<FloatType>(type.getElementType());
    return create(
        "compare", {a, b}, type.clone(builder.getI1Type()),
        {builder.getNamedAttr(
             "compare_type",
             kind("comparison_type", isFloat ? "FLOAT" : "SIGNED")),
         builder.getNamedAttr("comparison_direction",
                              kind("comparison_direction", direction))});
  }
  /// Whether all elements of `value` are finite.
  Value allFinite(Value value);
  /// The largest magnitude of the elements of `value`, in its type. NaN is the
  /// largest.
  Value maxMagnitude(Value value);

private:
  /// Reduces all elements of `value` by the operation `name`, from `init`.
  Value reduceAll(StringRef name, Value value, Value init);

  OpBuilder &builder;
  Location loc;
};

/// Tensors of rank 0, for `buildScaleUpdate` and `buildScaleAdaptation`.
class HLOScalars {
public:
  explicit HLOScalars(HLOBuilder &b) : b(b) {}
  Value real(float value) { return b.scalar(APFloat(value)); }
  Value integer(int32_t value) { return b.scalar(value); }
  Value add(Value x, Value y) { return b.binary("add", x, y); }
  Value subtract(Value x, Value y) { return b.binary("subtract", x, y); }
  Value multiply(Value x, Value y) { return b.binary("multiply", x, y); }
  Value divide(Value x, Value y) { return b.binary("divide", x, y); }
  /// The exponent alone is the next lower power of two.
  Value floorToPower(Value x) {
    Value exponent = integer(0x7F800000);
    Value bits = b.create("bitcast_convert", x, exponent.getType());
    return b.create("bitcast_convert", both(bits, exponent), x.getType());
  }
  Value maximum(Value x, Value y) { return b.binary("maximum", x, y); }
  Value minimum(Value x, Value y) { return b.binary("minimum", x, y); }
  Value isLess(Value x, Value y) { return b.compare("LT", x, y); }
  Value isGreater(Value x, Value y) { return b.compare("GT", x, y); }
  Value isAtLeast(Value x, Value y) { return b.compare("GE", x, y); }
  Value isEqual(Value x, Value y) { return b.compare("EQ", x, y); }
  Value both(Value x, Value y) { return b.binary("and", x, y); }
  Value select(Value condition, Value yes, Value no) {
    return b.select(condition, yes, no);
  }

private:
  HLOBuilder &b;
};

class ConvertAMPToStableHLO final
    : public mlir::amp::impl::ConvertAMPToStableHLOBase<ConvertAMPToStableHLO> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (!getContext().allowsUnregisteredDialects() &&
        !getContext().getLoadedDialect("stablehlo")) {
      getOperation()->emitError(
          "convert-amp-to-stablehlo builds operations of a dialect that is not "
          "loaded; expected --allow-unregistered-dialect");
      return signalPassFailure();
    }
    // Symbols are looked up from the step.
    WalkResult guards = getOperation()->walk(
        [](scf::IfOp guard) { return WalkResult(checkGuard(guard)); });
    if (guards.wasInterrupted() ||
        failed(convertOnCopy(getOperation(), [&](Operation *root) {
          tensors.clear();
          scalars.clear();
          return convertAll(root);
        })))
      signalPassFailure();
  }

private:
  static LogicalResult checkGuard(scf::IfOp guard);
  LogicalResult convertAll(Operation *root);
  LogicalResult convert(Operation *op);
  void convertUnscale(UnscaleOp op, HLOBuilder &b);
  void convertUpdate(UpdateScaleOp op, HLOBuilder &b);
  static bool convertLayerOp(Operation *op, HLOBuilder &b);
  LogicalResult convertGuard(scf::IfOp guard);
  Value getTensor(Value scalar, HLOBuilder &b);

  /// Maps scalars to the tensors of rank 0 that replace them.
  IRMapping tensors;
  /// The operations that produced the scalars, and constants.
  SmallVector<Operation *> scalars;
};

} // namespace

/// Builds a reduction of the booleans `value` to whether all are true.
Value HLOBuilder::allFinite(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value finite = create("is_finite", value, type.clone(builder.getI1Type()));
  return reduceAll("and", finite, scalar(builder.getI1Type(), 1));
}

Value HLOBuilder::maxMagnitude(Value value) {
  Value magnitude = create("abs", value, value.getType());
  return reduceAll("maximum", magnitude,
                   scalar(getElementTypeOrSelf(value), 0));
}

Value HLOBuilder::reduceAll(StringRef name, Value value, Value init) {
  auto type = cast<RankedTensorType>(value.getType());
  Type single = init.getType();
  if (type.getRank() == 0)
    return value;
  OperationState state(loc, "stablehlo.reduce");
  state.addOperands({value, init});
  state.addTypes(single);
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  state.propertiesAttr = builder.getDictionaryAttr(builder.getNamedAttr(
      "dimensions", builder.getDenseI64ArrayAttr(dimensions)));
  state.addRegion();
  Operation *reduce = builder.create(state);
  Block &block = reduce->getRegion(0).emplaceBlock();
  Value left = block.addArgument(single, loc);
  Value right = block.addArgument(single, loc);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&block);
  Value both = create(name, {left, right}, single);
  OperationState end(loc, "stablehlo.return");
  end.addOperands(both);
  builder.create(end);
  return reduce->getResult(0);
}

void ConvertAMPToStableHLO::convertUnscale(UnscaleOp op, HLOBuilder &b) {
  OpBuilder builder(op);
  // The inverse, rounded once from f64 as GradScaler does.
  Type f32 = builder.getF32Type(), f64 = builder.getF64Type();
  Value inverse = b.convert(
      b.binary("divide", b.scalar(f64, 1), b.convert(op.getScale(), f64)), f32);
  Value finite;
  SmallVector<Value> results;
  for (auto [gradient, unscaled] :
       llvm::zip_equal(op.getGradients(), op.getUnscaled())) {
    auto type = cast<RankedTensorType>(unscaled.getType());
    Value wide = b.convert(gradient, type.getElementType());
    Value factor = b.convert(inverse, type.getElementType());
    results.push_back(b.binary("multiply", wide, b.repeat(factor, type)));
    auto require = [&](Value flag) {
      finite = finite ? b.binary("and", finite, flag) : flag;
    };
    require(b.allFinite(gradient));
    if (op.getStrict())
      require(b.allFinite(results.back()));
  }
  results.push_back(finite);
  op->replaceAllUsesWith(results);
  op->erase();
}

void ConvertAMPToStableHLO::convertUpdate(UpdateScaleOp op, HLOBuilder &b) {
  HLOScalars scalars(b);
  ScaleState old{op.getScale(), op.getGrowthTracker(),
                 op.getHysteresisTracker()};
  ScaleState updated = buildScaleUpdate(scalars, op.getScaler().getRules(), old,
                                        op.getAllFinite());
  Value results[] = {updated.scale, updated.growthTracker,
                     updated.hysteresisTracker};
  op->replaceAllUsesWith(ValueRange(results));
  op->erase();
}

/// Converts the operations of a scale for each layer. Returns whether `op` is
/// one.
bool ConvertAMPToStableHLO::convertLayerOp(Operation *op, HLOBuilder &b) {
  Value result;
  if (auto rescale = dyn_cast<RescaleOp>(op)) {
    auto type = cast<RankedTensorType>(rescale.getGradient().getType());
    Type element = type.getElementType();
    Type compute = element.getIntOrFloatBitWidth() < 32
                       ? Float32Type::get(op->getContext())
                       : element;
    Value factor = b.convert(
        b.binary("divide", rescale.getTo(), rescale.getFrom()), compute);
    Value wide = b.convert(rescale.getGradient(), compute);
    result =
        b.convert(b.binary("multiply", wide, b.repeat(factor, type)), element);
  } else if (auto largest = dyn_cast<MaxMagnitudeOp>(op)) {
    Type element = getElementTypeOrSelf(largest.getLargest());
    for (Value gradient : largest.getGradients()) {
      Value one = b.convert(b.maxMagnitude(gradient), element);
      result = result ? b.binary("maximum", result, one) : one;
    }
  } else if (auto adapt = dyn_cast<AdaptScaleOp>(op)) {
    HLOScalars scalars(b);
    result = buildScaleAdaptation(scalars, adapt.getScaler().getRules(),
                                  adapt.getScale(), adapt.getMagnitude(),
                                  adapt.getAllFinite());
  } else {
    return false;
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
  return true;
}

/// Returns the tensor of rank 0 that replaces `scalar`.
Value ConvertAMPToStableHLO::getTensor(Value scalar, HLOBuilder &b) {
  if (Value known = tensors.lookupOrNull(scalar))
    return known;
  Attribute number;
  if (!matchPattern(scalar, m_Constant(&number)))
    return {};
  auto type = RankedTensorType::get({}, scalar.getType());
  return b.constant(DenseElementsAttr::get(type, number));
}

LogicalResult ConvertAMPToStableHLO::convert(Operation *op) {
  OpBuilder builder(op);
  HLOBuilder b(builder, op->getLoc());
  auto replace = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  };
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (isa_and_nonnull<AMPDialect>(op->getDialect()) &&
      !llvm::all_of(op->getOperandTypes(), isTensor))
    return op->emitOpError("works on another dialect's types, and cannot be "
                           "converted to StableHLO");
  if (isa<CastOp, MasterCopyOp>(op))
    return replace(
        b.convert(op->getOperand(0), getElementTypeOrSelf(op->getResult(0))));
  if (auto half = dyn_cast<UpperHalfOp>(op))
    return replace(b.upperHalf(half.getWeight()));
  if (auto seed = dyn_cast<GradientSeedOp>(op))
    return replace(b.scalar(getElementTypeOrSelf(seed.getType()), 1));
  if (auto scale = dyn_cast<ScaleOp>(op))
    return replace(b.binary("multiply", scale.getInput(), scale.getScale()));
  if (auto unscale = dyn_cast<UnscaleOp>(op)) {
    convertUnscale(unscale, b);
    return success();
  }
  if (auto update = dyn_cast<UpdateScaleOp>(op)) {
    convertUpdate(update, b);
    return success();
  }
  if (convertLayerOp(op, b))
    return success();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op);
      extract && extract.getTensor().getType().getRank() == 0) {
    tensors.map(extract.getResult(), extract.getTensor());
    scalars.push_back(op);
    return success();
  }
  if (auto wrap = dyn_cast<tensor::FromElementsOp>(op);
      wrap && wrap.getType().getRank() == 0)
    if (Value value = getTensor(wrap.getElements()[0], b))
      return replace(value);
  StringRef logic = isa<arith::XOrIOp>(op)   ? "xor"
                    : isa<arith::AndIOp>(op) ? "and"
                    : isa<arith::OrIOp>(op)  ? "or"
                                             : "";
  if (!logic.empty()) {
    Value left = getTensor(op->getOperand(0), b);
    Value right = getTensor(op->getOperand(1), b);
    if (left && right) {
      tensors.map(op->getResult(0), b.binary(logic, left, right));
      scalars.push_back(op);
      return success();
    }
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return replace(b.constant(elements));
    scalars.push_back(op);
    return success();
  }
  return op->emitOpError("cannot be converted to StableHLO");
}

/// Returns an operation in `root`, or in a function that it calls, that may
/// have side effects, or null.
static Operation *findEffect(Operation *root,
                             llvm::DenseSet<Operation *> &called) {
  Operation *found = nullptr;
  root->walk([&](Operation *op) {
    if (op == root || op->hasTrait<OpTrait::IsTerminator>() ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      Operation *callee = call.resolveCallable();
      auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
      if (!function || function.isExternal())
        found = op;
      else if (called.insert(function).second)
        found = findEffect(function, called);
    } else if (op->isRegistered()) {
      found = isMemoryEffectFree(op) ? nullptr : op;
    } else {
      // StableHLO is not linked in, so the name of the operation decides.
      auto [dialect, name] = op->getName().getStringRef().split('.');
      auto effect = dyn_cast_or_null<BoolAttr>(op->getAttr("has_side_effect"));
      if ((dialect != "stablehlo" && dialect != "chlo") ||
          (effect && effect.getValue()) ||
          llvm::is_contained({"infeed", "outfeed", "send", "recv", "rng"},
                             name))
        found = op;
    }
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Checks that the overflow guard only selects values by its condition.
LogicalResult ConvertAMPToStableHLO::checkGuard(scf::IfOp guard) {
  if (guard.getNumResults() == 0)
    return guard.emitOpError("cannot be converted to StableHLO: expected "
                             "results that the condition selects");
  llvm::DenseSet<Operation *> called;
  Operation *effect = findEffect(guard, called);
  if (!effect)
    return success();
  InFlightDiagnostic diagnostic =
      guard.emitOpError("cannot be converted to StableHLO: both branches would "
                        "run; expected operations without side effects");
  diagnostic.attachNote(effect->getLoc())
      << "'" << effect->getName().getStringRef() << "' may have one";
  return diagnostic;
}

/// Moves the body of `guard` out of it and selects its results.
LogicalResult ConvertAMPToStableHLO::convertGuard(scf::IfOp guard) {
  OpBuilder builder(guard);
  HLOBuilder b(builder, guard.getLoc());
  Value condition = getTensor(guard.getCondition(), b);
  if (!condition)
    return guard.emitOpError("cannot be converted to StableHLO: expected a "
                             "condition that is an element of a tensor");
  for (Region *region : {&guard.getThenRegion(), &guard.getElseRegion()})
    for (Operation &op :
         llvm::make_early_inc_range(region->front().without_terminator()))
      op.moveBefore(guard);
  builder.setInsertionPoint(guard);
  for (auto [result, yes, no] :
       llvm::zip_equal(guard.getResults(), guard.thenYield().getOperands(),
                       guard.elseYield().getOperands())) {
    if (!isa<RankedTensorType>(result.getType()))
      return guard.emitOpError("cannot be converted to StableHLO: expected "
                               "results that are tensors, got ")
             << result.getType();
    result.replaceAllUsesWith(b.select(condition, yes, no));
  }
  guard->erase();
  return success();
}

LogicalResult ConvertAMPToStableHLO::convertAll(Operation *root) {
  SmallVector<Operation *> worklist;
  SmallVector<scf::IfOp> guards;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa_and_nonnull<AMPDialect, arith::ArithDialect, scf::SCFDialect,
                        tensor::TensorDialect>(op->getDialect())) {
      if (auto guard = dyn_cast<scf::IfOp>(op))
        guards.push_back(guard);
      else if (!isa<scf::YieldOp>(op))
        worklist.push_back(op);
    }
  });
  // Convert guards last: their converted bodies move out of them.
  for (Operation *op : worklist)
    if (failed(convert(op)))
      return failure();
  for (scf::IfOp guard : llvm::reverse(guards))
    if (failed(convertGuard(guard)))
      return failure();
  for (Operation *op : llvm::reverse(scalars)) {
    if (!op->use_empty())
      return op->emitOpError("cannot be converted to StableHLO: its result, a "
                             "scalar, has a user that is not a guard");
    op->erase();
  }
  root->walk(removeAllAMPAttributes);
  return success();
}
