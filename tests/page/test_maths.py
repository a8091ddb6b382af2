"""Formulas in answers: drawn as MathML by what comes with the first of them, whole in their claims, and harmless."""

import re
from typing import Any

from playwright.async_api import Page, expect

from tests.page.axe import accessible
from tests.page.browsing import NARROW, Visits
from tests.page.sites import Site
from tests.page.test_proof import GROWING, answered, put

AREA = r"The area of a circle is $A = \pi r^2$ for every radius."
ROOTS = r"The roots are \(x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}\) where they are real."
LONG = r"a_0 + a_1 x + a_2 x^2 + a_3 x^3 + a_4 x^4 + a_5 x^5 + a_6 x^6 + a_7 x^7 + a_8 x^8 + a_9 x^9"
SERIES = f"$$\n\\sum_{{k=0}}^{{n}} k = \\frac{{n(n+1)}}{{2}}\n- {LONG}\n$$"
PRICES = "A compass costs $5 and a ruler $10, or US$5/$10 together."
UNREAD = r"Nobody reads \(\nosuchsign{x}\) here."
TEXT = "\n\n".join([AREA, ROOTS, SERIES, PRICES, UNREAD])


def renderers(urls: list[str]) -> list[str]:
    return [url for url in urls if re.search(r"/maths-\w+\.js$", url)]


async def test_formulas_are_drawn_whole_in_their_claims_and_prices_are_text(
    chromium_page: Visits, model_site: Site
) -> None:
    document_id = await put(model_site, TEXT)
    plain = await answered(model_site, document_id, PRICES)
    url = await answered(model_site, document_id, TEXT)
    page = await chromium_page(plain, go=False)
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    await page.goto(plain)
    await expect(page.locator(".section .claim.quoted")).to_have_text(PRICES)
    assert renderers(urls) == []

    await page.goto(url)
    text = page.locator(".section .text")
    await expect(text.locator("math")).to_have_count(3)
    assert len(renderers(urls)) == 1
    area = text.locator(".claim", has=page.locator("math"), has_text="A")
    await expect(area.first.locator("msup mn")).to_have_text("2")
    whole = text.locator("p", has_text="The area")
    marker = whole.get_by_role("button", name=re.compile("^Source "))
    await expect(marker).to_have_count(1)
    order = "(marker) => [...marker.closest('p').querySelectorAll('math')].every((math) => "
    assert await marker.evaluate(f"{order}math.compareDocumentPosition(marker) & Node.DOCUMENT_POSITION_FOLLOWING)")
    assert await text.locator("p", has_text="The roots").locator("math").evaluate("math => !!math.closest('.claim')")
    await expect(text.locator("p", has_text="compass")).to_contain_text(PRICES)
    await expect(text.locator("code.formula")).to_have_text(r"\(\nosuchsign{x}\)")

    series = text.locator(".formula.display")
    await expect(series.locator("math[display=block] annotation")).to_have_text(re.compile(r"^\\sum_"))
    await page.set_viewport_size(NARROW)
    wide = await series.evaluate("(box) => [box.scrollWidth > box.clientWidth, document.body.scrollWidth]")
    assert wide == [True, NARROW["width"]]
    await series.focus()
    await expect(series).to_be_focused()

    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.get_by_role("button", name="Copy", exact=True).click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert [
        each for each in (r"$A = \pi r^2$", r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}", LONG) if each not in copied
    ] == []

    await accessible(page, "formulas")

    await page.evaluate("localStorage.setItem('citewell.language', 'ar')")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("dir", "rtl")
    formula = page.locator(".section .formula").first
    assert await formula.evaluate("(each) => getComputedStyle(each.firstChild).direction") == "ltr"


