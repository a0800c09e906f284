# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Line charts for the documentation."""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 660, 300, 60, 44, 14, 26
COLOURS = ("#1f6fb4", "#c4501b", "#3a8a3a", "#7d3fb0", "#a08000", "#444444", "#c0508f")


class Figure:
    """A line chart in two axes, as SVG without a script or a font."""

    def __init__(self, title, x, y, xlabel, ylabel):
        self.x, self.y = x, y
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'font-family="sans-serif" font-size="12"><title>{title}</title>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        ]
        for value, label in x[2]:
            px = self.px(value)
            self.lines.append(f'<path d="M{px} {TOP}V{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
            self.text(px, HEIGHT - BOTTOM + 16, label, "middle")
        for value, label in y[2]:
            py = self.py(value)
            self.lines.append(f'<path d="M{LEFT} {py}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>')
            self.text(LEFT - 6, py + 4, label, "end")
        self.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, xlabel, "middle")
        self.lines.append(
            f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{ylabel}</text>')

    def px(self, value):
        return round(LEFT + (value - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - LEFT - RIGHT), 1)

    def py(self, value):
        return round(HEIGHT - BOTTOM - (value - self.y[0]) / (self.y[1] - self.y[0]) * (HEIGHT - BOTTOM - TOP), 1)

    def text(self, x, y, text, anchor="start", colour="black"):
        self.lines.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{text}</text>')

    def line(self, points, colour, dash=""):
        path = "L".join(f"{self.px(x)} {self.py(y)}" for x, y in points)
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')

    def mark(self, x, y, colour, cross=False):
        px, py = self.px(x), self.py(y)
        self.lines.append(
            f'<path d="M{px - 4} {py - 4}l8 8m0 -8l-8 8" stroke="{colour}" stroke-width="1.5"/>'
            if cross else f'<circle cx="{px}" cy="{py}" r="3" fill="{colour}"/>')

    def write(self, path):
        with open(path, "w") as file:
            file.write("\n".join(self.lines) + "\n</svg>\n")


class Bars:
    """Horizontal bars of numbers by name, with a line at one of them."""

    def __init__(self, title, numbers, mark):
        left, step, top = 170, 22, 10
        most = max([*numbers.values(), mark]) * 1.1
        height = top + step * len(numbers) + 10

        def px(number):
            return round(left + number / most * (WIDTH - left - RIGHT - 30), 1)

        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'font-family="sans-serif" font-size="12"><title>{title}</title>',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        ]
        for index, (name, number) in enumerate(numbers.items()):
            y = top + step * index
            self.lines += [
                f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text>',
                f'<rect x="{left}" y="{y + 2}" width="{round(px(number) - left, 1)}" height="{step - 6}" fill="{COLOURS[0]}"/>',
                f'<text x="{px(number) + 4}" y="{y + 13}">{number:.2f}</text>',
            ]
        self.lines.append(f'<path d="M{px(mark)} {top}V{height - 8}" stroke="{COLOURS[1]}" stroke-dasharray="4 3"/>')

    def write(self, path):
        with open(path, "w") as file:
            file.write("\n".join(self.lines) + "\n</svg>\n")
