//===- PolicyStructure.cpp - The shape of a policy file -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks before LLVM's reader of mappings sees the text. The reader crashes on
// some invalid texts, skips parts of others, or reports a wrong location.
//
//===----------------------------------------------------------------------===//

#include "PolicyDocument.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/YAMLParser.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

/// Returns the first place where mappings and lists nest too deeply for the
/// recursive parser, or null. Brackets in quoted text count too, because a
/// valid policy has fewer.
static const char *findTooDeep(StringRef text) {
  constexpr unsigned maxDepth = 64;
  unsigned brackets = 0;
  SmallVector<size_t> columns;
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    text = rest;
    // The indentation of lines within brackets does not matter.
    size_t column = line.find_first_not_of(" \r");
    if (column == StringRef::npos || line[column] == '#')
      continue;
    if (brackets == 0) {
      while (!columns.empty() && columns.back() >= column)
        columns.pop_back();
      columns.push_back(column);
      // Each `- ` at the start of a line is a list within the one before, and
      // each one after a key makes the parser descend, valid or not.
      size_t start = line.find(": ");
      if (start != StringRef::npos && line[column] != '-')
        column = line.find_first_not_of(' ', start + 1);
      while (column != StringRef::npos && column + 1 < line.size() &&
             (line[column] == '-' || line[column] == '?') &&
             line[column + 1] == ' ') {
        column = line.find_first_not_of(' ', column + 1);
        if (column == StringRef::npos)
          break;
        columns.push_back(column);
        if (columns.size() > maxDepth)
          return line.data() + column;
      }
    }
    line = line.take_front(line.find(" #"));
    for (const char &c : line) {
      if (c == '{' || c == '[')
        ++brackets;
      else if ((c == '}' || c == ']') && brackets != 0)
        --brackets;
      if (brackets + columns.size() > maxDepth)
        return &c;
    }
  }
  return nullptr;
}

/// Returns the first byte that is not UTF-8, or null. LLVM's reader accepts
/// such bytes, but its printer changes them.
static const char *findInvalidUTF8(StringRef text) {
  auto *place = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  auto *end = reinterpret_cast<const llvm::UTF8 *>(text.end());
  return llvm::isLegalUTF8String(&place, end)
             ? nullptr
             : reinterpret_cast<const char *>(place);
}

namespace {

/// Checks for texts on which yaml::Input crashes or reports no useful error.
class StructureChecker {
public:
  StructureChecker(StringRef text, llvm::yaml::Stream &stream)
      : text(text), stream(stream) {}

  bool checkNode(llvm::yaml::Node &node);

private:
  bool checkMapping(llvm::yaml::MappingNode &mapping);
  bool checkSequence(llvm::yaml::SequenceNode &sequence);
  bool checkAnchor(llvm::yaml::Node &node);
  bool checkVersion(llvm::yaml::ScalarNode &value);
  bool checkMissing(StringRef key, llvm::yaml::Node &place);

  /// Prints an error at the character at `place` and returns false.
  bool error(const char *place, const Twine &message) {
    llvm::SMLoc loc = llvm::SMLoc::getFromPointer(place);
    stream.printError(llvm::SMRange(loc, loc), message);
    return false;
  }

  StringRef text;
  llvm::yaml::Stream &stream;
};

} // namespace

/// Checks that `node` has no anchor. Only aliases could use it.
bool StructureChecker::checkAnchor(llvm::yaml::Node &node) {
  if (auto *alias = dyn_cast<llvm::yaml::AliasNode>(&node))
    return error(alias->getName().data() - 1,
                 "expected a value, got the alias '*" + alias->getName() +
                     "'; a policy has no anchors and aliases");
  StringRef anchor = node.getAnchor();
  return anchor.empty() ||
         error(anchor.data() - 1, "expected a value, got the anchor '&" +
                                      anchor +
                                      "'; a policy has no anchors and aliases");
}

/// Checks the version before any key that a newer version may add.
bool StructureChecker::checkVersion(llvm::yaml::ScalarNode &value) {
  SmallString<16> storage;
  StringRef text = value.getValue(storage);
  unsigned version = 0;
  if (text.getAsInteger(10, version) || version <= newestPolicyVersion)
    return true;
  stream.printError(&value,
                    "the policy has version " + text +
                        ", which is newer than this compiler reads; expected " +
                        Twine(newestPolicyVersion));
  return false;
}

