//===- WatchPage.h - The page of watched values -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of the page around its data, which WatchReport.h prints as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_WATCHPAGE_H
#define AMP_RUNTIME_HOST_WATCHPAGE_H

#include <string>

namespace amphost {

/// The page up to the data.
inline constexpr const char *kWatchPageHead = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Watched values</title>
<style>
body { font: 14px sans-serif; max-width: 1200px; margin: 1.5em auto; padding: 0 1em;
  color: #222; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: right; padding: 2px 8px; white-space: nowrap; }
th { cursor: pointer; border-bottom: 1px solid #8888; }
td.text, th.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
tr.value { cursor: pointer; } tr.value:hover, tr.chosen { background: #8883; }
.bad { color: #b30000; font-weight: bold; } .warn { color: #a15c00; }
svg { width: 100%; height: 180px; } svg text { font-size: 11px; fill: currentColor; }
#verdict { font-size: 17px; } input { width: 24em; max-width: 100%; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1a1a1a; }
  .bad { color: #ff8080; } .warn { color: #ffc266; } }
</style></head><body>
<h1 id="title"></h1><p id="verdict"></p>
<div id="detail"></div>
<p><label>Show values whose names contain <input id="filter"></label> <span id="count"></span></p>
<table><thead><tr id="head"></tr></thead><tbody id="rows"></tbody></table>
<script type="application/json" id="data">)page";

/// The page after the data.
inline constexpr const char *kWatchPageTail = R"page(</script>
<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const values = data.values, element = id => document.getElementById(id);
const nonZero = v => v.elements - v.nan - v.infinite - v.zero;
const ratio = (part, whole) => whole ? part / whole : 0;
const columns = [
  ['value', v => v.name, 'text'], ['part', v => v.part, 'text'],
  ['type', v => v.type + (v.to ? ' → ' + v.to : ''), 'text'],
  ['not finite', v => ratio(v.nan + v.infinite, v.elements), 'bad'],
  ['overflow', v => ratio(v.overflow, nonZero(v)), 'bad'],
  ['underflow', v => ratio(v.underflow, nonZero(v)), 'warn'],
  ['below normal', v => ratio(v.belowNormal, nonZero(v)), 'warn'],
  ['largest', v => v.infinite ? Infinity : v.nan && !nonZero(v) ? NaN : v.largest, 'size'],
  ['smallest', v => v.smallest, 'size']];
let order = data.ranked.slice(), sorted = null, chosen = order[0];
function make(tag, parent, text, name) {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (name) node.className = name;
  parent.append(node);
  return node;
}
function shape(tag, parent, attributes, text) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
const number = x => x === 0 ? '0' : Number.isNaN(x) ? 'nan' : x === Infinity ? 'inf' : x.toPrecision(3);
function cell(value, kind) {
  if (kind === 'text') return value;
  if (kind === 'size') return number(value);
  return value === 0 ? '0' : (100 * value).toFixed(value < 0.001 ? 4 : 2) + ' %';
}
function drawRows() {
  const text = element('filter').value.toLowerCase(), rows = element('rows');
  rows.replaceChildren();
  const shown = order.filter(i => values[i].name.toLowerCase().includes(text));
  for (const i of shown) {
    const row = make('tr', rows, undefined, 'value' + (i === chosen ? ' chosen' : ''));
    for (const [, get, kind] of columns) {
      const value = get(values[i]);
      const mark = kind === 'text' ? 'text'
          : (kind === 'bad' || kind === 'warn') && value > 0 ? kind : '';
      make('td', row, cell(value, kind), mark);
    }
    row.onclick = () => { chosen = i; draw(); scrollTo(0, 0); };
  }
  element('count').textContent = shown.length + ' of ' + values.length;
}
/// The limits of the type that a value is judged by, as exponents.
const limits = { f16: [-24, -14, 16], bf16: [-133, -126, 128], f32: [-149, -126, 128] };
function drawHistogram(parent, v) {
  make('h3', parent, 'Magnitudes by exponent, and the limits of ' + v.judged);
  const svg = shape('svg', parent, { viewBox: '0 0 1000 180', preserveAspectRatio: 'none' });
  const bins = Object.entries(v.exponents).map(([e, n]) => [+e, n]);
  const [least, normal, end] = limits[v.judged] || limits.f32;
  const all = bins.map(([e]) => e).concat(Math.max(least, -40), Math.min(end, 40));
  const low = Math.min(...all) - 1, high = Math.max(...all) + 2;
  // Elements that are not finite have bars of their own on the right.
  const special = [['inf', v.infinite], ['NaN', v.nan]].filter(([, n]) => n);
  const x = e => 40 + (940 - 70 * special.length) * (e - low) / (high - low);
  const most = Math.max(1, v.nan, v.infinite, ...bins.map(([, n]) => n));
  special.forEach(([name, n], i) => {
    const left = 980 - 70 * (special.length - i) + 10, height = 130 * Math.log1p(n) / Math.log1p(most);
    const bar = shape('rect', svg, { x: left, y: 150 - height, height, width: 50, fill: '#b30000' });
    shape('title', bar, {}, name + ': ' + n);
    shape('text', svg, { x: left + 25, y: 168, 'text-anchor': 'middle' }, name);
  });
  for (const [e, n] of bins) {
    const height = 130 * Math.log1p(n) / Math.log1p(most);
    const bar = shape('rect', svg, { x: x(e), y: 150 - height, height,
      width: Math.max(1, x(e + 1) - x(e) - 1),
      fill: e < least || e >= end ? '#d55e00' : e < normal ? '#e69f00' : '#0072b2' });
    shape('title', bar, {}, '2^' + e + ': ' + n);
  }
  for (const [e, name] of [[least, 'subnormal'], [normal, 'normal'], [end, 'overflow']])
    if (e >= low && e <= high) {
      shape('line', svg, { x1: x(e), x2: x(e), y1: 10, y2: 150, stroke: 'currentColor',
        'stroke-dasharray': '4 3' });
      shape('text', svg, { x: x(e) + 3, y: 12 }, name);
    }
  for (let e = Math.ceil(low / 8) * 8; e < high; e += 8)
    shape('text', svg, { x: x(e), y: 168, 'text-anchor': 'middle' }, '2^' + e);
}
function drawSeries(parent, v) {
  make('h3', parent, 'Largest (blue) and smallest (green) magnitude by step; ' +
    'red: steps with values out of range' +
    (data.merged > 1 ? '; a point has ' + data.merged + ' sampled steps' : ''));
  const svg = shape('svg', parent, { viewBox: '0 0 1000 180', preserveAspectRatio: 'none' });
  const steps = data.steps, first = steps[0], span = Math.max(1, steps[steps.length - 1] - first);
  const x = i => 60 + 920 * (steps[i] - first) / span;
  const seen = v.series.largest.concat(v.series.smallest).filter(m => m > 0).map(Math.log2);
  const low = Math.floor(Math.min(0, ...seen)), high = Math.ceil(Math.max(1, ...seen));
  const y = m => 150 - 130 * (Math.log2(m) - low) / (high - low);
  for (const [field, colour] of [['largest', '#0072b2'], ['smallest', '#009e73']]) {
    const points = v.series[field].map((m, i) => m > 0 ? x(i) + ',' + y(m) : '').filter(p => p);
    shape('polyline', svg, { points: points.join(' '), fill: 'none', stroke: colour });
    for (const point of points) {
      const [cx, cy] = point.split(',');
      shape('circle', svg, { cx, cy, r: 2.5, fill: colour });
    }
  }
  v.series.nan.forEach((nan, i) => {
    if (nan + v.series.infinite[i] + v.series.overflow[i])
      shape('rect', svg, { x: x(i) - 1.5, y: 10, width: 3, height: 140, fill: '#d55e00', opacity: 0.6 });
  });
  for (const exponent of [low, high])
    shape('text', svg, { x: 4, y: exponent === low ? 150 : 20 }, '2^' + exponent);
  shape('text', svg, { x: 60, y: 168 }, 'step ' + first);
  shape('text', svg, { x: 980, y: 168, 'text-anchor': 'end' }, 'step ' + (first + span));
}
function draw() {
  const v = values[chosen], detail = element('detail');
  detail.replaceChildren();
  make('h2', detail, v.name);
  make('p', detail, v.elements + ' elements in ' + (data.sampled || data.steps.length) + ' steps: ' + v.nan +
    ' NaN, ' + v.infinite + ' infinite, ' + v.zero + ' zero, ' + v.overflow +
    ' overflow and ' + v.underflow + ' underflow' + (v.to ? ' in the cast to ' + v.to : '') +
    ', ' + v.belowNormal + ' below the normal range of ' + v.judged);
  if (v.operands.length) {
    const line = make('p', detail, 'Operands: ');
    for (const i of v.operands) {
      const link = make('a', line, values[i].name);
      link.href = '#';
      link.onclick = () => { chosen = i; draw(); return false; };
      make('span', line, ' ');
    }
  }
  drawHistogram(detail, v);
  drawSeries(detail, v);
  drawRows();
}
element('title').textContent = 'Watched values of ' + data.model;
const bad = values.filter(v => v.nan + v.infinite > 0);
const over = values.filter(v => v.overflow > 0), under = values.filter(v => v.underflow > 0);
element('verdict').textContent =
  bad.length ? bad.length + ' values are not finite. The first in program order is ' + values[data.ranked[0]].name + '.'
  : over.length ? 'Casts take elements of ' + over.length + ' values beyond the range of their type.'
  : under.length ? 'Casts round elements of ' + under.length + ' values to zero. The largest share is at the top.'
  : 'Each value stays within the range of its type.';
columns.forEach(([name, get, kind]) => {
  make('th', element('head'), name, kind === 'text' ? 'text' : '').onclick = () => {
    const sign = sorted === name ? -1 : 1;
    sorted = sign > 0 ? name : null;
    order.sort((a, b) => { const p = get(values[a]), q = get(values[b]);
      return sign * (typeof p === 'string' ? p.localeCompare(q) : (q || 0) - (p || 0) || 0); });
    drawRows();
  };
});
element('filter').oninput = drawRows;
draw();
</script></body></html>
)page";

/// The page of `json`, which WatchReport.h describes.
inline std::string printWatchPage(const std::string &json) {
  std::string text = kWatchPageHead;
  // A name in the module must not end the script element.
  for (char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text + kWatchPageTail;
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_WATCHPAGE_H
