"""A performance profile as SVG: the share of problems that a solver solves within a multiple of the quickest time.

Given the seconds of every solver on the same problems, infinite where not solved. Knows nothing of files.
"""

import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 150, 20, 50
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e")
MOST = 1e4


def draw(times: dict[str, list[float]]) -> str:
    """The profile over ratios from 1 to 10^4, logarithmic."""
    solvers = list(times)
    count = len(times[solvers[0]])
    best = [min(times[solver][k] for solver in solvers) for k in range(count)]

    def across(ratio: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log10(ratio) / math.log10(MOST)

    def up(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for exponent in range(5):
        x = across(10.0**exponent)
        out.append(f'<line x1="{x:.1f}" y1="{up(0)}" x2="{x:.1f}" y2="{up(1)}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{up(0) + 18}" text-anchor="middle">{10**exponent}</text>')
    for tenth in range(0, 11, 2):
        y = up(tenth / 10)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{across(MOST)}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10 * tenth} %</text>')
    out.append(
        f'<text x="{across(100.0)}" y="{HEIGHT - 12}" text-anchor="middle">'
        "seconds, as a multiple of the quickest solver's</text>"
    )
    for k, solver in enumerate(solvers):
        ratios = sorted(t / b for t, b in zip(times[solver], best, strict=True) if math.isfinite(t))
        points, share = [(1.0, 0.0)], 0.0
        for done, ratio in enumerate(ratios, 1):
            ratio = min(max(ratio, 1.0), MOST)
            points += [(ratio, share), (ratio, done / count)]
            share = done / count
        points.append((MOST, share))
        path = " ".join(f"{across(r):.1f},{up(s):.1f}" for r, s in points)
        colour = COLOURS[k % len(COLOURS)]
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = TOP + 20 + 18 * k
        out.append(f'<line x1="{WIDTH - 138}" y1="{y - 4}" x2="{WIDTH - 118}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{WIDTH - 112}" y="{y}">{solver} ({100 * share:.0f} %)</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
