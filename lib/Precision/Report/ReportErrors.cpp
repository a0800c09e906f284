//===- ReportErrors.cpp - Errors against f32 in a report ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report/ReportErrors.h"

#include "ReportFunction.h"
#include "amp/Support/LocationText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <map>

using namespace mlir;
using namespace mlir::amp;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Path;

namespace {
/// A number that JSON may hold as a string, such as `inf`.
struct ReadNumber {
  double value = 0;
};

/// A value of the file of `--diverge-json`.
struct ReadError {
  std::string name, op, part;
  std::optional<std::string> location, scope;
  int64_t number = 0;
  ReadNumber added, error;
};

struct ReadErrors {
  std::vector<ReadError> values;
};

/// The error of an operation: the largest of its results.
struct OpError {
  double error = 0, added = 0;
};

bool fromJSON(const llvm::json::Value &value, ReadNumber &number, Path path) {
  if (std::optional<double> finite = value.getAsNumber()) {
    number.value = *finite;
    return true;
  }
  if (value.getAsString() && !value.getAsString()->getAsDouble(number.value))
    return true;
  path.report("expected a number");
  return false;
}

bool fromJSON(const llvm::json::Value &value, ReadError &error, Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("name", error.name) && map.map("op", error.op) &&
         map.map("part", error.part) && map.map("number", error.number) &&
         map.map("location", error.location) && map.map("scope", error.scope) &&
         map.map("added", error.added) && map.map("error", error.error);
}

bool fromJSON(const llvm::json::Value &value, ReadErrors &errors, Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("values", errors.values);
}
} // namespace

static std::string getErrorKey(StringRef op, StringRef location,
                               StringRef scope, StringRef part) {
  // The file may be in another folder.
  return llvm::join_items('\n', op, removeFolder(location), scope, part);
}

/// The errors of the operations with one key, in program order.
using ErrorLists = llvm::StringMap<std::vector<OpError>>;

static ErrorLists listErrors(ReadErrors errors) {
  llvm::sort(errors.values, [](const ReadError &left, const ReadError &right) {
    return left.number < right.number;
  });
  ErrorLists lists;
  // Each result of an operation has a name of its own.
  llvm::StringMap<size_t> counts;
  for (const ReadError &error : errors.values) {
    const std::string key = getErrorKey(error.op, error.location.value_or(""),
                                        error.scope.value_or(""), error.part);
    std::vector<OpError> &list = lists[key];
    const size_t position = counts[key + '\n' + error.name]++;
    if (position == list.size())
      list.emplace_back();
    OpError &op = list[position];
    op.error = std::max(op.error, error.error.value);
    op.added = std::max(op.added, error.added.value);
  }
  return lists;
}

/// JSON has no infinity.
static llvm::json::Value printError(double number) {
  return number > std::numeric_limits<double>::max()
             ? llvm::json::Value("inf")
             : llvm::json::Value(number);
}

static int64_t addOpErrors(Array &ops, const ErrorLists &lists) {
  llvm::StringMap<size_t> counts;
  int64_t found = 0;
  for (llvm::json::Value &value : ops) {
    Object *op = value.getAsObject();
    if (!op)
      continue;
    auto get = [&](StringRef field) {
      return op->getString(field).value_or("");
    };
    const std::string key =
        getErrorKey(get("name"), get("location"), get("scope"), get("part"));
    const size_t position = counts[key]++;
    auto it = lists.find(key);
    if (it == lists.end() || position >= it->second.size())
      continue;
    const OpError &error = it->second[position];
    (*op)["diverged"] = Object{{"error", printError(error.error)},
                               {"added", printError(error.added)}};
    ++found;
  }
  return found;
}

llvm::Expected<int64_t>
mlir::amp::addErrors(llvm::json::Value &report,
                     const llvm::json::Value &diverged) {
  ReadErrors errors;
  Path::Root root("errors");
  if (!fromJSON(diverged, errors, root))
    return root.getError();
  Object *object = report.getAsObject();
  if (!object || object->getString("pass") != "auto-mixed-precision")
    return llvm::createStringError(
        "expected a report of auto-mixed-precision as JSON");
  Array *functions = object->getArray("functions");
  if (!functions)
    return llvm::createStringError("the report has no functions");
  const ErrorLists lists = listErrors(std::move(errors));
  int64_t found = 0;
  for (llvm::json::Value &function : *functions)
    if (Object *entry = function.getAsObject())
      if (Array *ops = entry->getArray("ops"))
        found += addOpErrors(*ops, lists);
  return found;
}

void mlir::amp::writeReportHTML(const llvm::json::Value &report,
                                raw_ostream &os) {
  std::string data;
  llvm::raw_string_ostream(data) << report;
  writeReportPage(os, data);
}
