//===- PolicyParser.cpp - Policies from YAML ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a policy file and the policies that it extends, and checks everything
// that needs no MLIRContext.
//
//===----------------------------------------------------------------------===//

#include "PolicyDocument.h"
#include "amp/LossScaling/LossScaler.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/Precision/Policy/ScalingRecipe.h"
#include "amp/Support/InputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"
#include <mutex>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

namespace {
/// The context that gives scalars their location. The traits of a scalar do
/// not see its node, but its text points into the buffer.
struct ReadContext {
  explicit ReadContext(StringRef text) : text(text) {
    lineStarts.push_back(0);
    for (size_t at = text.find('\n'); at != StringRef::npos;
         at = text.find('\n', at + 1))
      lineStarts.push_back(at + 1);
  }

  llvm::yaml::Input *input = nullptr;
  StringRef text;
  /// The beginnings of the lines, in ascending order.
  std::vector<size_t> lineStarts;
};
} // namespace

LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::PolicyScalar)
LLVM_YAML_IS_SEQUENCE_VECTOR(mlir::amp::detail::SlotEntry)

namespace llvm::yaml {

template <>
struct ScalarTraits<PolicyScalar> {
  static void output(const PolicyScalar &scalar, void *, raw_ostream &os) {
    os << scalar.text;
  }
  static StringRef input(StringRef text, void *opaque, PolicyScalar &scalar) {
    const auto &context = *static_cast<ReadContext *>(opaque);
    scalar.text = text.str();
    scalar.line = scalar.column = 1;
    const Node *node = context.input->getCurrentNode();
    if (!node || !node->getSourceRange().isValid())
      return {};
    size_t at = node->getSourceRange().Start.getPointer() - context.text.data();
    auto next = llvm::upper_bound(context.lineStarts, at);
    scalar.line = next - context.lineStarts.begin();
    scalar.column = at - *std::prev(next) + 1;
    return {};
  }
  static QuotingType mustQuote(StringRef text) { return needsQuotes(text); }
};

} // namespace llvm::yaml

#include "AdapterTraits.h"

