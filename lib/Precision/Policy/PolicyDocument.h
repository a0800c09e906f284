//===- PolicyDocument.h - A policy file as it is written --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The YAML document with the location of each scalar, read without an
// MLIRContext. Each key of the schema has a field here, a line in its
// MappingTraits, and a use in Policy.cpp and PolicyPrinter.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_POLICY_POLICYDOCUMENT_H
#define AMP_LIB_PRECISION_POLICY_POLICYDOCUMENT_H

#include "AdapterFile.h"
#include "PolicyScalar.h"
#include "amp/Precision/Policy/PolicySettings.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp::detail {

struct SlotEntry {
  PolicyScalar op, slot, kind;
};

struct PinEntry {
  std::string pattern;
  PolicyScalar pin;
};

struct PinMap {
  std::vector<PinEntry> entries;
};

/// An operation with others that mean the same, or with the types of its slots.
struct NamedList {
  std::string name;
  std::vector<PolicyScalar> items;
};

struct NamedLists {
  std::vector<NamedList> entries;
};

struct LossScalingOptions {
  PolicyScalar mode, scaler;
  /// By the keys of LossScaler.
  std::map<std::string, PolicyScalar> values;
};

/// The mode alone, or a mapping.
struct LossScalingEntry {
  LossScalingOptions options;
};

struct Float8Options {
  /// By the keys of `getFloat8Keys`.
  std::map<std::string, PolicyScalar> values;
  std::vector<PolicyScalar> keep;
};

/// The recipe alone, or a mapping.
struct Float8Entry {
  Float8Options options;
};

struct TargetOptions {
  PolicyScalar base;
  std::vector<PolicyScalar> lowTypes;
  PolicyScalar lowFlopPerByte, f32FlopPerByte, alignment, castReadShare,
      castWriteShare;
};

/// The name of a target, or a mapping.
struct TargetEntry {
  PolicyScalar name;
  std::optional<TargetOptions> options;
};

struct PolicyDocument;

/// A name, or a policy in place.
struct ExtendsEntry {
  PolicyScalar name;
  std::unique_ptr<PolicyDocument> inPlace;
};

struct PolicyDocument {
  /// The file, or the name that diagnostics use for it.
  std::string file;
  /// Whether it is nested in another document (`extends: {...}`) and needs no
  /// version.
  bool isNested = false;
  /// Whether it is one of the presets.
  bool isPreset = false;
  PolicyScalar version, precision, strategy, gradientType, roundings,
      promotions, masterWeights;
  ExtendsEntry extends;
  LossScalingEntry lossScaling;
  Float8Entry float8;
  std::vector<PolicyScalar> linear, intervals, lowGradients;
  TargetEntry target;
  PolicyLists lists;
  NamedLists sameAs, slotTypes;
  std::vector<SlotEntry> slots;
  PinMap pins;
  std::vector<AdapterDocument> adapters;
  /// The document that it extends.
  std::shared_ptr<const PolicyDocument> base;
  /// The settings of this document and its bases together.
  PolicySettings settings;
};

/// The newest version of the schema that this compiler reads.
inline constexpr unsigned newestPolicyVersion = 1;
/// The largest preset has a fiftieth of this.
inline constexpr size_t maxPolicyBytes = size_t(1) << 20;

/// Checks the structure of a YAML text: it must be one mapping, no deeper than
/// the reader can descend, with values where they are required. Prints one
/// error.
bool checkPolicyStructure(llvm::MemoryBufferRef text,
                          llvm::SourceMgr::DiagHandlerTy report, void *context);

/// Receives an error: file, line, column and message. Line 0 means no location.
using PolicyErrorHandler = llvm::function_ref<void(
    StringRef file, unsigned line, unsigned column, const Twine &message)>;

/// Checks the settings of `document` and merges them into the settings of its
/// base. Returns false after an error.
bool readSettings(PolicyDocument &document, PolicyErrorHandler error);

/// Reads the preset or the file `presetOrFile`, with the policies that it
/// extends, and checks everything that needs no MLIRContext. Null after an
/// error. A process reads each preset once.
std::shared_ptr<const PolicyDocument>
loadPolicyDocument(StringRef presetOrFile, PolicyErrorHandler error);

/// Reads a policy from a text. `name` is used as the name of the file.
std::shared_ptr<const PolicyDocument>
parsePolicyDocument(StringRef text, StringRef name, PolicyErrorHandler error);

} // namespace mlir::amp::detail

#endif // AMP_LIB_PRECISION_POLICY_POLICYDOCUMENT_H
