//===- AdapterFile.h - Adapters as a policy file has them -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_POLICY_ADAPTERFILE_H
#define AMP_LIB_PRECISION_POLICY_ADAPTERFILE_H

#include "PolicyScalar.h"
#include "amp/Precision/Policy/Adapter.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <vector>

namespace mlir::amp::detail {

struct AdapterSlotDocument {
  PolicyScalar kind, implies, rounded, optional;
  std::vector<PolicyScalar> operands, results;
};

/// Operations in regions, and the slot kind that they imply.
struct BodyDocument {
  PolicyScalar kind;
  std::vector<PolicyScalar> operations;
};

struct AdapterOperationDocument {
  PolicyScalar name, kind, regions, bounded, bits, indices, periodic;
  std::vector<BodyDocument> bodies;
  std::vector<AdapterSlotDocument> slots;
  std::vector<PolicyScalar> attributes;
};

struct CastAttributeDocument {
  PolicyScalar name, value;
};

struct CastDocument {
  PolicyScalar op;
  std::vector<CastAttributeDocument> attributes;
};

struct CompositePatternsDocument {
  std::vector<PolicyScalar> reduce, repeat, move, elementwise;
};

/// One entry of `adapters`.
struct AdapterDocument {
  PolicyScalar dialect, reject, operandNames;
  std::vector<PolicyScalar> rejectOperations, moves, readsPart, views;
  std::optional<CastDocument> cast;
  /// Names of operations may omit the dialect.
  PolicyLists lists;
  std::vector<AdapterOperationDocument> operations;
  CompositePatternsDocument compositePatterns;
};

/// Returns the full name of the operation that an adapter of `dialect` calls
/// `name`. A name stays as it is if the part before its first dot is `dialect`
/// or a name that `isDialect` accepts. In other names a dot is part of the name
/// of the operation.
std::string qualifyOperation(StringRef name, StringRef dialect,
                             llvm::function_ref<bool(StringRef)> isDialect);

/// Turns `document` into an adapter. If it is invalid, emits diagnostics at the
/// locations that `getLoc` returns and returns failure. `isDialect` says which
/// names are dialects.
FailureOr<Adapter>
readAdapter(const AdapterDocument &document, MLIRContext *context,
            llvm::function_ref<Location(const PolicyScalar &)> getLoc,
            llvm::function_ref<bool(StringRef)> isDialect);

/// Prints `adapter` as an entry of `adapters`, without lists.
void printAdapter(raw_ostream &os, const Adapter &adapter);

} // namespace mlir::amp::detail

#endif // AMP_LIB_PRECISION_POLICY_ADAPTERFILE_H