namespace llvm::yaml {

template <>
struct MappingTraits<SlotEntry> {
  static void mapping(IO &io, SlotEntry &entry) {
    io.mapRequired("op", entry.op);
    io.mapRequired("slot", entry.slot);
    io.mapRequired("kind", entry.kind);
  }
};

template <>
struct CustomMappingTraits<PinMap> {
  static void inputOne(IO &io, StringRef key, PinMap &map) {
    PinEntry &entry = map.entries.emplace_back();
    entry.pattern = key.str();
    io.mapRequired(entry.pattern.c_str(), entry.pin);
  }
  static void output(IO &, PinMap &) {}
};

template <>
struct CustomMappingTraits<NamedLists> {
  static void inputOne(IO &io, StringRef key, NamedLists &map) {
    NamedList &entry = map.entries.emplace_back();
    entry.name = key.str();
    io.mapRequired(entry.name.c_str(), entry.items);
  }
  static void output(IO &, NamedLists &) {}
};

template <>
struct MappingTraits<LossScalingOptions> {
  static void mapping(IO &io, LossScalingOptions &options) {
    io.mapOptional("mode", options.mode);
    io.mapOptional("scaler", options.scaler);
    for (const std::string &key : LossScaler::getKeys())
      io.mapOptional(key.c_str(), options.values[key]);
  }
};

// The reader of mappings diagnoses a sequence where a scalar or a mapping is
// expected.
template <>
struct PolymorphicTraits<LossScalingEntry> {
  static NodeKind getKind(const LossScalingEntry &) { return NodeKind::Map; }
  static PolicyScalar &getAsScalar(LossScalingEntry &entry) {
    return entry.options.mode;
  }
  static LossScalingOptions &getAsMap(LossScalingEntry &entry) {
    return entry.options;
  }
  static LossScalingOptions &getAsSequence(LossScalingEntry &entry) {
    return entry.options;
  }
};

template <>
struct MappingTraits<Float8Options> {
  static void mapping(IO &io, Float8Options &options) {
    for (StringRef key : getFloat8Keys())
      io.mapOptional(key.data(), options.values[key.str()]);
    io.mapOptional("keep", options.keep);
  }
};

template <>
struct PolymorphicTraits<Float8Entry> {
  static NodeKind getKind(const Float8Entry &) { return NodeKind::Map; }
  static PolicyScalar &getAsScalar(Float8Entry &entry) {
    return entry.options.values["recipe"];
  }
  static Float8Options &getAsMap(Float8Entry &entry) { return entry.options; }
  static Float8Options &getAsSequence(Float8Entry &entry) {
    return entry.options;
  }
};

// The rates are required without a base.
template <>
struct MappingTraits<TargetOptions> {
  static void mapping(IO &io, TargetOptions &options) {
    io.mapOptional("base", options.base);
    auto map = [&](const char *key, PolicyScalar &value) {
      if (options.base.isGiven())
        io.mapOptional(key, value);
      else
        io.mapRequired(key, value);
    };
    map("low-flop-per-byte", options.lowFlopPerByte);
    map("f32-flop-per-byte", options.f32FlopPerByte);
    io.mapOptional("low-types", options.lowTypes);
    io.mapOptional("alignment", options.alignment);
    io.mapOptional("cast-read-share", options.castReadShare);
    io.mapOptional("cast-write-share", options.castWriteShare);
  }
};

template <>
struct PolymorphicTraits<TargetEntry> {
  static NodeKind getKind(const TargetEntry &) { return NodeKind::Map; }
  static PolicyScalar &getAsScalar(TargetEntry &entry) { return entry.name; }
  static TargetOptions &getAsMap(TargetEntry &entry) {
    return entry.options.emplace();
  }
  static TargetOptions &getAsSequence(TargetEntry &entry) {
    return getAsMap(entry);
  }
};

template <>
struct PolymorphicTraits<ExtendsEntry> {
  static NodeKind getKind(const ExtendsEntry &) { return NodeKind::Map; }
  static PolicyScalar &getAsScalar(ExtendsEntry &entry) { return entry.name; }
  static PolicyDocument &getAsMap(ExtendsEntry &entry) {
    entry.inPlace = std::make_unique<PolicyDocument>();
    entry.inPlace->isNested = true;
    return *entry.inPlace;
  }
  static PolicyDocument &getAsSequence(ExtendsEntry &entry) {
    return getAsMap(entry);
  }
};

template <>
struct MappingTraits<PolicyDocument> {
  static void mapping(IO &io, PolicyDocument &document) {
    if (document.isNested)
      io.mapOptional("version", document.version);
    else
      io.mapRequired("version", document.version);
    io.mapOptional("extends", document.extends);
    io.mapOptional("precision", document.precision);
    io.mapOptional("strategy", document.strategy);
    io.mapOptional("gradient-type", document.gradientType);
    io.mapOptional("low-gradients", document.lowGradients);
    io.mapOptional("roundings", document.roundings);
    io.mapOptional("promotions", document.promotions);
    io.mapOptional("loss-scaling", document.lossScaling);
    io.mapOptional("fp8", document.float8);
    io.mapOptional("linear", document.linear);
    io.mapOptional("intervals", document.intervals);
    io.mapOptional("master-weights", document.masterWeights);
    io.mapOptional("target", document.target);
    for (auto [index, key] : llvm::enumerate(listKeys))
      io.mapOptional(key.data(), document.lists[index]);
    io.mapOptional("same-as", document.sameAs);
    io.mapOptional("slots", document.slots);
    io.mapOptional("slot-types", document.slotTypes);
    io.mapOptional("pins", document.pins);
    io.mapOptional("adapters", document.adapters);
  }
};

} // namespace llvm::yaml

static std::shared_ptr<const PolicyDocument>
loadDocument(StringRef presetOrFile, PolicyErrorHandler error,
             SmallVectorImpl<std::string> &chain);

/// Reads the policy that `document` extends, and its settings. `chain` holds
/// the files whose reading is in progress.
static bool resolveDocument(PolicyDocument &document, PolicyErrorHandler error,
                            SmallVectorImpl<std::string> &chain) {
  // The reader returns the keys of a mapping in no fixed order.
  llvm::sort(document.pins.entries, [](const PinEntry &a, const PinEntry &b) {
    return std::tie(a.pin.line, a.pin.column) <
           std::tie(b.pin.line, b.pin.column);
  });
  for (NamedLists *lists : {&document.sameAs, &document.slotTypes}) {
    llvm::erase_if(lists->entries,
                   [](const NamedList &entry) { return entry.items.empty(); });
    llvm::sort(lists->entries, [](const NamedList &a, const NamedList &b) {
      const PolicyScalar &first = a.items.front();
      const PolicyScalar &second = b.items.front();
      return std::tie(first.line, first.column) <
             std::tie(second.line, second.column);
    });
  }
  const PolicyScalar &name = document.extends.name;
  if (std::unique_ptr<PolicyDocument> &inPlace = document.extends.inPlace) {
    inPlace->file = document.file;
    if (!resolveDocument(*inPlace, error, chain))
      return false;
    document.base = std::move(inPlace);
  } else if (name.isGiven()) {
    // The path of a file is relative to the file that extends it.
    SmallString<128> path(name.text);
    if (!Policy::getPresetText(name.text) &&
        llvm::sys::path::is_relative(path)) {
      path = llvm::sys::path::parent_path(document.file);
      llvm::sys::path::append(path, name.text);
    }
    // An error without a location belongs to this entry.
    document.base = loadDocument(
        path,
        [&](StringRef file, unsigned line, unsigned column,
            const Twine &message) {
          if (line != 0)
            error(file, line, column, message);
          else
            error(document.file, name.line, name.column, message);
        },
        chain);
    if (!document.base)
      return false;
  }
  return readSettings(document, error);
}

