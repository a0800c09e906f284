//===- StableHLOText.h - Attributes of StableHLO, as text -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without StableHLO its attributes are opaque. Only their text is available.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_STABLEHLOTEXT_H
#define AMP_SUPPORT_STABLEHLOTEXT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

namespace mlir::amp {

/// The attribute `name` of `op` as text. Empty if absent.
inline std::string getText(Operation *op, StringRef name) {
  std::string text;
  if (Attribute attribute = op->getAttr(name)) {
    llvm::raw_string_ostream os(text);
    os << attribute;
  }
  return text;
}

/// The value of an enumeration such as `#stablehlo<comparison_direction LT>`.
inline StringRef getEnum(Operation *op, StringRef name) {
  auto opaque = dyn_cast_or_null<OpaqueAttr>(op->getAttr(name));
  return opaque ? opaque.getAttrData().rsplit(' ').second : StringRef();
}

/// The numbers in `field = [...]` within `text`. Empty if the field is absent.
inline SmallVector<int64_t> getField(StringRef text, StringRef field) {
  SmallVector<int64_t> numbers;
  size_t at = text.find((field + " = [").str());
  if (at == StringRef::npos)
    return numbers;
  StringRef list = text.substr(at + field.size() + 4).take_until([](char c) {
    return c == ']';
  });
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  for (StringRef part : parts)
    if (int64_t number; !part.trim().getAsInteger(10, number))
      numbers.push_back(number);
  return numbers;
}

/// The numbers of the attribute `name` if it is an array or elements.
inline std::optional<SmallVector<int64_t>> getNumbers(Operation *op,
                                                      StringRef name) {
  Attribute attribute = op->getAttr(name);
  if (auto array = dyn_cast_or_null<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(array.asArrayRef());
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attribute);
  if (!elements || !elements.getElementType().isInteger(64))
    return std::nullopt;
  return llvm::to_vector(elements.getValues<int64_t>());
}

} // namespace mlir::amp

#endif // AMP_SUPPORT_STABLEHLOTEXT_H
