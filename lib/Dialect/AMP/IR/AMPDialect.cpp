//===- AMPDialect.cpp - The amp dialect and its attributes ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dialect, and verification of the discardable attributes
// of a training step.
//
//===----------------------------------------------------------------------===//

#include "ReplicationModels.h"
#include "ScaleExponentModels.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/AMP/IR/Composite.h"
#include "amp/Dialect/AMP/IR/GradientShape.h"
#include "amp/Dialect/AMP/IR/InputAttributes.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/CastMaterialization.h"
#include "amp/Support/NearName.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "mlir/Transforms/InliningUtils.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

#include "amp/Dialect/AMP/IR/AMPDialect.cpp.inc"
#include "amp/Dialect/AMP/IR/AMPEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "amp/Dialect/AMP/IR/AMPAttrs.cpp.inc"

namespace {
/// The inliner may inline every operation of the dialect, because none has side
/// effects or regions.
struct AMPInlinerInterface : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
/// `amp.cast`, for builtin tensors.
struct AMPCastInterface : public CastMaterializationInterface {
  using CastMaterializationInterface::CastMaterializationInterface;
  bool canMaterializeCast(Type from, Type to) const final {
    return CastOp::areCastCompatible(from, to);
  }
  Operation *materializeCast(OpBuilder &builder, Location loc, Value value,
                             Type type) const final {
    return CastOp::create(builder, loc, type, value, /*inserted=*/true);
  }
};
} // namespace

void AMPDialect::initialize() {
  addInterfaces<AMPCastInterface, AMPInlinerInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "amp/Dialect/AMP/IR/AMPAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/AMP/IR/AMPOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/AMP/IR/AMPCallOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/AMP/IR/AMPWeightOps.cpp.inc"
      >();
  attachReplicationModels(getContext());
  attachScaleExponentModels(getContext());
  attachQuantizedScaleExponentModels(getContext());
}

