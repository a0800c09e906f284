//===- AdapterTraits.h - The YAML form of adapters --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// YAML traits of adapters. The traits of PolicyScalar must be visible.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_POLICY_ADAPTERTRAITS_H
#define AMP_LIB_PRECISION_POLICY_ADAPTERTRAITS_H

#include "AdapterFile.h"
#include "PolicyScalar.h"
#include "amp/Support/RenamedName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/YAMLTraits.h"

LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::AdapterDocument)
LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::CastAttributeDocument)
LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::AdapterOperationDocument)
LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::AdapterSlotDocument)
LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::BodyDocument)

namespace llvm::yaml {

template <>
struct MappingTraits<mlir::amp::detail::AdapterSlotDocument> {
  static void mapping(IO &io, mlir::amp::detail::AdapterSlotDocument &slot) {
    io.mapRequired("kind", slot.kind);
    io.mapOptional("operands", slot.operands);
    io.mapOptional("results", slot.results);
    io.mapOptional("implies", slot.implies);
    io.mapOptional("rounded", slot.rounded);
    io.mapOptional("optional", slot.optional);
  }
};

template <>
struct MappingTraits<mlir::amp::detail::BodyDocument> {
  static void mapping(IO &io, mlir::amp::detail::BodyDocument &body) {
    io.mapRequired("kind", body.kind);
    io.mapRequired("of", body.operations);
  }
};

template <>
struct MappingTraits<mlir::amp::detail::CompositePatternsDocument> {
  static void mapping(IO &io,
                      mlir::amp::detail::CompositePatternsDocument &patterns) {
    io.mapOptional("reduce", patterns.reduce);
    io.mapOptional("repeat", patterns.repeat);
    io.mapOptional("move", patterns.move);
    io.mapOptional("elementwise", patterns.elementwise);
  }
};

template <>
struct MappingTraits<mlir::amp::detail::AdapterOperationDocument> {
  static void mapping(IO &io,
                      mlir::amp::detail::AdapterOperationDocument &operation) {
    io.mapRequired("op", operation.name);
    io.mapOptional("kind", operation.kind);
    io.mapOptional("slots", operation.slots);
    io.mapOptional("attributes", operation.attributes);
    io.mapOptional("regions", operation.regions);
    io.mapOptional("bodies", operation.bodies);
    io.mapOptional("bounded", operation.bounded);
    io.mapOptional("bits", operation.bits);
    io.mapOptional("indices", operation.indices);
    io.mapOptional("periodic", operation.periodic);
  }
};

template <>
struct MappingTraits<mlir::amp::detail::CastAttributeDocument> {
  static void mapping(IO &io,
                      mlir::amp::detail::CastAttributeDocument &attribute) {
    io.mapRequired("name", attribute.name);
    io.mapRequired("value", attribute.value);
  }
};

template <>
struct MappingTraits<mlir::amp::detail::CastDocument> {
  static void mapping(IO &io, mlir::amp::detail::CastDocument &cast) {
    io.mapRequired("op", cast.op);
    io.mapOptional("attributes", cast.attributes);
  }
};

template <>
struct MappingTraits<mlir::amp::detail::AdapterDocument> {
  static void mapping(IO &io, mlir::amp::detail::AdapterDocument &adapter) {
    io.mapRequired("dialect", adapter.dialect);
    io.mapOptional("cast", adapter.cast);
    for (auto [index, key] : llvm::enumerate(mlir::amp::detail::listKeys))
      io.mapOptional(key.data(), adapter.lists[index]);
    io.mapOptional("operations", adapter.operations);
    if (!io.outputting())
      for (StringRef key : io.keys())
        if (std::string text = mlir::amp::describeRenaming("policy", key);
            !text.empty())
          io.setError("the key " + text);
    io.mapOptional("composite-patterns", adapter.compositePatterns);
    io.mapOptional("moves", adapter.moves);
    io.mapOptional("reads-part", adapter.readsPart);
    io.mapOptional("views", adapter.views);
    io.mapOptional("operand-names", adapter.operandNames);
    io.mapOptional("reject", adapter.reject);
    io.mapOptional("reject-operations", adapter.rejectOperations);
  }
};

} // namespace llvm::yaml

#endif // AMP_LIB_PRECISION_POLICY_ADAPTERTRAITS_H
