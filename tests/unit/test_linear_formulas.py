"""A formula as a line keeps its value; what cannot be read stays as it is written."""

import pytest
from lxml import etree

from tools.parsers.canonical_text import CanonicalText
from tools.parsers.linear_formulas import fraction, from_latex, from_mathml, in_a_row, latex_in, root, scripts


@pytest.mark.parametrize(
    ("markup", "line"),
    [
        ("<mfrac><mn>1</mn><mn>2</mn></mfrac>", "1/2"),
        ("<mn>2</mn><mo>&#x2064;</mo><mfrac><mn>3</mn><mn>4</mn></mfrac><mtext> cups</mtext>", "2 3/4 cups"),
        ("<mn>2</mn><mo>&#x2062;</mo><mfrac><mn>3</mn><mn>4</mn></mfrac>", "2 3/4"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>4</mn></mrow></msup>", "10^-4"),
        ("<msqrt><mn>16</mn></msqrt>", "sqrt(16)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "root(3)(8)"),
        ("<msubsup><mi>x</mi><mn>12</mn><mn>2</mn></msubsup>", "x_12^2"),
        ("<msup><mrow><mn>3</mn><mo>/</mo><mn>4</mn></mrow><mn>2</mn></msup>", "(3/4)^2"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>",
         "∑_(i=1)^n i"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<mo>(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd>"
         "<mtd><mn>4</mn></mtd></mtr></mtable><mo>)</mo>", "(1, 2; 3, 4)"),
        ("<mmultiscripts><mi>U</mi><none/><none/><mprescripts/><mn>92</mn><mn>235</mn></mmultiscripts>", "_92^235 U"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", "sin x"),
        ("<mn>1</mn><mo>,</mo><mn>200</mn>", "1,200"),
        ("<semantics><mn>7</mn><annotation encoding='application/x-tex'>7</annotation></semantics>", "7"),
        ("<mn>5</mn><mphantom><mn>9</mn></mphantom>", "5"),
    ],
)  # fmt: skip
def test_mathml_becomes_a_line(markup: str, line: str) -> None:
    assert from_mathml(etree.fromstring(f'<math xmlns="http://www.w3.org/1998/Math/MathML">{markup}</math>')) == line


@pytest.mark.parametrize(
    ("latex", "line"),
    [
        (r"2\frac34", "2 3/4"),
        (r"3.2 \times 10^{-3}", "3.2 × 10^-3"),
        (r"\frac{a+b}{c+d}x", "(a+b)/(c+d) x"),
        (r"x = -b \pm \sqrt{b^2-4ac}", "x = -b ± sqrt(b^2 - 4ac)"),
        (r"p = 3.5\,bar", "p = 3.5 bar"),
        (r"x^{2n}", "x^(2n)"),
        (r"90^\circ", "90°"),
        (r"2{,}5", "2,5"),
        (r"\log_{10}100", "log_10 100"),
        (r"\begin{align*}a&=b\\c&=d\end{align*}", "a = b; c = d"),
        (r"\unknown x", None),
        (r"\newcommand{\a}{\b\b}\a", None),
        ("{" * 50, None),
        ("x" * 5000, None),
    ],
)
def test_latex_becomes_a_line_or_stays(latex: str, line: str | None) -> None:
    assert from_latex(latex) == line


def test_parts_of_other_notations_are_written_alike() -> None:
    assert in_a_row(["2", fraction("3", "4")]) == "2 3/4"
    assert fraction("a+b", "2c") == "(a+b)/(2c)"
    assert scripts("10", upper="-4") == "10^-4"
    assert root("16") == "sqrt(16)"


def test_formulas_nested_by_the_thousand_are_words() -> None:
    deep = etree.fromstring("<math>" + "<msup><mi>x</mi>" * 200 + "<mi>y</mi>" + "</msup>" * 200 + "</math>")
    assert from_mathml(deep).endswith("y" + ")" * from_mathml(deep).count("("))


def test_the_latex_beside_mathml_is_its_source() -> None:
    formula = "<math><semantics><mn>7</mn><annotation encoding='application/x-tex'> 7 </annotation></semantics></math>"
    assert latex_in(etree.fromstring(formula)) == "7"


def test_a_marked_formula_is_found_in_the_text_with_its_source() -> None:
    text = CanonicalText()
    text.add_heading(1, "Area of " + text.formula("pi r^2", "latex", r"\pi r^2"))
    text.add(
        "paragraph",
        "Half is \x0e " + text.formula("1/2", "latex", r"\frac12") + ", so " + text.formula("3/4", "mathml", "<m/>"),
    )
    book = CanonicalText()
    book.add("paragraph", "A preface.")
    book.include(text.parsed())
    for parsed in (text.parsed(), book.parsed()):
        assert [parsed.text[one.start : one.end] for one in parsed.formulas] == ["pi r^2", "1/2", "3/4"]
        assert [one.source for one in parsed.formulas] == [r"\pi r^2", r"\frac12", "<m/>"]
        assert parsed.text.endswith("Half is  1/2, so 3/4")
        assert parsed.blocks[-1].heading == "Area of pi r^2"
