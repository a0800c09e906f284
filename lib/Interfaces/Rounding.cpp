//===- Rounding.cpp - Attributes in another precision ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/Rounding.h"

#include "amp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::amp;

static APFloat roundTo(APFloat value, const llvm::fltSemantics &semantics) {
  bool losesInfo;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

/// The types between which attributes can change.
static bool isRoundable(Type type) {
  return isa<Float32Type, Float16Type, BFloat16Type>(type);
}

bool mlir::amp::canRoundAttribute(Attribute attribute) {
  if (auto elements = dyn_cast<DenseFPElementsAttr>(attribute))
    return isRoundable(elements.getElementType());
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return isRoundable(number.getType());
  if (auto type = dyn_cast<TypeAttr>(attribute)) {
    if (isRoundable(type.getValue()))
      return true;
    FloatType element = getPrecisionElementType(type.getValue());
    return element && isRoundable(element);
  }
  return false;
}

Attribute mlir::amp::roundAttribute(Attribute attribute, FloatType type) {
  if (!canRoundAttribute(attribute))
    return attribute;
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  if (auto elements = dyn_cast<DenseFPElementsAttr>(attribute))
    return elements.mapValues(type, [&](const APFloat &value) {
      return roundTo(value, semantics).bitcastToAPInt();
    });
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return FloatAttr::get(type, roundTo(number.getValue(), semantics));
  Type mentioned = cast<TypeAttr>(attribute).getValue();
  return TypeAttr::get(isa<FloatType>(mentioned)
                           ? Type(type)
                           : getWithElementType(mentioned, type));
}

bool mlir::amp::fitsHalf(Attribute attribute) {
  auto fits = [](const APFloat &value) {
    APFloat rounded = roundTo(value, APFloat::IEEEhalf());
    return !value.isFinite() ||
           (rounded.isFinite() && rounded.isZero() == value.isZero());
  };
  if (auto elements = dyn_cast<DenseFPElementsAttr>(attribute))
    return elements.isSplat() ? fits(elements.getSplatValue<APFloat>())
                              : llvm::all_of(elements, fits);
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return fits(number.getValue());
  return true;
}
