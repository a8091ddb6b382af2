"""reStructuredText as a reader of the built pages sees it: docutils' constructs, Sphinx's, and hostile ones."""

import threading
from pathlib import Path

import pytest
from docutils.parsers.rst import directives, roles
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.hanging_blocks import hanging
from tools.parsers import Parsed, parse
from tools.parsers.canonical_text import passages_left_out


def rst(text: str) -> Parsed:
    return parse(text.encode(), name="x.rst")


def test_titles_are_a_path_and_targets_are_anchors() -> None:
    parsed = rst(
        "Kettle\n======\n\nWater.\n\nUse\n---\n\n.. _fill:\n\nFill it.\n\n.. _boil-it:\n\nBoiling\n~~~~~~~\n\n"
        "Heat it.\n\nCare\n----\n\nSee :ref:`boil-it`, :ref:`the start <fill>` and :ref:`elsewhere`.\n"
    )
    assert parsed.title == "Kettle"
    assert [(block.heading, block.anchor) for block in parsed.blocks] == [
        ("Kettle", "kettle"),
        ("Kettle", "kettle"),
        ("Kettle > Use", "use"),
        ("Kettle > Use", "fill"),
        ("Kettle > Use > Boiling", "boil-it"),
        ("Kettle > Use > Boiling", "boil-it"),
        ("Kettle > Care", "care"),
        ("Kettle > Care", "care"),
    ]
    assert parsed.text.endswith("See Boiling, the start and elsewhere.")


def test_a_style_of_title_that_skips_a_level_loses_nothing() -> None:
    parsed = rst("A\n=\n\na\n\nB\n-\n\nC\n~\n\nD\n-\n\nE\n^\n\nF\n=\n\nG\n~\n\nend\n")
    assert parsed.blocks[-1].heading == "F > G"
    assert "E" in parsed.text.split()


def test_definitions_fields_and_options_hang_on_their_terms() -> None:
    parsed = rst(
        "Words\n=====\n\nlid : part\n    Keeps ``steam`` in.\n\n    Is hot.\n\nfoot\n    Stands.\n\n"
        ":Colour: red\n:Weight:\n    two\n\n-q, --quiet  No whistle.\n--level=N    How full.\n"
    )
    assert hanging(parsed)[1:] == [
        ("term", "lid : part", []),
        ("paragraph", "Keeps steam in.", ["lid : part"]),
        ("paragraph", "Is hot.", ["lid : part"]),
        ("term", "foot", []),
        ("paragraph", "Stands.", ["foot"]),
        ("term", "Colour", []),
        ("paragraph", "red", ["Colour"]),
        ("term", "Weight", []),
        ("paragraph", "two", ["Weight"]),
        ("term", "-q, --quiet", []),
        ("paragraph", "No whistle.", ["-q, --quiet"]),
        ("term", "--level=N", []),
        ("paragraph", "How full.", ["--level=N"]),
    ]
    assert "lid : part\nKeeps" in parsed.text


def test_items_and_code_hang_on_what_leads_to_them() -> None:
    parsed = rst(
        "To boil:\n\n1. Fill it::\n\n     pour()\n\n   Not too full.\n\n   - Cold water\n2. Wait.\n\n"
        "Then look:\n\n.. code-block:: console\n   :caption: A look\n   :linenos:\n\n   $ look\n\n     deep\n\n"
        ">>> 1 + 1\n2\n"
    )
    assert hanging(parsed) == [
        ("paragraph", "To boil:", []),
        ("list_item", "1. Fill it:", ["To boil:"]),
        ("code", "pour()", ["To boil:", "1. Fill it:"]),
        ("list_item", "Not too full.", ["To boil:", "1. Fill it:"]),
        ("list_item", "  - Cold water", ["To boil:", "1. Fill it:", "Not too full."]),
        ("list_item", "2. Wait.", ["To boil:"]),
        ("paragraph", "Then look:", []),
        ("caption", "A look", ["Then look:"]),
        ("code", "$ look\n\n  deep", ["Then look:", "A look"]),
        ("code", ">>> 1 + 1\n2", []),
    ]


TABLES = {
    "grid": "+------+-------+\n| part | price |\n+======+=======+\n| lid  | 2     |\n+------+-------+\n",
    "simple": "====  =====\npart  price\n====  =====\nlid   2\n====  =====\n",
    "csv": ".. csv-table:: Parts\n   :header: part, price\n\n   lid, 2\n",
    "list": ".. list-table:: Parts\n   :header-rows: 1\n\n   * - part\n     - price\n   * - lid\n     - 2\n",
    "table": ".. table:: Parts\n\n   ====  =====\n   part  price\n   ====  =====\n   lid   2\n   ====  =====\n",
}


