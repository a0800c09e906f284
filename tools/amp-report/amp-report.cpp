//===- amp-report.cpp - Pages and comparisons of reports ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report/ReportDifference.h"
#include "amp/Precision/Report/ReportErrors.h"
#include "amp/Runtime/Host/WatchPage.h"
#include "amp/Support/InputFile.h"
#include "amp/Support/OptionCheck.h"
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
static cl::list<std::string> inputs(cl::Positional, cl::OneOrMore,
                                    cl::desc("<file.json> [<after.json>]"),
                                    cl::cat(category));
static cl::opt<std::string>
    errorsPath("errors", cl::value_desc("diverge.json"),
               cl::desc("Colour the operations of a report by their errors "
                        "against f32, from amp-run --diverge-json"),
               cl::cat(category));
static cl::list<std::string>
    outputs("o", cl::value_desc("file.html|file.json"), cl::CommaSeparated,
            cl::desc("Write a page, or the differences as JSON"),
            cl::cat(category));

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

static llvm::Expected<llvm::json::Value> readJSON(llvm::StringRef path) {
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
  for (llvm::StringRef input : inputs)
    if (path == input || llvm::sys::fs::equivalent(path, input))
      return fail("output '" + path + "' would overwrite a report");
  return llvm::Error::success();
}

/// Writes a page to all outputs.
static llvm::Error
writePages(llvm::function_ref<void(llvm::raw_ostream &)> write) {
  for (llvm::StringRef path : outputs) {
    if (!path.ends_with(".html"))
      return fail("output '" + path +
                  "' is not a page, expected a file whose name ends in .html");
    std::string text;
    llvm::raw_string_ostream os(text);
    write(os);
    if (llvm::Error error = writeOutputFile(path, text))
      return error;
  }
  return llvm::Error::success();
}

/// Adds the errors of `--errors` to `report`, if they are given.
static llvm::Error readErrors(llvm::json::Value &report) {
  if (errorsPath.empty())
    return llvm::Error::success();
  llvm::Expected<llvm::json::Value> errors = readJSON(errorsPath);
  if (!errors)
    return errors.takeError();
  llvm::Expected<int64_t> found = addErrors(report, *errors);
  if (!found)
    return fail("'" + errorsPath + "': " + llvm::toString(found.takeError()));
  if (*found == 0)
    return fail("no operation of the report is in '" + errorsPath +
                "', expected the errors of the same module");
  return llvm::Error::success();
}

/// Writes the page of a file of watched values, or of a report with errors.
static llvm::Error showFile(llvm::json::Value file) {
  const llvm::json::Object *object = file.getAsObject();
  const bool isWatched = object && object->getArray("ranked");
  if (!isWatched && errorsPath.empty())
    return fail("'" + inputs.front() +
                "' is not a file of amp-run --watch-json; expected a second "
                "report, or --errors");
  if (isWatched && !errorsPath.empty())
    return fail("--errors is for a report, but '" + inputs.front() +
                "' is a file of amp-run --watch-json");
  if (outputs.empty())
    return fail("expected -o and the name of a page");
  if (llvm::Error error = readErrors(file))
    return error;
  return writePages([&](llvm::raw_ostream &os) {
    if (!isWatched)
      return writeReportHTML(file, os);
    std::string text;
    llvm::raw_string_ostream(text) << file;
    os << amphost::printWatchPage(text);
  });
}

static llvm::Error compareReports(llvm::json::Value before,
                                  llvm::json::Value after) {
  if (llvm::Error error = readErrors(after))
    return error;
  llvm::Expected<ReportDifference> difference =
      ReportDifference::compare(std::move(before), std::move(after));
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

static llvm::Error run() {
  if (inputs.size() > 2)
    return fail("expected one or two files, got " + llvm::Twine(inputs.size()));
  for (llvm::StringRef path : outputs)
    if (llvm::Error error = checkOutput(path))
      return error;
  llvm::SmallVector<llvm::json::Value, 2> files;
  for (llvm::StringRef path : inputs) {
    llvm::Expected<llvm::json::Value> file = readJSON(path);
    if (!file)
      return file.takeError();
    files.push_back(std::move(*file));
  }
  return files.size() == 1
             ? showFile(std::move(files[0]))
             : compareReports(std::move(files[0]), std::move(files[1]));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (mlir::failed(checkOptionNames("amp-report", argc, argv)))
    return 1;
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compares two JSON reports of auto-mixed-precision: the slots that "
      "change their type, the rules, and the costs. Writes the page of a "
      "report "
      "with errors against f32, or of watched values\n");
  if (llvm::Error error = run()) {
    llvm::errs() << "amp-report: error: " << llvm::toString(std::move(error))
                 << '\n';
    return 1;
  }
  return 0;
}