static std::unique_ptr<PolicyDocument>
readDocument(StringRef text, StringRef name, PolicyErrorHandler error,
             SmallVectorImpl<std::string> &chain) {
  struct DiagContext {
    PolicyErrorHandler error;
    StringRef name;
    bool failed = false;
  } diagContext{error, name};
  auto report = [](const llvm::SMDiagnostic &diag, void *opaque) {
    // The first diagnostic is the cause. The next ones follow from it.
    auto &context = *static_cast<DiagContext *>(opaque);
    if (std::exchange(context.failed, true))
      return;
    std::string message = diag.getMessage().str();
    if (!message.empty())
      message[0] = llvm::toLower(message[0]);
    context.error(context.name, std::max(diag.getLineNo(), 1),
                  diag.getColumnNo() + 1, message);
  };

  // A line in YAML may end in a carriage return only. LLVM does not support it.
  // LLVM also reads the character after the text, which only a copy has.
  std::string lines = text.str();
  for (size_t i = 0; i != lines.size(); ++i)
    if (lines[i] == '\r' && (i + 1 == lines.size() || lines[i + 1] != '\n'))
      lines[i] = '\n';
  text = lines;
  if (text.size() > maxPolicyBytes) {
    error(name, 1, 1,
          "the policy has " + Twine(text.size()) + " bytes, expected at most " +
              Twine(maxPolicyBytes));
    return nullptr;
  }
  llvm::MemoryBufferRef buffer(text, name);
  if (!checkPolicyStructure(buffer, report, &diagContext)) {
    if (!diagContext.failed)
      error(name, 1, 1, "expected a YAML document");
    return nullptr;
  }
  auto document = std::make_unique<PolicyDocument>();
  document->file = name.str();
  ReadContext context(text);
  llvm::yaml::Input input(buffer, &context, report, &diagContext);
  context.input = &input;
  input >> *document;
  if (input.error() || diagContext.failed ||
      !resolveDocument(*document, error, chain))
    return nullptr;
  return document;
}

/// Reads a preset once per process. Its text never changes, and the
/// initialization of a pass, its run and the settings of a pipeline all need
/// it.
static std::shared_ptr<const PolicyDocument>
loadPreset(StringRef name, StringRef text, PolicyErrorHandler error,
           SmallVectorImpl<std::string> &chain) {
  static std::mutex mutex;
  static llvm::StringMap<std::shared_ptr<const PolicyDocument>> presets;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = presets.lookup(name))
      return known;
  }
  // Do not hold the lock here, because a preset may extend another one.
  std::shared_ptr<PolicyDocument> document =
      readDocument(text, name, error, chain);
  if (!document)
    return nullptr;
  document->isPreset = true;
  std::lock_guard<std::mutex> lock(mutex);
  return presets.try_emplace(name, std::move(document)).first->second;
}

static std::shared_ptr<const PolicyDocument>
loadDocument(StringRef presetOrFile, PolicyErrorHandler error,
             SmallVectorImpl<std::string> &chain) {
  if (auto text = Policy::getPresetText(presetOrFile))
    return loadPreset(presetOrFile, *text, error, chain);
  auto file = readInputFile(presetOrFile, maxPolicyBytes);
  if (!file) {
    error("", 0, 0,
          "cannot read policy '" + presetOrFile +
              "': " + llvm::toString(file.takeError()) +
              "; expected a file or one of the presets " +
              llvm::join(Policy::getPresetNames(), ", "));
    return nullptr;
  }
  SmallString<128> path;
  if (llvm::sys::fs::real_path(presetOrFile, path))
    path = presetOrFile;
  if (llvm::is_contained(chain, path.str())) {
    error("", 0, 0, "policy '" + presetOrFile + "' extends itself");
    return nullptr;
  }
  chain.push_back(path.str().str());
  auto document =
      readDocument((*file)->getBuffer(), presetOrFile, error, chain);
  chain.pop_back();
  return document;
}

std::shared_ptr<const PolicyDocument>
amp::detail::loadPolicyDocument(StringRef presetOrFile,
                                PolicyErrorHandler error) {
  SmallVector<std::string> chain;
  if (Policy::isInPlace(presetOrFile))
    return readDocument(presetOrFile, "policy", error, chain);
  return loadDocument(presetOrFile, error, chain);
}

std::shared_ptr<const PolicyDocument>
amp::detail::parsePolicyDocument(StringRef text, StringRef name,
                                 PolicyErrorHandler error) {
  SmallVector<std::string> chain;
  return readDocument(text, name, error, chain);
}
