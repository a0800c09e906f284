//===- AMPDialect.cpp - The amp dialect and its attributes ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration, and the verification of what the discardable attributes of a
// training step say.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::amp;

#include "amp/Dialect/AMP/IR/AMPDialect.cpp.inc"
#include "amp/Dialect/AMP/IR/AMPEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "amp/Dialect/AMP/IR/AMPAttrs.cpp.inc"

void AMPDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "amp/Dialect/AMP/IR/AMPAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/AMP/IR/AMPOps.cpp.inc"
      >();
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
  if (kind != InitKind::Constant && value && value.getValueAsDouble() <= 0)
    return emitError() << "'value' of '" << name << "' must be positive, got "
                       << value.getValueAsDouble();
  return success();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

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
  if (name == kIdAttr || name == kBackwardOfAttr) {
    if (!isa<IntegerAttr>(attribute.getValue()))
      return op->emitOpError() << "expected '" << name << "' to be an integer";
    return success();
  }
  if (name == kPrecisionAttr) {
    auto value = dyn_cast<StringAttr>(attribute.getValue());
    if (!value || !llvm::is_contained({"f32", "low", "keep"}, value.getValue()))
      return op->emitOpError()
             << "expected '" << name << R"(' to be "f32", "low" or "keep")";
    return success();
  }
  // Notes that passes leave on functions, such as what they did.
  if (isa<FunctionOpInterface>(op) || isa<ModuleOp>(op))
    return success();
  return op->emitOpError() << "attribute '" << name
                           << "' is not one of the 'amp' dialect";
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
    if (init.getKind() == InitKind::CopyOf) {
      unsigned source;
      if (!findNamedArgument(function, init.getSource(),
                             function.getNumArguments(), source))
        return error() << "'amp.init' copies \"" << init.getSource().getValue()
                       << "\", but no argument has that 'amp.name'";
    }
    return success();
  }

  auto value = dyn_cast<StringAttr>(attribute.getValue());
  if (!value)
    return error() << "expected '" << name << "' to be a string";
  if (name == kRoleAttr) {
    if (!symbolizeRole(value.getValue()))
      return error() << "unknown role " << value
                     << ", expected \"parameter\", \"optimizer_state\", "
                        "\"model_state\", \"batch\", \"hyperparameter\" or "
                        "\"scaler_state\"";
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
  if (name == kPrecisionAttr)
    return success();
  return error() << "'" << name << "' is not an argument attribute of 'amp'";
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
    auto role = function.getArgAttrOfType<StringAttr>(argument, kRoleAttr);
    if (role &&
        (role.getValue() == "batch" || role.getValue() == "hyperparameter"))
      return error() << "updates " << value << ", which is a "
                     << role.getValue() << " and not a state";
  } else if (name != kMetricAttr && name != kPredictionAttr) {
    return error() << "'" << name << "' is not a result attribute of 'amp'";
  }
  for (unsigned other = 0; other < resultIndex; ++other) {
    if (function.getResultAttrOfType<StringAttr>(other, name) == value)
      return error() << "'" << name << "' must be unique, but result " << other
                     << " has " << value << " too";
  }
  return success();
}