/// Checks that `key` may have no value. A key of a list without a value means
/// an empty list.
bool StructureChecker::checkMissing(StringRef key, llvm::yaml::Node &place) {
  constexpr StringRef lists[] = {
      "slots",      "adapters",    "linear",
      "operations", "bodies",      "operands",
      "results",    "attributes",  "of",
      "reduce",     "repeat",      "move",
      "low-types",  "elementwise", "reject-operations",
      "moves",      "reads-part",  "low-gradients",
      "intervals"};
  if (llvm::is_contained(lists, key) || llvm::is_contained(listKeys, key))
    return true;
  stream.printError(&place, "expected a value for '" + key + "'");
  return false;
}

bool StructureChecker::checkNode(llvm::yaml::Node &node) {
  if (!checkAnchor(node))
    return false;
  if (auto *mapping = dyn_cast<llvm::yaml::MappingNode>(&node))
    return checkMapping(*mapping);
  if (auto *sequence = dyn_cast<llvm::yaml::SequenceNode>(&node))
    return checkSequence(*sequence);
  return true;
}

bool StructureChecker::checkSequence(llvm::yaml::SequenceNode &sequence) {
  for (llvm::yaml::Node &entry : sequence) {
    if (stream.failed())
      return false;
    if (!isa<llvm::yaml::NullNode>(entry)) {
      if (!checkNode(entry))
        return false;
      continue;
    }
    // The location of the node is the beginning of the next one.
    const char *next = entry.getSourceRange().Start.getPointer();
    StringRef before = text.take_front(next - text.data()).rtrim();
    return error(before.ends_with("-") ? before.end() - 1 : next,
                 "expected an entry of the list");
  }
  return !stream.failed();
}

bool StructureChecker::checkMapping(llvm::yaml::MappingNode &mapping) {
  for (llvm::yaml::KeyValueNode &entry : mapping) {
    llvm::yaml::Node *node = entry.getKey();
    if (!node || stream.failed() || !checkAnchor(*node))
      return false;
    auto *key = dyn_cast<llvm::yaml::ScalarNode>(node);
    if (!key)
      return !stream.failed();
    SmallString<16> storage;
    StringRef name = key->getValue(storage);
    llvm::yaml::Node *value = entry.getValue();
    if (!value || stream.failed())
      return false;
    if (isa<llvm::yaml::NullNode>(value) && !checkMissing(name, *key))
      return false;
    // The reader does not tell an empty list from a missing one. The parser
    // reads its elements only once, so check the text. A node starts after its
    // bracket.
    StringRef list;
    if (isa<llvm::yaml::SequenceNode>(value))
      list = text.drop_front(value->getSourceRange().Start.getPointer() -
                             text.data());
    if (name == "low-types" &&
        (isa<llvm::yaml::NullNode>(value) || list.ltrim().starts_with("]"))) {
      stream.printError(key, "expected 'low-types' to hold f16, bf16 or both");
      return false;
    }
    auto *scalar = dyn_cast<llvm::yaml::ScalarNode>(value);
    if ((scalar && name == "version" && !checkVersion(*scalar)) ||
        !checkNode(*value))
      return false;
  }
  return !stream.failed();
}

bool amp::detail::checkPolicyStructure(llvm::MemoryBufferRef text,
                                       llvm::SourceMgr::DiagHandlerTy report,
                                       void *context) {
  llvm::SourceMgr sourceMgr;
  sourceMgr.setDiagHandler(report, context);
  llvm::yaml::Stream stream(text, sourceMgr);
  auto reject = [&](const char *place, const Twine &message) {
    if (!place)
      return false;
    llvm::SMLoc loc = llvm::SMLoc::getFromPointer(place);
    stream.printError(llvm::SMRange(loc, loc), message);
    return true;
  };
  if (reject(findInvalidUTF8(text.getBuffer()),
             "the policy is not UTF-8 here, expected YAML text in UTF-8") ||
      reject(findTooDeep(text.getBuffer()),
             "expected at most 64 mappings and lists within one another"))
    return false;
  unsigned documents = 0;
  for (llvm::yaml::Document &part : stream) {
    llvm::yaml::Node *root = part.getRoot();
    if (!root || stream.failed())
      return false;
    const char *message = nullptr;
    auto *mapping = dyn_cast<llvm::yaml::MappingNode>(root);
    if (documents++ != 0)
      message = "expected one document, got another";
    else if (!mapping)
      message = "expected a mapping with the key 'version'";
    if (message) {
      llvm::SMRange range = root->getSourceRange();
      if (!range.isValid())
        range.Start = range.End =
            llvm::SMLoc::getFromPointer(text.getBufferStart());
      stream.printError(range, message);
      return false;
    }
    if (!StructureChecker(text.getBuffer(), stream).checkNode(*root))
      return false;
    if (!part.skip() && stream.failed())
      return false;
  }
  return documents == 1 && !stream.failed();
}
