//===- ReportHTML.cpp - A report to look at -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page is a template (lib/Precision/Report/page). The style, the scripts
// and the JSON of the report are inserted into it. The scripts draw the report.
//
//===----------------------------------------------------------------------===//

#include "ReportFunction.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

// The parts of the page, generated from lib/Precision/Report/page.
#include "amp/Precision/ReportPage.inc"

void mlir::amp::writeReportPage(raw_ostream &os, StringRef data) {
  StringRef page(reportPage);
  auto copyUntil = [&](StringRef marker) {
    auto [before, after] = page.split(marker);
    os << before;
    page = after;
  };
  copyUntil("/*style*/");
  os << reportStyle;
  copyUntil("<!--data-->");
  // JSON has '<' only within strings. Escape it: a name in the module must not
  // end the script element or open a comment.
  for (char c : data) {
    if (c == '<')
      os << "\\u003c";
    else
      os << c;
  }
  copyUntil("/*script*/");
  os << reportScript << page;
}

void PrecisionReport::writeHTML(raw_ostream &os) const {
  std::string data;
  llvm::raw_string_ostream dataStream(data);
  writeJSON(dataStream);
  writeReportPage(os, data);
}
