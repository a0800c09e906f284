//===- ReportDiagnostics.cpp - Decisions as diagnostics -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server has no hook for diagnostics and does not know the
// documentation of operations. Its messages go through a pipe. Those with the
// diagnostics of a module get more of them, and those about an operation its
// documentation.
//
//===----------------------------------------------------------------------===//

#include "ReportDiagnostics.h"

#include "OperationDocs.h"
#include "OperationPlaces.h"
#include "amp/Support/InputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <thread>
#include <unistd.h>

using namespace mlir::amp;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

/// A report that an editor loads at each change of the text.
static constexpr uint64_t kMaxReportBytes = uint64_t(1) << 28;
/// The severity "information" of the protocol.
static constexpr int64_t kInformation = 3;

/// Returns the path of a `file` URI, or an empty string.
static std::string getPath(llvm::StringRef uri) {
  std::string path;
  if (!uri.consume_front("file://"))
    return path;
  while (!uri.empty()) {
    unsigned code;
    if (uri.front() == '%' && uri.size() > 2 &&
        !uri.substr(1, 2).getAsInteger(16, code)) {
      path += char(code);
      uri = uri.drop_front(3);
    } else {
      path += uri.front();
      uri = uri.drop_front();
    }
  }
  return path;
}

static Object makeDiagnostic(int64_t line, int64_t column, int64_t length,
                             std::string message) {
  return Object{
      {"range",
       Object{{"start", Object{{"line", line}, {"character", column}}},
              {"end", Object{{"line", line}, {"character", column + length}}}}},
      {"severity", kInformation},
      {"source", "amp"},
      {"message", std::move(message)}};
}

/// Returns the report next to the module at `path`, or an object without
/// functions.
static Object readReport(llvm::StringRef path) {
  auto file = readInputFile(path, kMaxReportBytes);
  if (!file) {
    llvm::consumeError(file.takeError());
    return {};
  }
  llvm::Expected<Value> value = llvm::json::parse((*file)->getBuffer());
  if (!value) {
    llvm::consumeError(value.takeError());
    return {};
  }
  Object *object = value->getAsObject();
  if (!object || object->getString("pass") != "auto-mixed-precision")
    return {};
  return std::move(*object);
}

/// The members of a slot: `operands 0, 1, result 0`.
static std::string listMembers(const Object &slot) {
  std::string text;
  for (auto [key, word] :
       {std::pair("operands", "operand"), std::pair("results", "result")}) {
    const Array *members = slot.getArray(key);
    for (const Value &member : members ? *members : Array())
      if (std::optional<int64_t> number = member.getAsInteger())
        text += (text.empty() ? "" : ", ") + std::string(word) + " " +
                std::to_string(*number);
  }
  return text.empty() ? "carried values" : text;
}

namespace {
/// The decisions of one function of a report.
class FunctionDecisions {
public:
  FunctionDecisions(const Object &report, const Object &function)
      : report(report), function(function), ops(function.getArray("ops")) {
    for (const Value &value : ops ? *ops : Array()) {
      const Object *op = value.getAsObject();
      const Array *slots = op ? op->getArray("slots") : nullptr;
      for (const Value &slot : slots ? *slots : Array())
        if (const Object *object = slot.getAsObject())
          if (std::optional<int64_t> id = object->getInteger("id"))
            owners[*id] = op->getString("name").value_or("").str();
    }
  }

  /// Adds a diagnostic for each operation in the file with this name. `places`
  /// has the operations whose locations are in no file, or in another one.
  void add(llvm::StringRef file,
           llvm::function_ref<const OperationPlaces &()> places,
           Array &diagnostics) const {
    std::map<std::string, size_t> counts;
    for (const Value &value : ops ? *ops : Array()) {
      const Object *op = value.getAsObject();
      if (!op)
        continue;
      llvm::StringRef name = op->getString("name").value_or("");
      std::optional<OperationPlaces::Place> place = findPlace(*op, file);
      if (!place) {
        auto text = [&](llvm::StringRef key) {
          return op->getString(key).value_or("").str();
        };
        const OperationPlaces::Key key{
            function.getString("name").value_or("").str(), name.str(),
            text("location"), text("scope")};
        size_t &count = counts[key.op + "\n" + key.place + "\n" + key.scope];
        if (const auto *found = places().find(key, count++))
          place = *found;
      }
      std::string message = describe(*op);
      if (place && !message.empty())
        diagnostics.push_back(makeDiagnostic(place->line, place->column,
                                             int64_t(name.size()),
                                             (name + message).str()));
    }
  }

private:
  /// The place of an operation whose location is in the file with this name.
  static std::optional<OperationPlaces::Place> findPlace(const Object &op,
                                                         llvm::StringRef file) {
    auto [place, column] = op.getString("location").value_or("").rsplit(':');
    auto [path, line] = place.rsplit(':');
    int64_t lineNumber, columnNumber;
    if (line.getAsInteger(10, lineNumber) ||
        column.getAsInteger(10, columnNumber) || lineNumber < 1 ||
        columnNumber < 1 || llvm::sys::path::filename(path) != file)
      return std::nullopt;
    return OperationPlaces::Place{lineNumber - 1, columnNumber - 1};
  }

