//===- Toy.cpp - A dialect that AMP has never seen ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "amp/Interfaces/CastMaterialization.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace toy;

#include "ToyDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ToyTypes.cpp.inc"
#define GET_OP_CLASSES
#include "ToyOps.cpp.inc"

namespace {
struct ToyCasts : amp::CastMaterializationInterface {
  using CastMaterializationInterface::CastMaterializationInterface;
  bool canMaterializeCast(Type from, Type to) const override {
    return isa<ToyTensorType>(from) ? isa<ToyTensorType, RankedTensorType>(to)
                                    : isa<ToyTensorType>(to);
  }
  Operation *materializeCast(OpBuilder &builder, Location loc, Value value,
                             Type type) const override {
    return ConvertOp::create(builder, loc, type, value);
  }
};
} // namespace

void ToyDialect::initialize() {
  addInterfaces<ToyCasts>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ToyTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ToyOps.cpp.inc"
      >();
}

Type ToyTensorType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return get(parser.getContext(), shape, element);
}

void ToyTensorType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    ShapedType::isDynamic(extent) ? printer << "?x" : printer << extent << 'x';
  printer << getElementType() << '>';
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

/// A product: low operands, and a result that may be f32 or low.
void MatmulOp::getPrecisionSlots(amp::PrecisionSlots &slots) {
  slots.reset(*this);
  int8_t operands = slots.add(amp::SlotKind::Compute, {0, 1}, {});
  int8_t result = slots.add(amp::SlotKind::Storage, {}, {0});
  slots.addImplication(result, operands);
}

/// Reads and gives low values, but not the seed: the loss scale is beyond the
/// range of f16.
void LossGradOp::getPrecisionSlots(amp::PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(amp::SlotKind::Storage, {0, 1}, {0});
  slots.add(amp::SlotKind::Fixed, {2}, {});
}

LogicalResult
MatmulOp::inferScaleExponents(amp::ScaleExponentInference &inference) {
  return amp::inferProductExponent(inference);
}
LogicalResult
LossGradOp::inferScaleExponents(amp::ScaleExponentInference &inference) {
  return amp::inferLinearExponent(inference, /*linear=*/2);
}
LogicalResult
ReluGradOp::inferScaleExponents(amp::ScaleExponentInference &inference) {
  return amp::inferLinearExponent(inference, /*linear=*/0);
}
LogicalResult
ConvertOp::inferScaleExponents(amp::ScaleExponentInference &inference) {
  return amp::inferJointExponent(inference);
}

OperandRange DescendOp::getGradientOperands() {
  return getOperation()->getOperands().slice(1, 1);
}
