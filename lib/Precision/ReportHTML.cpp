//===- ReportHTML.cpp - A report to look at -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The page is a template (lib/Precision/report) into which style, scripts and
// the JSON of the report are put; the browser does the rest.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::amp;

// The parts of the page, generated from lib/Precision/report.
#include "amp/Precision/ReportPage.inc"

void PrecisionReport::writeHTML(raw_ostream &os) const {
  std::string data;
  llvm::raw_string_ostream dataStream(data);
  writeJSON(dataStream);

  StringRef page(reportPage);
  auto copyUntil = [&](StringRef marker) {
    auto [before, after] = page.split(marker);
    os << before;
    page = after;
  };
  copyUntil("/*style*/");
  os << reportStyle;
  copyUntil("<!--data-->");
  // In JSON, '<' stands within strings only. Escaped, nothing that the module
  // names can end the script element or open a comment.
  for (char c : data) {
    if (c == '<')
      os << "\\u003c";
    else
      os << c;
  }
  copyUntil("/*script*/");
  os << reportScript << page;
}
