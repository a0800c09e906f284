//===- AMPPlugin.h - Between the plugin and its passes ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPPLUGIN_AMPPLUGIN_H
#define AMP_TOOLS_AMPPLUGIN_AMPPLUGIN_H

#include <cstdint>

/// DialectPluginLibraryInfo and PassPluginLibraryInfo of MLIR, which differ in
/// the type of the function alone.
struct AMPPluginInfo {
  uint32_t apiVersion;
  const char *pluginName;
  const char *pluginVersion;
  void *registerCallbacks;
};

/// What a tool takes for a plugin of another API.
#define AMP_PLUGIN_REFUSE 0

#endif // AMP_TOOLS_AMPPLUGIN_AMPPLUGIN_H
