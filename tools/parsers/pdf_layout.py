"""What is usual in a PDF: its type size, the distance between its lines, and where they begin and end."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import pairwise

from tools.parsers.pdf_lines import Line, Page

_OFTEN = 8  # lines that make a distance or an edge usual
_FEW_LINES = 60


@dataclass(slots=True)
class Layout:
    """The usual looks of a document. ``headings`` are the levels of heading lines by their page and place in it.

    ``spacing`` is the usual distance between baselines by type size, in points; ``right`` the edge that most lines of
    text reach, or 0.0 if they are ragged; ``left`` the edge where they begin, for even and for odd pages, and
    ``first_indent`` how much further right the first lines of paragraphs do.
    """

    size: float = 10.0
    spacing: dict[float, float] = field(default_factory=dict)
    right: float = 0.0
    left: tuple[float, float] = (0.0, 0.0)
    first_indent: float = 0.0
    headings: dict[tuple[int, int], int] = field(default_factory=dict)
    contents: set[tuple[int, int]] = field(default_factory=set)

    def leading(self, line: Line) -> float:
        """Return the usual distance of a line from the one before it."""
        return self.spacing.get(line.size) or line.size * self.spacing.get(self.size, 1.2 * self.size) / self.size


def measured(pages: list[Page]) -> Layout:
    """Measure pages whose lines are in order."""
    layout = Layout()
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text) * (1 if line.fixed else 3)
    if not sizes:
        return layout
    layout.size = max(sizes, key=lambda size: (sizes[size], size))
    layout.spacing = _spacing(pages, layout.size)
    layout.right = _right(pages, layout.size)
    layout.left = _left(pages)
    layout.first_indent = _first_indent(pages, layout)
    return layout


def _spacing(pages: list[Page], body: float) -> dict[float, float]:
    distances: dict[float, Counter[float]] = defaultdict(Counter)
    for page in pages:
        for above, below in pairwise(page.lines):
            if above.size == below.size and 0 < above.y - below.y < 4 * below.size:
                distances[below.size][round(above.y - below.y, 1)] += 1
    usual = {}
    for size, counts in distances.items():
        often = max(counts.values())
        if often >= _OFTEN or size == body:
            usual[size] = min(distance for distance, count in counts.items() if count >= often / 2)
    return usual


def _right(pages: list[Page], size: float) -> float:
    """Return the edge that many lines of text reach exactly, or 0.0 if there is none: the text is ragged."""
    texts = {
        (line.text, round(line.x1)) for page in pages for line in page.lines if line.size == size and not line.fixed
    }
    edges = Counter(edge for _, edge in texts)
    edge = max(edges, key=lambda at: (edges[at - 1] + edges[at] + edges[at + 1], at), default=0)
    reaching = edges[edge - 1] + edges[edge] + edges[edge + 1]
    return float(edge) if reaching >= max(_OFTEN, 0.3 * len(texts)) else 0.0


def _left(pages: list[Page]) -> tuple[float, float]:
    edges: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
    for number, page in enumerate(pages):
        edges[number % 2].update(round(line.x0) for line in page.lines if line.column == 0)
    both = edges[0] + edges[1]
    if not both:
        return (0.0, 0.0)
    even, odd = (_leftmost(each) for each in edges)
    if min(edges[0].total(), edges[1].total()) < _FEW_LINES:  # book pages have two margins, which few lines cannot show
        even = odd = _leftmost(both)
    return float(even), float(odd)


def _leftmost(edges: Counter[int]) -> int:
    """Return the leftmost of the edges where many lines begin."""
    most = max(edges.values(), default=0)
    return min((edge for edge, count in edges.items() if count >= 0.1 * most), default=0)


def _first_indent(pages: list[Page], layout: Layout) -> float:
    """Return how far the first lines of paragraphs are usually indented, or 0.0 if they are not."""
    shifts: Counter[int] = Counter()
    for page in pages:
        for line, below in pairwise(page.lines):
            near = line.size == below.size == layout.size and 0 < line.y - below.y <= 1.1 * layout.leading(line)
            if near and not line.fixed and line.size < line.x0 - below.x0 < 4 * line.size:
                shifts[round(line.x0 - below.x0)] += 1
    usual = max(shifts, key=lambda shift: (shifts[shift], shift), default=0)
    return float(usual) if shifts[usual] >= _OFTEN else 0.0
