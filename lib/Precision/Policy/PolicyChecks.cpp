//===- PolicyChecks.cpp - Whether a policy fits a module ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Policy.h"

#include "amp/Support/NearName.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {
/// An entry without a match, and the kind of thing that it should match.
struct UnmatchedEntry {
  Location loc;
  StringRef text;
  std::string what;
};
} // namespace

/// Warns of `entries`. Many of one line of a file share a warning, which shows
/// the line once: a file may be one long line.
static void warnOfUnmatched(ArrayRef<UnmatchedEntry> entries) {
  constexpr size_t shown = 8;
  llvm::MapVector<std::pair<Attribute, unsigned>,
                  SmallVector<const UnmatchedEntry *>>
      lines;
  for (const UnmatchedEntry &entry : entries) {
    auto place = dyn_cast<FileLineColLoc>(entry.loc);
    Attribute file = place ? Attribute(place.getFilename()) : Attribute();
    lines[{file, place ? place.getLine() : 0}].push_back(&entry);
  }
  for (auto &[line, inLine] : lines) {
    if (inLine.size() <= shown) {
      for (const UnmatchedEntry *entry : inLine)
        emitWarning(entry->loc)
            << "policy: '" << entry->text << "' matches no " << entry->what;
      continue;
    }
    InFlightDiagnostic warning = emitWarning(inLine.front()->loc)
                                 << "policy: " << inLine.size()
                                 << " entries of this line match nothing: ";
    auto names = ArrayRef(inLine).take_front(shown);
    llvm::interleaveComma(names, warning, [&](const UnmatchedEntry *entry) {
      warning << "'" << entry->text << "'";
    });
    warning << " and " << inLine.size() - shown << " more";
  }
}

/// Warns of entries that match no operation which is loaded or in the module:
/// most likely the name is wrong.
void Policy::checkDialects(Operation *root) const {
  MLIRContext *context = root->getContext();
  auto dialectOf = [](const Glob &glob) {
    return glob.text.take_until([](char c) { return c == '.'; });
  };
  auto isGlob = [](StringRef text) {
    return text.find_first_of("*?[{\\") != StringRef::npos;
  };
  SmallVector<const Glob *> doubtful;
  auto examine = [&](const Glob &glob) {
    StringRef dialect = dialectOf(glob);
    // An entry for an operation of train also decides the operations with the
    // same meaning.
    bool decidesOthers = llvm::any_of(sameRules, [&](const SameRule &rule) {
      return glob.matches(rule.representative);
    });
    if (glob.layer != 0 || decidesOthers)
      return;
    bool isKnown = isGlob(dialect)
                       ? llvm::any_of(context->getRegisteredOperations(),
                                      [&](RegisteredOperationName op) {
                                        return glob.matches(op.getStringRef());
                                      })
                       : context->getLoadedDialect(dialect) != nullptr;
    if (!isKnown)
      doubtful.push_back(&glob);
  };
  for (const ListRule &rule : rules)
    examine(rule);
  for (const SameRule &rule : sameRules)
    examine(rule);
  for (const SlotRule &rule : slotRules)
    examine(rule);
  for (const Glob &glob : linearRules)
    examine(glob);
  for (const Glob &glob : intervalRules)
    examine(glob);
  for (const Glob &glob : lowGradientRules)
    examine(glob);
  if (doubtful.empty())
    return;
  llvm::DenseSet<StringRef> dialects, names;
  // The operations of dialects that are not loaded, without those that an
  // entry matches.
  llvm::MapVector<StringRef, SmallVector<StringRef>> unlisted;
  root->walk([&](Operation *op) {
    OperationName name = op->getName();
    dialects.insert(name.getDialectNamespace());
    if (names.insert(name.getStringRef()).second && !op->getDialect() &&
        classify(name) == OpClass::Unlisted)
      unlisted[name.getDialectNamespace()].push_back(name.getStringRef());
  });
  std::vector<UnmatchedEntry> unmatched;
  for (const Glob *glob : doubtful) {
    StringRef dialect = dialectOf(*glob);
    if (!isGlob(dialect)) {
      StringRef near = findNearName(glob->text, unlisted.lookup(dialect));
      if (!dialects.contains(dialect) && !findAdapter(dialect))
        unmatched.push_back({glob->loc, glob->text,
                             ("operation: the dialect '" + dialect +
                              "' is neither loaded nor in the module")
                                 .str()});
      // Another module may have the operation, unless this one has it by
      // nearly the same name.
      else if (!names.contains(glob->text) && !near.empty())
        unmatched.push_back(
            {glob->loc, glob->text,
             ("operation in the module, did you mean '" + near + "'").str()});
    } else if (llvm::none_of(names, [&](StringRef name) {
                 return glob->matches(name);
               })) {
      unmatched.push_back({glob->loc, glob->text,
                           "operation that is registered or in the module"});
    }
  }
  warnOfUnmatched(unmatched);
}

LogicalResult Policy::checkRejected(Operation *root) const {
  llvm::DenseSet<OperationName> seen;
  auto visit = [&](Operation *op) -> WalkResult {
    OperationName name = op->getName();
    const Adapter *adapter = findAdapter(name.getDialectNamespace());
    if (!adapter || !seen.insert(name).second)
      return WalkResult::advance();
    if (!adapter->rejection.empty())
      return op->emitOpError("the policy rejects the dialect '")
             << adapter->dialect << "': " << adapter->rejection;
    for (StringRef text : adapter->rejectedOperations) {
      auto pattern = llvm::GlobPattern::create(text);
      assert(pattern && "checked when the policy was read");
      if (pattern->match(name.getStringRef()) &&
          classify(name) == OpClass::Unlisted)
        return op->emitOpError("the policy rejects '")
               << text << "', expected an operation that it knows";
    }
    return WalkResult::advance();
  };
  return failure(!adapters.empty() &&
                 root->walk<WalkOrder::PreOrder>(visit).wasInterrupted());
}

LogicalResult Policy::checkUse(Operation *root) const {
  if (isOwn && !root->getParentOp())
    checkDialects(root);
  bool failed = false;
  for (const SlotRule &rule : slotRules) {
    // A glob matches operations of several kinds, also those on integers.
    if (!rule.seen || rule.applied || !rule.exact)
      continue;
    failed = true;
    emitError(rule.loc) << "policy: no '" << rule.text << "' has a slot "
                        << static_cast<int>(rule.slot)
                        << " that may change type";
  }
  std::vector<UnmatchedEntry> unmatched;
  for (const PinRule &rule : pinRules)
    if (!rule.seen && rule.layer == 0)
      unmatched.push_back({rule.loc, rule.text, "location of an operation"});
  for (const SlotTypes &types : slotTypes)
    if (!types.seen && types.layer == 0)
      unmatched.push_back({types.loc, types.name, "operation with slots"});
  warnOfUnmatched(unmatched);
  return failure(failed);
}
