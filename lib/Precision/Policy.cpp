//===- Policy.cpp - Which operations run in low precision -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// The presets, generated from lib/Precision/presets.
struct Preset {
  StringRef name;
  StringRef text;
};
constexpr Preset presets[] = {
#include "amp/Precision/Presets.inc"
};

/// The YAML document. Its scalars are entries too, for their place.
struct PolicyDocument {
  PolicyEntry version, gradientType{"f32", {}};
  std::vector<PolicyEntry> allow, deny, infer, clear;
};

constexpr StringLiteral newestVersion = "1";

} // namespace

LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(PolicyEntry)

namespace llvm::yaml {

// The context is the yaml::Input itself: scalars do not see their node, whose
// range the diagnostics need.
template <>
struct ScalarTraits<PolicyEntry> {
  static void output(const PolicyEntry &entry, void *, raw_ostream &os) {
    os << entry.glob;
  }
  static StringRef input(StringRef scalar, void *context, PolicyEntry &entry) {
    entry.glob = scalar.str();
    if (const Node *node = static_cast<Input *>(context)->getCurrentNode())
      entry.range = node->getSourceRange();
    return {};
  }
  static QuotingType mustQuote(StringRef scalar) { return needsQuotes(scalar); }
};

template <>
struct MappingTraits<PolicyDocument> {
  static void mapping(IO &io, PolicyDocument &document) {
    io.mapRequired("version", document.version);
    io.mapOptional("gradient-type", document.gradientType);
    io.mapOptional("allow", document.allow);
    io.mapOptional("deny", document.deny);
    io.mapOptional("infer", document.infer);
    io.mapOptional("clear", document.clear);
  }
};

} // namespace llvm::yaml

StringRef mlir::amp::stringifyOpClass(OpClass opClass) {
  switch (opClass) {
  case OpClass::Allow:
    return "allow";
  case OpClass::Deny:
    return "deny";
  case OpClass::Infer:
    return "infer";
  case OpClass::Clear:
    return "clear";
  case OpClass::Unlisted:
    return "unlisted";
  }
  llvm_unreachable("every class has a name");
}

ArrayRef<StringRef> Policy::getPresetNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> names;
    for (const Preset &preset : presets)
      names.push_back(preset.name);
    return names;
  }();
  return names;
}

std::optional<StringRef> Policy::getPresetText(StringRef name) {
  for (const Preset &preset : presets)
    if (preset.name == name)
      return preset.text;
  return std::nullopt;
}

FailureOr<Policy> Policy::load(StringRef presetOrFile, Location loc) {
  if (auto text = getPresetText(presetOrFile))
    return parse(*text, presetOrFile, loc);
  auto file = llvm::MemoryBuffer::getFile(presetOrFile, /*IsText=*/true);
  if (!file) {
    auto diag = emitError(loc) << "cannot read policy '" << presetOrFile
                               << "': " << file.getError().message()
                               << "; expected a file or one of the presets ";
    llvm::interleaveComma(getPresetNames(), diag);
    return failure();
  }
  return parse((*file)->getBuffer(), presetOrFile, loc);
}

/// Reports that `document` is not one mapping, on which yaml::Input would crash
/// or which it would pass over.
static bool isOneMapping(llvm::MemoryBufferRef document,
                         llvm::SourceMgr::DiagHandlerTy report, void *context) {
  llvm::SourceMgr sourceMgr;
  sourceMgr.setDiagHandler(report, context);
  llvm::yaml::Stream stream(document, sourceMgr);
  unsigned documents = 0;
  for (llvm::yaml::Document &part : stream) {
    llvm::yaml::Node *root = part.getRoot();
    if (!root || stream.failed())
      return false;
    const char *message = nullptr;
    if (documents++ != 0)
      message = "expected one document, got another";
    else if (!isa<llvm::yaml::MappingNode>(root))
      message = "expected a mapping with the key 'version'";
    if (message) {
      llvm::SMRange range = root->getSourceRange();
      if (!range.isValid())
        range.Start = range.End =
            llvm::SMLoc::getFromPointer(document.getBufferStart());
      stream.printError(range, message);
      return false;
    }
    if (!part.skip() && stream.failed())
      return false;
  }
  return documents == 1 && !stream.failed();
}

