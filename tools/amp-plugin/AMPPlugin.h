//===- AMPPlugin.h - Interface of plugin and passes -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPPLUGIN_AMPPLUGIN_H
#define AMP_TOOLS_AMPPLUGIN_AMPPLUGIN_H

#include <cstdint>

/// The layout of MLIR's DialectPluginLibraryInfo and PassPluginLibraryInfo,
/// which differ only in the type of the function.
struct AMPPluginInfo {
  uint32_t apiVersion;
  const char *pluginName;
  const char *pluginVersion;
  void *registerCallbacks;
};

/// The API version of a refused plugin. No tool has it.
#define AMP_PLUGIN_REFUSE 0

#endif // AMP_TOOLS_AMPPLUGIN_AMPPLUGIN_H