@pytest.mark.parametrize("markup", TABLES)
def test_rows_hang_on_the_caption_or_lead_in_and_the_header(markup: str) -> None:
    read = hanging(rst("What it costs:\n\n" + TABLES[markup]))
    above = ["What it costs:", *(["Parts"] if "Parts" in TABLES[markup] else [])]
    assert read[-2:] == [("table_row", "part | price", above), ("table_row", "lid | 2", [*above, "part | price"])]


def test_a_cell_over_two_rows_is_told_in_both() -> None:
    grid = "+---+---+\n| a | b |\n|   +---+\n|   | c |\n+---+---+\n"
    assert [words for _, words, _ in hanging(rst(grid))] == ["a | b", "a | c"]


def test_a_table_in_a_cell_is_told_once_and_an_indented_list_hangs_on_its_lead_in() -> None:
    table = "====  =======\nlid   either:\n\n      ==  ==\n      a   b\n      ==  ==\n====  =======\n"
    assert rst(table).text.split() == ["lid", "|", "either:", "a", "|", "b"]
    assert hanging(rst("Parts:\n\n  - lid\n  - foot\n"))[1:] == [
        ("list_item", "- lid", ["Parts:"]),
        ("list_item", "- foot", ["Parts:"]),
    ]


def test_names_of_the_file_hide_nothing() -> None:
    parsed = rst(".. _navigation:\n\nOne.\n\n.. _footer:\n\n- Two.\n\n.. _sidebar:\n\n== ==\na  b\n== ==\n")
    assert [block.anchor for block in parsed.blocks] == ["navigation", "footer", "sidebar"]


def test_a_table_that_is_broken_keeps_its_words() -> None:
    parsed = rst("Before.\n\n====  ====\na     b\n====  ===\nc     d\n====  ====\n\nAfter.\n")
    assert {"Before.", "a", "b", "c", "d", "After."} <= set(parsed.text.split())


def test_admonitions_and_changes_are_labels() -> None:
    parsed = rst(
        ".. note:: It is hot.\n\n   Very.\n\n.. admonition:: For cooks\n\n   - Salt\n\n"
        ".. versionchanged:: 2.1 It whistles.\n\n   Loudly.\n\n.. deprecated:: 3\n"
    )
    assert hanging(parsed) == [
        ("label", "Note", []),
        ("paragraph", "It is hot.", ["Note"]),
        ("paragraph", "Very.", ["Note"]),
        ("label", "For cooks", []),
        ("list_item", "- Salt", ["For cooks"]),
        ("label", "Changed in version 2.1", []),
        ("paragraph", "It whistles.", ["Changed in version 2.1"]),
        ("paragraph", "Loudly.", ["Changed in version 2.1"]),
        ("label", "Deprecated since version 3", []),
    ]


def test_what_sphinx_describes_is_a_term_and_its_members_hang_on_it() -> None:
    parsed = rst(
        ".. py:class:: Kettle(size, \\*parts)\n\n   Boils.\n\n   .. py:method:: fill(level=1)\n      :noindex:\n\n"
        "      Fills it.\n\n      :param level: how full\n\n   .. versionadded:: 2\n\n"
        ".. confval:: whistle\n   :type: bool\n   :default: ``True``\n\n   Whether it whistles.\n\n"
        ".. option:: -q\n            --quiet\n\n   Hush.\n\n.. brand-new:thing:: x\n\n   Unknown.\n"
    )
    kettle = "Kettle(size, *parts)"
    assert hanging(parsed) == [
        ("term", kettle, []),
        ("paragraph", "Boils.", [kettle]),
        ("term", "fill(level=1)", [kettle]),
        ("paragraph", "Fills it.", [kettle, "fill(level=1)"]),
        ("term", "param level", [kettle, "fill(level=1)"]),
        ("paragraph", "how full", [kettle, "fill(level=1)", "param level"]),
        ("label", "Added in version 2", [kettle]),
        ("term", "whistle: bool", []),
        ("paragraph", "Default: True", ["whistle: bool"]),
        ("paragraph", "Whether it whistles.", ["whistle: bool"]),
        ("term", "-q", []),
        ("term", "--quiet", []),
        ("paragraph", "Hush.", ["-q", "--quiet"]),
        ("term", "x", []),
        ("paragraph", "Unknown.", ["x"]),
    ]
    assert parsed.blocks[0].anchor == "Kettle"


def test_a_directive_that_marks_a_section_is_its_anchor_only() -> None:
    parsed = rst(".. setting:: lid_size\n\n``lid_size``\n------------\n\nDefault: 3.\n\n.. autofunction:: boil\n")
    assert hanging(parsed) == [
        ("heading", "lid_size", []),
        ("paragraph", "Default: 3.", []),
        ("term", "boil", []),
    ]
    assert parsed.blocks[1].anchor == "setting-lid-size"