  /// The decisions on the slots with a choice, or an empty text.
  std::string describe(const Object &op) const {
    const Object *rules = report.getObject("rules");
    const Array *slots = op.getArray("slots");
    std::string text;
    for (const Value &value : slots ? *slots : Array()) {
      const Object *slot = value.getAsObject();
      std::optional<bool> low = slot ? slot->getBoolean("low") : std::nullopt;
      if (!low)
        continue;
      llvm::StringRef rule = slot->getString("rule").value_or("");
      llvm::StringRef reason =
          rules ? rules->getString(rule).value_or(rule) : rule;
      text +=
          "\n" + listMembers(*slot) + ": " +
          (*low ? report.getString("lowType").value_or("low") : "f32").str() +
          ", " + reason.str();
      if (std::optional<int64_t> cause = slot->getInteger("cause"))
        if (auto it = owners.find(*cause); it != owners.end())
          text += " (because of " + it->second + ")";
    }
    llvm::StringRef part = op.getString("part").value_or("");
    return text.empty() || part == "forward" ? text
                                             : (" (" + part + ")" + text).str();
  }

  const Object &report, &function;
  const Array *ops;
  /// The names of the operations of slots.
  std::map<int64_t, std::string> owners;
};
} // namespace

Array mlir::amp::getReportDiagnostics(llvm::StringRef uri,
                                      const mlir::DialectRegistry &registry) {
  Array diagnostics;
  const std::string path = getPath(uri);
  llvm::SmallString<128> reportPath(path);
  llvm::sys::path::replace_extension(reportPath, "json");
  llvm::sys::fs::file_status module, file;
  if (path.empty() || llvm::sys::fs::status(path, module) ||
      llvm::sys::fs::status(reportPath, file))
    return diagnostics;
  const Object report = readReport(reportPath);
  const Array *functions = report.getArray("functions");
  if (!functions)
    return diagnostics;
  if (file.getLastModificationTime() < module.getLastModificationTime()) {
    diagnostics.push_back(makeDiagnostic(
        0, 0, 1,
        ("the report '" + llvm::sys::path::filename(reportPath) +
         "' is older than the module; write it again to see its decisions")
            .str()));
    return diagnostics;
  }
  // Most modules give no locations and are not parsed again.
  std::optional<OperationPlaces> places;
  auto getPlaces = [&]() -> const OperationPlaces & {
    if (!places)
      places.emplace(path, registry);
    return *places;
  };
  for (const llvm::json::Value &function : *functions)
    if (const Object *object = function.getAsObject())
      FunctionDecisions(report, *object)
          .add(llvm::sys::path::filename(path), getPlaces, diagnostics);
  return diagnostics;
}

/// Adds the documentation of an operation to `message` if it answers a hover
/// over the operation. The server begins such a text with the name in quotes.
static bool addDocs(Object &message) {
  Object *result = message.getObject("result");
  Object *contents = result ? result->getObject("contents") : nullptr;
  std::optional<llvm::StringRef> text =
      contents ? contents->getString("value") : std::nullopt;
  if (!text || !text->starts_with("\""))
    return false;
  std::string docs = getOperationDocs(
      text->drop_front().take_until([](char c) { return c == '"'; }));
  if (docs.empty())
    return false;
  (*contents)["value"] = (*text + "\n\n---\n\n" + docs).str();
  return true;
}

/// Adds the diagnostics of a report to `message` if it has those of a module.
static bool addDiagnostics(Object &message,
                           const mlir::DialectRegistry &registry) {
  Object *params = message.getObject("params");
  Array *diagnostics = params ? params->getArray("diagnostics") : nullptr;
  std::optional<llvm::StringRef> uri =
      params ? params->getString("uri") : std::nullopt;
  if (!diagnostics || !uri ||
      message.getString("method") != "textDocument/publishDiagnostics")
    return false;
  Array more = getReportDiagnostics(*uri, registry);
  for (Value &diagnostic : more)
    diagnostics->push_back(std::move(diagnostic));
  return !more.empty();
}

/// Returns a message of the server with what this project adds.
static std::string amend(llvm::StringRef body,
                         const mlir::DialectRegistry &registry) {
  llvm::Expected<Value> message = llvm::json::parse(body);
  if (!message) {
    llvm::consumeError(message.takeError());
    return body.str();
  }
  Object *object = message->getAsObject();
  if (!object || (!addDiagnostics(*object, registry) && !addDocs(*object)))
    return body.str();
  // Tests of MLIR read indented messages.
  return body.contains('\n') ? llvm::formatv("{0:2}", *message).str()
                             : llvm::formatv("{0}", *message).str();
}

/// Copies messages from `input` to `os`.
static void forward(int input, llvm::raw_ostream &os,
                    const mlir::DialectRegistry &registry) {
  constexpr llvm::StringLiteral header = "Content-Length: ", end = "\r\n\r\n";
  std::string buffer;
  char block[4096];
  for (ssize_t size; (size = ::read(input, block, sizeof(block))) > 0;) {
    buffer.append(block, size_t(size));
    while (true) {
      size_t start = buffer.find(header), stop = buffer.find(end, start);
      size_t length;
      if (start == std::string::npos || stop == std::string::npos ||
          llvm::StringRef(buffer)
              .slice(start + header.size(), stop)
              .getAsInteger(10, length) ||
          buffer.size() - stop - end.size() < length)
        break;
      os << buffer.substr(0, start);
      std::string body =
          amend(buffer.substr(stop + end.size(), length), registry);
      os << header << body.size() << end << body;
      os.flush();
      buffer.erase(0, stop + end.size() + length);
    }
  }
  os << buffer;
  os.flush();
}

int mlir::amp::runWithReports(const mlir::DialectRegistry &registry,
                              llvm::function_ref<int()> server) {
  int ends[2];
  int output = ::dup(STDOUT_FILENO);
  if (output < 0 || ::pipe(ends) != 0)
    return server();
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  std::thread thread([&] {
    llvm::raw_fd_ostream os(output, /*shouldClose=*/true);
    forward(ends[0], os, registry);
  });
  int result = server();
  llvm::outs().flush();
  // The end of the pipe ends the thread.
  ::close(STDOUT_FILENO);
  thread.join();
  return result;
}