FailureOr<Policy> Policy::parse(StringRef text, StringRef name, Location loc) {
  struct Context {
    Location loc;
    bool failed = false;
  } context{loc};
  auto report = [](const llvm::SMDiagnostic &diag, void *opaque) {
    // The first diagnostic says what is wrong, the next ones what follows.
    auto &context = *static_cast<Context *>(opaque);
    if (std::exchange(context.failed, true))
      return;
    // A YAML diagnostic carries line and column: make it the location.
    Location loc = context.loc;
    Location place = FileLineColLoc::get(
        loc.getContext(), diag.getFilename().empty() ? "-" : diag.getFilename(),
        diag.getLineNo(), diag.getColumnNo() + 1);
    std::string message = diag.getMessage().str();
    if (!message.empty())
      message[0] = llvm::toLower(message[0]);
    emitError(place) << "policy: " << message;
  };

  PolicyDocument document;
  llvm::MemoryBufferRef buffer(text, name);
  if (!isOneMapping(buffer, report, &context)) {
    if (!context.failed)
      emitError(FileLineColLoc::get(loc.getContext(), name, 1, 1))
          << "policy: expected a YAML document";
    return failure();
  }
  llvm::yaml::Input input(buffer, nullptr, report, &context);
  // Scalars find their source range through the input.
  input.setContext(&input);
  input >> document;
  if (input.error() || context.failed)
    return failure();

  Policy policy;
  llvm::StringMap<OpClass> seen;
  bool failed = false;
  // Ranges of entries point into `text`.
  auto getLoc = [&](const PolicyEntry &entry) -> Location {
    StringRef before =
        text.take_front(entry.range.Start.getPointer() - text.data());
    return FileLineColLoc::get(loc.getContext(), name, before.count('\n') + 1,
                               before.size() - (before.rfind('\n') + 1) + 1);
  };
  auto errorAt = [&](const PolicyEntry &entry) {
    failed = true;
    return emitError(getLoc(entry)) << "policy: '" << entry.glob << "' ";
  };
  auto errorAtKey = [&](StringRef key, const PolicyEntry &entry) {
    failed = true;
    return emitError(getLoc(entry))
           << "policy: expected '" << key << "' to be "
           << (key == "version" ? newestVersion : "f32 or low") << ", got '"
           << entry.glob << "'";
  };
  if (document.version.glob != newestVersion)
    errorAtKey("version", document.version);
  if (document.gradientType.glob == "low")
    policy.gradientType = GradientType::Low;
  else if (document.gradientType.glob != "f32")
    errorAtKey("gradient-type", document.gradientType);
  auto addList = [&](ArrayRef<PolicyEntry> entries, OpClass opClass) {
    for (const PolicyEntry &entry : entries) {
      if (entry.glob.empty()) {
        errorAt(entry) << "stands where the name of an operation or a glob is "
                          "expected";
        continue;
      }
      auto [it, isNew] = seen.try_emplace(entry.glob, opClass);
      if (!isNew) {
        errorAt(entry) << "is in the list '" << stringifyOpClass(opClass)
                       << "', but already in '" << stringifyOpClass(it->second)
                       << "'";
        continue;
      }
      const std::string &glob = policy.globs.emplace_back(entry.glob);
      auto pattern = llvm::GlobPattern::create(glob);
      if (!pattern) {
        errorAt(entry) << "is not a glob: "
                       << llvm::toString(pattern.takeError());
        continue;
      }
      bool exact = entry.glob.find_first_of("*?[{\\") == std::string::npos;
      Rule rule{std::move(*pattern), glob.size(), exact, opClass, glob,
                getLoc(entry)};
      if (!canMatch(rule, loc.getContext()))
        errorAt(entry) << "matches no operation of the dialect '"
                       << StringRef(glob).split('.').first << "'";
      policy.rules.push_back(std::move(rule));
    }
  };
  addList(document.allow, OpClass::Allow);
  addList(document.deny, OpClass::Deny);
  addList(document.infer, OpClass::Infer);
  addList(document.clear, OpClass::Clear);
  if (failed)
    return failure();

  // The most specific rule first.
  llvm::stable_sort(policy.rules, [](const Rule &a, const Rule &b) {
    return std::make_pair(a.exact, a.length) >
           std::make_pair(b.exact, b.length);
  });
  return policy;
}

bool Policy::canMatch(const Rule &rule, MLIRContext *context) {
  auto [name, rest] = rule.glob.split('.');
  Dialect *dialect = context->getLoadedDialect(name);
  if (!dialect || dialect->allowsUnknownOperations())
    return true;
  if (rule.exact)
    return RegisteredOperationName::lookup(rule.glob, context).has_value();
  // Not getRegisteredOperationsByDialect, which finds none for some dialects.
  return llvm::any_of(context->getRegisteredOperations(),
                      [&](RegisteredOperationName op) {
                        return &op.getDialect() == dialect &&
                               rule.pattern.match(op.getStringRef());
                      });
}

OpClass Policy::classify(OperationName name) const {
  auto [it, isNew] = cache.try_emplace(name, OpClass::Unlisted);
  if (!isNew)
    return it->second;
  StringRef text = name.getStringRef();
  auto matches = [&](const Rule &rule) { return rule.pattern.match(text); };
  const auto *rule = llvm::find_if(ArrayRef<Rule>(rules), matches);
  if (rule == ArrayRef<Rule>(rules).end())
    return it->second;
  it->second = rule->opClass;
  for (const Rule &other :
       llvm::make_range(rule + 1, ArrayRef<Rule>(rules).end())) {
    if (other.exact != rule->exact || other.length != rule->length)
      break;
    if (other.opClass == rule->opClass || !matches(other))
      continue;
    contradictory = true;
    auto diag = emitError(other.loc)
                << "policy: '" << other.glob << "' puts '" << text
                << "' in the list '" << stringifyOpClass(other.opClass)
                << "', but '" << rule->glob << "', which is as long, in '"
                << stringifyOpClass(rule->opClass) << "'";
    diag.attachNote(rule->loc) << "the other entry";
    break;
  }
  return it->second;
}
