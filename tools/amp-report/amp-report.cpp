//===- amp-report.cpp - Comparison of reports -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report/ReportDifference.h"
#include "amp/Support/InputFile.h"
#include "amp/Support/OutputFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::amp;
namespace cl = llvm::cl;

/// A report of a network of 100,000 operations has 100 MB.
static constexpr uint64_t kMaxReportBytes = uint64_t(1) << 30;

static cl::OptionCategory category("amp-report options");
static cl::opt<std::string> before(cl::Positional, cl::Required,
                                   cl::desc("<before.json>"),
                                   cl::cat(category));
static cl::opt<std::string> after(cl::Positional, cl::Required,
                                  cl::desc("<after.json>"), cl::cat(category));
static cl::list<std::string>
    outputs("o", cl::value_desc("file.html|file.json"), cl::CommaSeparated,
            cl::desc("Write the differences as a page or as JSON too"),
            cl::cat(category));

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Expected<llvm::json::Value> readReport(llvm::StringRef path) {
  auto file = readInputFile(path, kMaxReportBytes);
  if (!file)
    return fail("cannot read '" + path +
                "': " + llvm::toString(file.takeError()));
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*file)->getBuffer());
  if (!value)
    return fail("'" + path +
                "' is not JSON: " + llvm::toString(value.takeError()));
  return value;
}

static llvm::Error checkOutput(llvm::StringRef path) {
  if (!path.ends_with(".html") && !path.ends_with(".json"))
    return fail("output '" + path +
                "' has no known format, expected a file whose name ends in "
                ".json or .html");
  for (llvm::StringRef input : {before.getValue(), after.getValue()})
    if (path == input || llvm::sys::fs::equivalent(path, input))
      return fail("output '" + path + "' would overwrite a report");
  return llvm::Error::success();
}

static llvm::Error compareReports() {
  for (llvm::StringRef path : outputs)
    if (llvm::Error error = checkOutput(path))
      return error;
  llvm::Expected<llvm::json::Value> old = readReport(before);
  if (!old)
    return old.takeError();
  llvm::Expected<llvm::json::Value> current = readReport(after);
  if (!current)
    return current.takeError();
  llvm::Expected<ReportDifference> difference =
      ReportDifference::compare(std::move(*old), std::move(*current));
  if (!difference)
    return difference.takeError();
  for (llvm::StringRef path : outputs) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (path.ends_with(".html"))
      difference->writeHTML(os);
    else
      os << llvm::formatv("{0:1}", difference->toJSON()) << '\n';
    if (llvm::Error error = writeOutputFile(path, text))
      return error;
  }
  difference->printText(llvm::outs());
  return flushStandardOutput();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compares two JSON reports of auto-mixed-precision: the slots that "
      "change their type, the rules, and the costs\n");
  if (llvm::Error error = compareReports()) {
    llvm::errs() << "amp-report: error: " << llvm::toString(std::move(error))
                 << '\n';
    return 1;
  }
  return 0;
}