LogicalResult InitAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               InitKind kind, FloatAttr value, IntegerAttr seed,
                               StringAttr source) {
  StringRef name = stringifyInitKind(kind);
  bool needsValue = kind == InitKind::Constant || kind == InitKind::Normal ||
                    kind == InitKind::Uniform;
  if (needsValue && !value)
    return emitError() << "'" << name << "' needs 'value'";
  if (value && (kind == InitKind::Zeros || kind == InitKind::Ones ||
                kind == InitKind::CopyOf || kind == InitKind::RngState))
    return emitError() << "'" << name << "' takes no 'value'";
  if ((kind == InitKind::CopyOf) != static_cast<bool>(source))
    return emitError() << (source ? "only 'copy_of' takes 'source'"
                                  : "'copy_of' needs 'source'");
  if (value) {
    double number = value.getValueAsDouble();
    if (kind == InitKind::Constant ? std::isnan(number)
                                   : !(number > 0) || std::isinf(number))
      return emitError() << "'value' of '" << name << "' must be "
                         << (kind == InitKind::Constant ? "a number"
                                                        : "positive and finite")
                         << ", got " << number;
  }
  bool isDrawn = kind != InitKind::Zeros && kind != InitKind::Ones &&
                 kind != InitKind::Constant && kind != InitKind::CopyOf;
  if (seed && !isDrawn)
    return emitError() << "'" << name << "' takes no 'seed'";
  if (seed && !seed.getType().isSignlessInteger(64))
    return emitError() << "'seed' must be an i64, got " << seed;
  return success();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

/// Returns whether `value` is a valid value of `amp.precision`.
static bool isPrecision(Attribute value) {
  auto string = dyn_cast<StringAttr>(value);
  return string &&
         llvm::is_contained({"f32", "low", "keep"}, string.getValue());
}

/// Returns whether `op` has an argument with an `amp.name` equal to `name`, at
/// an index below `end`; sets `index` to it.
static bool findNamedArgument(FunctionOpInterface op, StringRef name,
                              unsigned end, unsigned &index) {
  for (index = 0; index < end; ++index) {
    auto other = op.getArgAttrOfType<StringAttr>(index, AMPDialect::kNameAttr);
    if (other && other.getValue() == name)
      return true;
  }
  return false;
}

/// The names of the discardable attributes of the dialect.
static ArrayRef<StringRef> listAttributes() {
  static const StringRef names[] = {AMPDialect::kRoleAttr,
                                    AMPDialect::kNameAttr,
                                    AMPDialect::kInitAttr,
                                    AMPDialect::kOptimizerAttr,
                                    AMPDialect::kUpdatesAttr,
                                    AMPDialect::kMetricAttr,
                                    AMPDialect::kPredictionAttr,
                                    AMPDialect::kGradientOfAttr,
                                    AMPDialect::kGradientSeedAttr,
                                    AMPDialect::kBackwardOfAttr,
                                    AMPDialect::kIdAttr,
                                    AMPDialect::kPrecisionAttr,
                                    AMPDialect::kMixedPrecisionAttr,
                                    AMPDialect::kInputSignatureAttr,
                                    AMPDialect::kInputTypesAttr,
                                    AMPDialect::kInputValueAttr,
                                    AMPDialect::kInsertedAttr,
                                    kDividedAlongAttr,
                                    kPartOfAttr,
                                    kInferenceOfAttr,
                                    kInputAttributesAttr,
                                    kKeepRoundingsAttr,
                                    kRecipeAttr};
  return names;
}

LogicalResult AMPDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kGradientOfAttr) {
    auto names = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!names || names.size() != op->getNumResults() ||
        !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return op->emitOpError()
             << "expected '" << name << "' to have one string per result";
    return success();
  }
  if (name == kInsertedAttr) {
    if (!isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError() << "expected '" << name << "' to have no value";
    return success();
  }
  if (name == kIdAttr || name == kBackwardOfAttr || name == kCompositeAttr) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!number || !number.getType().isSignlessInteger(64) ||
        number.getInt() < 0)
      return op->emitOpError()
             << "expected '" << name << "' to be an i64 that is not negative";
    return success();
  }
  if (name == kPrecisionAttr) {
    if (!isPrecision(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << name << R"(' to be "f32", "low" or "keep")";
    return success();
  }
  if (name == kInputTypesAttr) {
    auto types = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!types || !llvm::all_of(types, llvm::IsaPred<TypeAttr>))
      return op->emitOpError()
             << "expected '" << name << "' to be an array of types";
    return success();
  }
  if (name == kInputValueAttr) {
    if (!isa<ElementsAttr>(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << name << "' to be the elements of a tensor";
    return success();
  }
  if (name == kInputAttributesAttr) {
    if (!isa<DictionaryAttr>(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << name << "' to be a dictionary of attributes";
    return success();
  }
  if (name == kDividedAlongAttr) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    ArrayRef<int64_t> values =
        numbers ? numbers.asArrayRef() : ArrayRef<int64_t>();
    if ((values.size() != 1 && values.size() != 3) ||
        llvm::any_of(values, [](int64_t value) { return value < 0; }) ||
        (values.size() == 3 && values[2] >= values[1]))
      return op->emitOpError()
             << "expected '" << name
             << "' to be a dimension, or a dimension, the number of ranks and "
                "the number of a rank";
    return success();
  }
  if (name == kMixedPrecisionAttr || name == kInputSignatureAttr) {
    if (!isa<FunctionOpInterface>(op) || !isa<TypeAttr>(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << name << "' to be a type, on a function";
    return success();
  }
  if (name == kKeepRoundingsAttr) {
    if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << name << "' to have no value, on a function";
    return success();
  }
  if (llvm::is_contained({kRoleAttr, kNameAttr, kInitAttr, kOptimizerAttr},
                         name))
    return op->emitOpError()
           << "'" << name << "' belongs on arguments of functions";
  if (llvm::is_contained({kUpdatesAttr, kMetricAttr, kPredictionAttr}, name))
    return op->emitOpError()
           << "'" << name << "' belongs on results of functions";
  if (name == kRecipeAttr || name == kInferenceOfAttr) {
    if (!isa<FunctionOpInterface>(op) || !isa<StringAttr>(attribute.getValue()))
      return op->emitOpError()
             << "expected '" << name << "' to be a string, on a function";
    return success();
  }
  return op->emitOpError() << "attribute '" << name
                           << "' is not one of the 'amp' dialect"
                           << suggestName(name, listAttributes());
}

/// Verifies that `init` is a valid initial value of argument `index` of
/// `function`.
static LogicalResult verifyInit(FunctionOpInterface function, unsigned index,
                                InitAttr init,
                                function_ref<InFlightDiagnostic()> error) {
  if (getRole(function, index) == Role::Batch)
    return error() << "a batch is data, so it takes no 'amp.init'";
  // After bufferization and further lowering the initial value is set.
  auto type = dyn_cast<ShapedType>(getWholeType(function, index));
  if (!type || isa<VectorType, BaseMemRefType>(type) || !type.hasRank())
    return success();
  StringRef kind = stringifyInitKind(init.getKind());
  if (!type.hasStaticShape())
    return error() << "a value that starts as '" << kind
                   << "' must have a static shape, got " << type;
  switch (init.getKind()) {
  case InitKind::Zeros:
  case InitKind::Ones:
  case InitKind::Constant:
    return success();
  case InitKind::RngState:
    if (type.getElementType().isSignlessInteger(64) &&
        type.getShape() == ArrayRef<int64_t>{2})
      return success();
    return error() << "a value that starts as 'rng_state' must be "
                      "tensor<2xi64>, got "
                   << type;
  case InitKind::KaimingUniform:
  case InitKind::KaimingNormal:
  case InitKind::XavierUniform:
  case InitKind::XavierNormal:
    if (type.getRank() < 2)
      return error() << "a value that starts as '" << kind
                     << "' must have at least two dimensions, got " << type;
    [[fallthrough]];
  case InitKind::Normal:
  case InitKind::Uniform:
    if (isa<FloatType>(type.getElementType()))
      return success();
    return error() << "a value that starts as '" << kind
                   << "' must be of floats, got " << type;
  case InitKind::CopyOf:
    break;
  }

  // Follow the copies to an argument that is not a copy. This takes at most as
  // many steps as there are arguments.
  unsigned source = index;
  for (unsigned step = 0; step <= function.getNumArguments(); ++step) {
    StringRef name = init.getSource().getValue();
    if (!findNamedArgument(function, name, function.getNumArguments(), source))
      return error() << "'amp.init' copies \"" << name
                     << "\", but no argument has that 'amp.name'";
    auto other = dyn_cast<ShapedType>(getWholeType(function, source));
    if (!other || isa<VectorType, BaseMemRefType>(other) || !other.hasRank() ||
        other.getShape() != type.getShape() ||
        (other.getElementType() != type.getElementType() &&
         !(isa<FloatType>(other.getElementType()) &&
           isa<FloatType>(type.getElementType()))))
      return error() << "cannot copy \"" << name << "\" of type "
                     << getWholeType(function, source) << " to " << type;
    init = function.getArgAttrOfType<InitAttr>(source, AMPDialect::kInitAttr);
    if (!init || init.getKind() != InitKind::CopyOf)
      return success();
  }
  return error() << "'amp.init' copies form a cycle";
}

/// Verifies that argument `index` of `function` is a state, and a flat part of
/// a tensor of the type `attribute`.
static LogicalResult verifyPartOf(FunctionOpInterface function, unsigned index,
                                  Attribute attribute,
                                  function_ref<InFlightDiagnostic()> error) {
  auto typeAttr = dyn_cast<TypeAttr>(attribute);
  auto whole = typeAttr ? dyn_cast<RankedTensorType>(typeAttr.getValue())
                        : RankedTensorType();
  if (!whole || !whole.hasStaticShape())
    return error() << "expected '" << kPartOfAttr
                   << "' to be the type of a tensor with a static shape";
  std::optional<Role> role = getRole(function, index);
  if (!role || *role == Role::Batch || *role == Role::Hyperparameter)
    return error() << "'" << kPartOfAttr << "' belongs on states";
  auto part = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
  // Later the buffers of the parts take the place of the tensors.
  if (!part || isFlatPart(whole, part))
    return success();
  return error() << "expected a flat part of " << Type(whole)
                 << ", with one dimension and n / N elements, rounded up, got "
                 << part;
}

LogicalResult AMPDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argIndex,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto error = [&] {
    return op->emitOpError() << "argument " << argIndex << ": ";
  };
  if (!function)
    return error() << "'" << name << "' belongs on arguments of functions";

  if (name == kInitAttr) {
    auto init = dyn_cast<InitAttr>(attribute.getValue());
    if (!init)
      return error() << "expected 'amp.init' to be an #amp.init attribute";
    return verifyInit(function, argIndex, init, error);
  }
  if (name == kPartOfAttr)
    return verifyPartOf(function, argIndex, attribute.getValue(), error);
  if (name == kPrecisionAttr) {
    if (!isPrecision(attribute.getValue()))
      return error() << "expected '" << name
                     << R"(' to be "f32", "low" or "keep")";
    return success();
  }

  if (!llvm::is_contained(
          {kRoleAttr, kNameAttr, kOptimizerAttr, kGradientSeedAttr}, name))
    return error() << "'" << name << "' is not an argument attribute of 'amp'"
                   << suggestName(name, listAttributes());
  auto value = dyn_cast<StringAttr>(attribute.getValue());
  if (!value)
    return error() << "expected '" << name << "' to be a string";
  if (name == kRoleAttr) {
    if (!symbolizeRole(value.getValue()))
      return error() << "unknown role " << value
                     << ", expected \"parameter\", \"optimizer_state\", "
                        "\"model_state\", \"batch\", \"hyperparameter\", "
                        "\"scaler_state\" or \"quantizer_state\"";
    if (!isa<RankedTensorType>(function.getArgumentTypes()[argIndex]) &&
        isa<TensorType>(function.getArgumentTypes()[argIndex]))
      return error() << "an argument with 'amp.role' must be ranked, got "
                     << function.getArgumentTypes()[argIndex];
    return success();
  }
  if (name == kNameAttr) {
    unsigned other;
    if (value.getValue().empty())
      return error() << "'amp.name' must not be empty";
    if (findNamedArgument(function, value.getValue(), argIndex, other))
      return error() << "'amp.name' must be unique, but argument " << other
                     << " is named " << value << " too";
    return success();
  }
  if (name == kOptimizerAttr) {
    if (value.getValue().empty())
      return error() << "'amp.optimizer' must not be empty";
    return success();
  }
  Type type = function.getArgumentTypes()[argIndex];
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 0 || !tensor.getElementType().isF32())
    return error() << "a gradient seed must be a tensor<f32>, got " << type;
  return success();
}

LogicalResult AMPDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned resultIndex, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto error = [&] {
    return op->emitOpError() << "result " << resultIndex << ": ";
  };
  if (!function)
    return error() << "'" << name << "' belongs on results of functions";
  if (!llvm::is_contained(
          {kUpdatesAttr, kMetricAttr, kPredictionAttr, kGradientOfAttr}, name))
    return error() << "'" << name << "' is not a result attribute of 'amp'"
                   << suggestName(name, listAttributes());
  auto value = dyn_cast<StringAttr>(attribute.getValue());
  if (!value || value.getValue().empty())
    return error() << "expected '" << name << "' to be a non-empty string";

  if (name == kUpdatesAttr) {
    unsigned argument;
    if (!findNamedArgument(function, value.getValue(),
                           function.getNumArguments(), argument))
      return error() << "'amp.updates' names " << value
                     << ", but no argument has that 'amp.name'";
    Type have = function.getResultTypes()[resultIndex];
    Type need = function.getArgumentTypes()[argument];
    if (have != need)
      return error() << "updates " << value << " of type " << need
                     << ", but has type " << have;
    std::optional<Role> role = getRole(function, argument);
    if (role == Role::Batch || role == Role::Hyperparameter)
      return error() << "updates " << value << ", which is a "
                     << stringifyRole(*role) << " and not a state";
  } else if (name == kGradientOfAttr) {
    unsigned argument;
    if (!findNamedArgument(function, value.getValue(),
                           function.getNumArguments(), argument))
      return error() << "'amp.gradient_of' names " << value
                     << ", but no argument has that 'amp.name'";
    // Compare only the shapes, because gradients may be low.
    Type have = function.getResultTypes()[resultIndex];
    Type need = function.getArgumentTypes()[argument];
    auto gradient = dyn_cast<ShapedType>(have);
    auto parameter = dyn_cast<ShapedType>(need);
    bool areRanked =
        gradient && parameter && gradient.hasRank() && parameter.hasRank();
    if (areRanked ? !isGradientShape(gradient, parameter)
                  : failed(verifyCompatibleShape(have, need)))
      return error() << "is the gradient of " << value << " of type " << need
                     << ", but has type " << have;
    // A step may compute several gradients of one parameter.
    return success();
  }
  for (unsigned other = 0; other < resultIndex; ++other) {
    if (function.getResultAttrOfType<StringAttr>(other, name) == value)
      return error() << "'" << name << "' must be unique, but result " << other
                     << " has " << value << " too";
  }
  return success();
}