def test_terms_of_a_glossary_share_their_definition() -> None:
    parsed = rst(".. glossary::\n\n   lid\n   cover\n      Keeps steam in.\n\n   foot\n      Stands.\n")
    assert hanging(parsed) == [
        ("term", "lid", []),
        ("term", "cover", []),
        ("paragraph", "Keeps steam in.", ["lid", "cover"]),
        ("term", "foot", []),
        ("paragraph", "Stands.", ["foot"]),
    ]


@pytest.mark.parametrize(
    ("markup", "shown"),
    [
        (":meth:`~pot.Kettle.fill`", "fill()"),
        (":py:class:`pot.Kettle`", "pot.Kettle"),
        (":class:`!Kettle`", "Kettle"),
        (":func:`the filling <pot.fill>`", "the filling"),
        (":doc:`/guide/start`", "start"),
        (":pep:`8`", "PEP 8"),
        (":issue:`12`", "#12"),
        (":file:`/etc/{name}.conf`", "/etc/name.conf"),
        (":no-such-role:`text`", "text"),
        ("`text`", "text"),
        ("``a\\b``", "a\\b"),
        ("**bold** and *thin*", "bold and thin"),
        ("`a page <https://example.org>`_", "a page <https://example.org>"),
        ("10 :sup:`6`", "10 [6]"),
        ("10\\ :sup:`6`", "10^6"),
        ("CO\\ :sub:`2`", "CO2"),
        (":math:`\\frac{1}{2}`", "1/2"),
        ("a page_ and `two words`__", "a page and two words"),
        ("unclosed *star and ``tick", "unclosed *star and ``tick"),
        ("*a \\* b*", "a * b"),
        ("|name|", "|name|"),
        ("note [#a]_, [1]_ and [CIT]_", "note [#a], [1] and [CIT]"),
        ("https://example.org/a_b", "https://example.org/a_b"),
        ("{% if x %} {{ y|z }} {% endif %}", "{% if x %} {{ y|z }} {% endif %}"),
    ],
)
def test_inline_markup_is_shown_as_it_is_read(markup: str, shown: str) -> None:
    assert rst(f"It is {markup} here.").text == f"It is {shown} here."


def test_substitutions_are_replaced_and_never_multiply() -> None:
    parsed = rst(
        ".. |pot| replace:: the *kettle*\n.. |copy| unicode:: 0xA9 .. sign\n.. |pic| image:: x.png\n   :alt: a lid\n\n"
        "Use |pot| |copy| |pic|.\n"
    )
    assert parsed.text == "Use the kettle © a lid."
    bomb = "".join(f".. |s{n}| replace:: |s{n - 1}|\\ |s{n - 1}|\n" for n in range(1, 60))
    assert len(rst(f".. |s0| replace:: boom\n{bomb}\nSee |s59|.\n").text) < 200


def test_footnotes_and_quotes() -> None:
    parsed = rst(
        "Hot [1]_.\n\n.. [1] At sea level.\n\n   Or near it.\n\nSaid:\n\n   It boils.\n\n   -- A cook\n\nEnd.\n"
    )
    assert hanging(parsed) == [
        ("paragraph", "Hot [1].", []),
        ("footnote", "[1] At sea level.\nOr near it.", []),
        ("paragraph", "Said:", []),
        ("quote", "It boils.", ["Said:"]),
        ("quote", "— A cook", ["Said:"]),
        ("paragraph", "End.", []),
    ]