DRAW = """
async (formulas) => {
  const [home] = document.querySelector("script[type=module]").src.match(/^.*\\/page\\/\\w+\\//);
  const { draw } = await import(`${home}text/maths.js`);
  const tell = (formula) => {
    const drawn = draw(formula, true);
    if (!drawn) return "";
    document.querySelector("main, body").append(drawn);
    const elements = [drawn, ...drawn.querySelectorAll("*")];
    const names = elements.flatMap((each) => each.getAttributeNames());
    const foreign = elements.slice(1).filter((each) => each.namespaceURI !== "http://www.w3.org/1998/Math/MathML");
    const { top, height } = drawn.getBoundingClientRect();
    const reach = Math.max(...elements.map((each) => Math.abs(each.getBoundingClientRect().top - top)));
    const styles = elements.map((each) => each.getAttribute("style") ?? "").join(";");
    drawn.remove();
    const refused = /^(?:on|href|xlink|src|id$|data)/;
    const named = names.some((name) => refused.test(name)) || /url|position|fixed|expression/.test(styles);
    const large = elements.length > 4100 || height > 2000 || reach > 2000;
    return foreign.length || named || large ? "harmful" : "drawn";
  };
  return formulas.map(tell);
}
"""
BOMB = "".join(rf"\def\{name}{{{after * 9}}}" for name, after in (("a", "x"), ("b", r"\a"), ("c", r"\b"), ("d", r"\c")))
REFUSED = (
    r"\href{javascript:pwned()}{x}", r"\href{https://evil.test}{x}", r"\url{javascript:pwned()}",
    r"\includegraphics{https://evil.test/x.png}", r"\includegraphics[width=9em]{/api/x}", r"\class{conversation}{x}",
    r"\id{question}{x}", r"\style{position:fixed;inset:0}{x}", r"\data{a=b}{x}", r"\htmlId{question}{x}",
    r"\htmlClass{a}{x}", r"\htmlStyle{color:red}{x}", r"\htmlData{a=b}{x}", r"\unicode{<img src=x onerror=pwned()>}",
    r"\def\a{\a\a}\a", r"\gdef\a{\a}\a", r"\let\a=\frac \a12", r"\newcommand{\a}{\a}\a", BOMB + r"\d\d\d\d",
    r"\require{html}\href{x}{y}", r"\textcolor{url(//evil.test)}{x}", r"\toggle{a}{b}\endtoggle",
    r"\begin{nosuch}x\end{nosuch}", r"\frac{1", r"\end{array}", "x}", "#1",
    r"\sqrt{" * 300 + "x" + "}" * 300, r"x^{" * 200 + "x" + "}" * 200, "x+" * 3000, r"\left(" * 400,
)  # fmt: skip
# Either is right, as long as it is small.
BOUNDED = (
    r"\rule{99999em}{99999em}", r"\kern9999999px x", r"\hspace{1e9em}x", r"\raisebox{-99999em}{x}", r"\\[99999em] x",
    r"\Huge\Huge\Huge x", r"\begin{matrix}" + "&" * 900 + r"\end{matrix}", r"\label{question}\ref{question}x",
    r"\tag{<img src=x onerror=pwned()>} x", r"\text{<script>pwned()</script>}", r"\verb|<img src=x>|", "<b>x</b>",
    r"\color{red}x", r"\colorbox{red}{x}", r"\smash{\rule{1em}{900em}}", r"\overset{\rule{0em}{500em}}{x}",
    r"\__proto__ \constructor x", r"\begin{__proto__}\end{__proto__}", "\u202e x", "\x00",
    "{" * 1500 + "x" + "}" * 1500,
)  # fmt: skip
DRAWN = (
    r"\begin{align} a &= b \\ c &= d \end{align}", r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"x = \tag{1} y",
    r"f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}", r"\cancel{x} \boxed{y} \overline{z}",
    r"\int_0^\infty e^{-x^2}\,dx", r"\mathbb{R} \mathcal{L} \hat{x} \vec{v}", r"\xrightarrow{k} \lim_{n \to \infty}",
    r"{\left( \binom{n}{k} \right)}", r"\operatorname{rank} A", r"\text{Fläche} = 5\,\mathrm{m}^2", "日本",
)  # fmt: skip


async def drawn(page: Page, formulas: tuple[str, ...]) -> dict[str, Any]:
    return dict(zip(formulas, await page.evaluate(DRAW, list(formulas)), strict=True))


async def test_a_formula_is_text_until_it_is_closed_and_then_nothing_but_mathematics(
    chromium_page: Visits, modules_site: Site
) -> None:
    page = await chromium_page(modules_site.url)
    await expect(page.locator(".shelf")).to_be_visible()  # the last of the modules, or the site would end before it
    await page.evaluate(GROWING)
    text = page.locator(".growing .section .text")

    async def grow(said: str) -> None:
        await page.evaluate("(said) => grow(said, {})", said)

    await grow("One.\n\n\\[\na_1 * b_2 * c")
    await expect(text.locator("p").nth(1)).to_have_text("\\[\na_1 * b_2 * c", use_inner_text=True)
    await expect(text.locator("em, math")).to_have_count(0)
    await grow("One.\n\n\\[\na_1 * b_2 * c\n\\]")
    await expect(text.locator("math[display=block] msub")).to_have_count(2)
    first = await text.locator("math").element_handle()
    assert first is not None
    await grow("One.\n\n\\[\na_1 * b_2 * c\n\\]\n\nTwo **and $x$ th")
    await expect(text.locator("strong math")).to_have_text("x")
    assert await first.evaluate("(math) => math.isConnected"), "what is drawn stays as it is"

    assert [each[:80] for each, became in (await drawn(page, DRAWN)).items() if became != "drawn"] == []
    assert [each[:80] for each, became in (await drawn(page, REFUSED)).items() if became] == []
    assert [each[:80] for each, became in (await drawn(page, BOUNDED)).items() if became == "harmful"] == []
    assert await page.evaluate("[Reflect.has({}, 'polluted'), 'pwned' in globalThis]") == [False, False]