def test_what_a_reader_does_not_see_is_not_in_the_text() -> None:
    parsed = rst(
        ":orphan:\n\n.. a comment\n   of two lines\n\n.. role:: raw-html(raw)\n   :format: html\n\n"
        ".. toctree::\n\n   a\n\n.. contents::\n   :local:\n\n.. index:: pots\n\n.. raw:: html\n\n   <b>\n\n"
        ".. image:: a.png\n   :alt: A kettle\n\n.. figure:: b.png\n\n   Its caption\n\n   Its legend.\n\n"
        "Shown :raw-html:`<br>`:strike:`gone` text.\n"
    )
    assert hanging(parsed) == [
        ("caption", "A kettle", []),
        ("caption", "Its caption", []),
        ("paragraph", "Its legend.", ["Its caption"]),
        ("paragraph", "Shown text.", []),
    ]
    assert parsed.left_out == passages_left_out(1)
    assert rst("Text.").left_out == ()


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: {}",
        ".. literalinclude:: {}",
        ".. csv-table::\n   :file: {}",
        ".. csv-table::\n   :url: file://{}",
        ".. raw:: html\n   :file: {}",
        ".. raw:: html\n   :url: file://{}",
        ".. figure:: {}\n   :figwidth: image",
        ".. code:: python\n   :include: {}",
        ".. |x| include:: {}\n\n|x|",
    ],
)
def test_no_directive_reads_a_file(tmp_path: Path, directive: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("swordfish,1\n")
    assert "swordfish" not in rst("Text.\n\n" + directive.format(secret) + "\n").text


def test_what_is_read_registers_nothing_with_docutils() -> None:
    known = dict(directives._directives), dict(roles._roles)
    rst(".. role:: mine\n\n.. default-role:: mine\n\n.. py:data:: x\n\n:mine:`a` `b`\n")
    assert known == (directives._directives, roles._roles)


def test_files_are_read_in_threads_at_once() -> None:
    texts = {n: f".. role:: raw-x(raw)\n\n.. |n| replace:: {n}\n\n" + f":raw-x:`y` |n|\n\n- a\n\n.. note:: {n}\n\n" * 30
             for n in range(8)}  # fmt: skip
    alone = {n: rst(text) for n, text in texts.items()}
    at_once: dict[int, Parsed] = {}
    threads = [threading.Thread(target=lambda n=n: at_once.update({n: rst(texts[n])})) for n in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert at_once == alone


@pytest.mark.parametrize(
    "text",
    [
        "a\n  b\n c\n   d\n",
        "====\n",
        "====\na\n",
        "Title\n=====\nOther\n---",
        ".. |x| replace::\n\n|x|",
        ".. _a: `b\n\ntext",
        "9" * 9_000 + ". word\n",
        "- " * 3_000 + "deep\n",
        "".join("   " * n + ".. note::\n\n" for n in range(150)) + "   " * 150 + "deep\n",
        "".join(" " * n + "- deep\n\n" for n in range(300)),
        "| " + "\n| ".join(" " * n + "deep" for n in range(500)),
        "+-+\n|a\n",
        ("+-" * 60 + "+\n") * 120 + "words\n",
        "= " * 4_000 + "=\n" + "word\n" * 5_000 + "= " * 4_000 + "=\n",
        "word *" * 10_000,
        "-a, " * 20_000 + "-b  word\n",
        "word\n\n" * 8_000,
        ".. c\n\nword\n\n" * 2_000,
        ".. note::\n\n" + "   - word\n\n   .. c\n\n" * 1_500,
        ".. csv-table::\n\n" + '   "word\n' * 3_000,
    ],
    ids=range(20),
)
def test_broken_and_hostile_text_is_read_in_bounded_time(text: str) -> None:
    parsed = parse(("Start.\n\n" + text).encode(), name="x.rst")
    hanging(parsed)
    for word in ("word", "deep"):
        assert (word in parsed.text) == (word in text)


PIECES = st.sampled_from(
    ["word ", "*", "**", "`", "``", "|", "_", ":role:", "::", "\n", "\n\n", "\n   ", "\n====\n", "- ", "1. ", ".. ",
     ".. note:: ", ".. _t: ", ".. [1] ", ".. |s| replace:: ", "+---+\n| a |\n+---+\n", "== ==\n", ":f: ", "-a  ",
     ">>> ", "\t", "\\", "é", "灯", "<u>", "[1]_ "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40))
def test_any_mixture_of_markup_is_blocks_in_order(pieces: list[str]) -> None:
    hanging(rst("Start.\n\n" + "".join(pieces)))


@pytest.mark.parametrize(
    ("signature", "anchor"),
    [
        ("--depth=<n>  [default: 12]", "cmdoption-depth"),
        ("-v, --verbose", "cmdoption-v"),
        ("--check=<no|yes>", "cmdoption-check"),
        ("-D <size>", "cmdoption-D"),
        ("/quiet", "cmdoption-quiet"),
        ("file", "cmdoption-arg-file"),
    ],
)
def test_an_option_has_the_anchor_that_sphinx_gives_it(signature: str, anchor: str) -> None:
    parsed = rst(f"Kettle\n======\n\n.. option:: {signature}\n\n   How full.\n\nIt whistles.\n")
    assert [block.anchor for block in parsed.blocks] == ["kettle", anchor, anchor, "kettle"]


def test_an_option_of_a_program_has_its_name_in_its_anchor() -> None:
    parsed = rst(
        ".. program:: kettle boil\n\nIt takes:\n\n.. option:: -q\n\n   Hush.\n\n.. program:: None\n\n"
        ".. option:: -v\n\n   Loud.\n\n.. code-block:: sh\n   :name: look\n\n   look\n\nEnd.\n"
    )
    assert [block.anchor for block in parsed.blocks] == [
        "",
        *["cmdoption-kettle-boil-q"] * 2,
        *["cmdoption-v"] * 2,
        "look",
        "",
    ]


def test_what_is_described_without_a_body_is_the_anchor_of_what_comes_after_it() -> None:
    parsed = rst("Signals\n=======\n\nboiled\n------\n\n.. signal:: boiled\n\nIt is sent late.\n\nOnce.\n")
    assert [block.anchor for block in parsed.blocks] == ["signals", "boiled", *["signal-boiled"] * 3]
