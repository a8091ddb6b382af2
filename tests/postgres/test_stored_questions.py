"""A library that stores questions with their answers: what is shown is the answer, never the question alone."""

from collections.abc import AsyncIterator
from typing import NamedTuple
from uuid import uuid4

import pytest
from pydantic import SecretStr

from answers.answerhood import answerhood_of
from graph.context import Context
from graph.entrypoint import Citewell, open_citewell
from graph.evidence import Identity, Message
from graph.state import State
from tools.library.ingestion import NewDocument
from tools.runs.completion import finished_message
from tools.settings import Settings

WRITE = "Write to billing@volan.example ten days before the month ends."
NINE = "The office on Elm Street opens at nine."
MARKS = frozenset("?？؟;")
PAIRS = {
    "How do I cancel my subscription?": WRITE,
    "When does the office open?": NINE,
    "Can I bring my dog?": "Dogs are welcome on Fridays and must stay on a lead.",
    "Is the Volan fee 70 euros?": "No. It was raised to 85 euros in May.",
}
ASKED = (("How do I cancel my subscription?", "billing@"), ("cancel subscription", "billing@"))
OTHER = (
    ("Is the Volan fee 70 euros?", "85 euros"),
    ("When does the office on Elm Street open?", "at nine"),
    ("Are dogs welcome?", "on Fridays"),
    ("Which subscription can I cancel?", "billing@"),
)
GERMAN = {
    "Wie kündige ich mein Abonnement?": "Schreiben Sie zehn Tage vor Monatsende an billing@volan.example.",
    "Wann öffnet das Büro?": "Das Büro in der Ulmenstraße öffnet um neun.",
    "Darf mein Hund mitkommen?": "Hunde sind freitags willkommen und bleiben an der Leine.",
}
CHINESE = {
    "如何取消订阅？": "请在月底前十天写信到 billing@volan.example。",
    "办公室几点开门？": "榆树街的办公室上午九点开门。",
    "可以带狗吗？": "星期五欢迎带狗，但要牵好绳子。",
}
VIETNAMESE = {
    "Làm thế nào để hủy đăng ký?": "Hãy viết thư tới billing@volan.example mười ngày trước cuối tháng.",
    "Văn phòng mở cửa lúc mấy giờ?": "Văn phòng ở phố Elm mở cửa lúc chín giờ sáng.",
    "Tôi có được mang chó theo không?": "Chó được chào đón vào thứ Sáu và phải có dây dắt.",
}
SPANISH = {
    "¿Cómo cancelo mi suscripción?": "Escriba a billing@volan.example diez días antes de fin de mes.",
    "¿A qué hora abre la oficina?": "La oficina de la calle Elm abre a las nueve.",
    "¿Puedo llevar a mi perro?": "Los perros son bienvenidos los viernes y van con correa.",
}
ARABIC = {
    "كيف ألغي اشتراكي؟": "اكتب إلى billing@volan.example قبل نهاية الشهر بعشرة أيام.",
    "متى يفتح المكتب؟": "يفتح المكتب في شارع الدردار الساعة التاسعة صباحا.",
    "هل يمكنني إحضار كلبي؟": "الكلاب مرحب بها يوم الجمعة ويجب أن تكون مقيدة.",
}
GREEK = {
    "Πώς ακυρώνω τη συνδρομή μου;": "Γράψτε στο billing@volan.example δέκα ημέρες πριν από το τέλος του μήνα.",
    "Πότε ανοίγει το γραφείο;": "Το γραφείο στην οδό Έλμ ανοίγει στις εννέα.",
}


class Shape(NamedTuple):
    """A document that stores questions, and what is asked of it, each with what an answer has to say."""

    name: str
    text: str
    asked: tuple[tuple[str, str], ...] = (*ASKED, *OTHER)
    file: str = "faq.md"


def laid(
    pairs: dict[str, str], question: str = "{}", answer: str = "{}", between: str = "\n\n", end: str = "\n\n"
) -> str:
    """Lay out questions and answers, each in its form; ``{n}`` is the number of a pair."""
    return "".join(
        question.replace("{n}", str(n)).replace("{}", asks) + between + answer.replace("{}", says) + end
        for n, (asks, says) in enumerate(pairs.items(), start=1)
    )


SHAPES = [
    Shape("paragraphs", laid(PAIRS)),
    Shape("paragraphs under a heading", "# Frequently asked\n\n" + laid(PAIRS)),
    Shape("one pair alone", f"How do I cancel my subscription?\n\n{WRITE}\n", ASKED),
    Shape("plain text", laid(PAIRS), file="faq.txt"),
    Shape("plain text, the answer in the next line", laid(PAIRS, between="\n"), file="faq.txt"),
    Shape("the answer in the next line", laid(PAIRS, between="\n")),
    Shape("the answer in the same line", laid(PAIRS, between=" ")),
    Shape("bold", laid(PAIRS, "**{}**")),
    Shape("bold, the answer in the next line", laid(PAIRS, "**{}**", between="\n")),
    Shape("bold, the answer after a hard break", laid(PAIRS, "**{}**", between="  \n")),
    Shape("italic", laid(PAIRS, "_{}_")),
    Shape("Q: and A: in lines", laid(PAIRS, "Q: {}", "A: {}", "\n")),
    Shape("Q: and A: in paragraphs", laid(PAIRS, "Q: {}", "A: {}")),
    Shape("Q. and A. in paragraphs", laid(PAIRS, "Q. {}", "A. {}")),
    Shape("Q: and A: in one line", laid(PAIRS, "Q: {}", "A: {}", " ")),
    Shape("bold Q: and A:", laid(PAIRS, "**Q:** {}", "**A:** {}")),
    Shape("Question: and Answer:", laid(PAIRS, "Question: {}", "Answer: {}")),
    Shape("numbered Q1 and A1", laid(PAIRS, "Q{n}: {}", "A{n}: {}", "\n")),
    Shape("numbered paragraphs", laid(PAIRS, "{n}) {}")),
    Shape("numbered list", laid(PAIRS, "{n}. {}", "   {}")),
    Shape("numbered list, the answer in the same item", laid(PAIRS, "{n}. {}", between=" ", end="\n")),
    Shape("bullets with a nested answer", laid(PAIRS, "- {}", "  - {}", "\n", "\n")),
    Shape("bullets with the answer behind", laid(PAIRS, "- {}", between="\n\n  ", end="\n\n")),
    Shape("bullets in turn", laid(PAIRS, "- {}", "- {}", "\n", "\n")),
    Shape("mail with quoted questions", laid(PAIRS, "> {}")),
    Shape("mail, two marks deep", laid(PAIRS, ">> {}", "> {}", "\n>\n", "\n")),
    Shape("chat", laid(PAIRS, "anna: {}", "ben: {}", "\n"), file="chat.txt"),
    Shape("chat with times", laid(PAIRS, "[10:0{n}] anna: {}", "[10:1{n}] ben: {}", "\n"), file="chat.txt"),
    Shape("table", "| Question | Answer |\n|---|---|\n" + laid(PAIRS, "| {} |", " {} |", "", "\n")),
    Shape("HTML paragraphs", laid(PAIRS, "<p>{}</p>", "<p>{}</p>", "\n"), file="faq.html"),
    Shape("HTML details", laid(PAIRS, "<details><summary>{}</summary>", "<p>{}</p></details>", "\n"), file="faq.html"),
    Shape("HTML strong", laid(PAIRS, "<p><strong>{}</strong><br>", "{}</p>", "\n"), file="faq.html"),
    Shape("HTML dt", "<dl>" + laid(PAIRS, "<dt>{}</dt>", "<dd>{}</dd>", "\n") + "</dl>", file="faq.html"),
    Shape("headings", laid(PAIRS, "## {}"), (*ASKED, *OTHER[:3])),
    Shape(
        "answer as a list",
        "How do I cancel my subscription?\n\n- Open your account.\n- Choose *Plan*, then *Leave*.\n\n"
        + laid(PAIRS)[100:],
        (("How do I cancel my subscription?", "Open your account"),),
    ),
    Shape(
        "labels without question marks",
        laid({"Cancelling a subscription": WRITE, "Opening hours of the office": NINE}, "Q: {}", "A: {}"),
        (("cancelling a subscription", "billing@"), ("opening hours of the office", "at nine")),
    ),
    Shape(
        "a list whose two labels take turns",
        "# Changes\n\nAdded: dark mode for the page.\n\nFixed: crash on start.\n\nAdded: export to CSV.\n\n"
        "Fixed: slow search.\n\nAdded: login with passkeys.\n",
        (("Which login was added?", "passkeys"), ("Which export was added?", "CSV")),
    ),
    Shape(
        "a last question that somebody reads out",
        "Q: Opening hours of the office\n\nA: The office opens at nine.\n\nQ: Parking\n\nA: It is free after six.\n\n"
        "Q: The keys are kept by Ms Adeyemi in room 12\n",
        (("Where are the keys kept?", "room 12"),),
    ),
    Shape(
        "a statement that ends in a title",
        "# Films\n\nThe festival opens with the film “Who's Afraid of Virginia Woolf?”\n\nIt closes on Sunday.\n",
        (("Which film opens the festival?", "Virginia Woolf"),),
    ),
    Shape(
        "a statement that ends in code",
        "# Queries\n\nThe search sends the statement `SELECT name FROM plan WHERE name LIKE '?'`\n\nIt is slow.\n",
        (("Which statement does the search send?", "LIKE"),),
    ),
    Shape("German", laid(GERMAN, "Frage: {}", "Antwort: {}"), (("Wie kündige ich mein Abonnement?", "billing@"),)),
    Shape(
        "German, bold",
        laid(GERMAN, "**{}**"),
        (("Wie kündige ich mein Abonnement?", "billing@"), ("Wann öffnet das Büro morgens?", "um neun")),
    ),
    Shape(
        "Chinese",
        laid(CHINESE),
        (("如何取消订阅？", "billing@"), ("怎么取消我的订阅？", "billing@"), ("办公室几点开门？", "九点")),
    ),
    Shape(
        "Chinese 问 and 答",
        laid(CHINESE, "问：{}", "答：{}", "\n"),
        (("如何取消订阅？", "billing@"), ("可以带狗吗？", "星期五")),
    ),
    Shape(
        "Vietnamese",
        laid(VIETNAMESE),
        (("Làm thế nào để hủy đăng ký?", "billing@"), ("Văn phòng mở cửa lúc mấy giờ?", "chín giờ")),
    ),
    Shape(
        "Vietnamese Hỏi and Đáp", laid(VIETNAMESE, "Hỏi: {}", "Đáp: {}"), (("Làm thế nào để hủy đăng ký?", "billing@"),)
    ),
    Shape(
        "Spanish",
        laid(SPANISH),
        (("¿Cómo cancelo mi suscripción?", "billing@"), ("¿A qué hora abre la oficina?", "a las nueve")),
    ),
    Shape("Arabic", laid(ARABIC), (("كيف ألغي اشتراكي؟", "billing@"), ("متى يفتح المكتب؟", "التاسعة"))),
    Shape("Greek", laid(GREEK), (("Πώς ακυρώνω τη συνδρομή μου;", "billing@"), ("Πότε ανοίγει το γραφείο;", "εννέα"))),
]


MAIL = """Dear Ms Okafor,

thank you for your message of Tuesday. My answers are below your questions.

> Which adapter do I need for the Lumen kettle?

Any adapter of type G does, as long as it carries 13 amperes.

> Will the warranty hold if I open the lid myself?

It will not. Only the workshop in Ghent may open the lid.

> How long does a repair take these days?

Nine working days, plus the post.

Kind regards
Ilse
"""
THREAD = """# Forum: moving to version 6

Has anybody got the nightly backup running on version 6? Mine stops after an hour with no message at all.

The job needs a larger lock table now. Set lock_slots to 4096 and start the service again.

Thanks, that did it. Where do the old archives go, by the way?

They are kept under /srv/vault/old for ninety days.
"""
INTERVIEW = """# Interview with the harbour master

**Mr Brandt, how many ships call here in a year?** In a good year it is about 2,300. Most of them carry timber.

**And what was the worst storm that you have seen?** The one of January 1987. The crane on pier 4 went into the water.

**Who decides whether the gates are shut?** I do, together with the lock keeper in Wedel.
"""
SUPPORT = """Visitor: Hi, my parcel has not come. What do I do?
Agent Kim: Open a search on the page Parcels, and we look for it within two days.
Visitor: Ok. And does it cost anything?
Agent Kim: The search is free for members. Others pay 4 euros.
Visitor: Who pays for a lost parcel?
Agent Kim: We do, up to 500 euros.
"""
KNOWLEDGE = """# Help centre

Frequently asked questions

1. Do you ship to Iceland?

We ship to Iceland twice a month, by sea from Esbjerg.

2. What if the glass arrives broken?

Send a picture to glass@karafe.example within a week. We send a new one at once.

3. Can the lid go into the dishwasher?

The lid can, on the upper rack. The body has to be washed by hand.
"""
RHETORICAL = """# Uploads

So how exactly does the framework handle uploads? It keeps them in memory if they are small, and in a temporary folder
if they are not. Why does that matter? A request without a limit can fill the disk. Set MAX_LENGTH to refuse others.
"""
STEPS = """How is the filter changed?

1. Turn the tap off.
2. Unscrew the grey cap.
3. Put the new filter in with the arrow up.

How often is that due?

Every six months, or after 900 litres.
"""
UNANSWERED = """# Open points

The pool is cleaned on Mondays by the firm Aquila.

Who has the key of the pump room?
"""
SHEET = """Frage,Antwort
Wo wird der Ausweis abgeholt?,Am Schalter 3 im Erdgeschoss.
Was kostet ein neuer Ausweis?,Ein neuer Ausweis kostet 28 Euro.
"""
JAPANESE = """Q．返品はできますか？

A．商品到着後八日以内であれば返品できます。

Q．送料はいくらですか？

A．全国一律六百円です。
"""
FRENCH = """Comment obtenir un duplicata ?

Adressez-vous au guichet B avec une pièce d'identité.

Quel est le délai pour un duplicata ?

Comptez trois semaines.
"""
NESTED = """- Parking
  - Where can visitors park?
    Visitors park behind the mill, on the gravel.
  - Is there a charge for parking?
    Parking is free after six in the evening.
"""
NOTES = """# Standup 14 March

Priya: Is the export fixed?

Tom: Since Tuesday. It writes UTF-8 now.

Priya: Who tests it on Windows?

Tom: Marek does, this afternoon.
"""

# Written as other documents are, before the code was.
UNSEEN = [
    Shape(
        "mail reply",
        MAIL,
        (("Which adapter do I need for the Lumen kettle?", "type G"), ("adapter for the kettle", "type G")),
    ),
    Shape("mail reply, a second question", MAIL, (("How long does a repair take?", "Nine working days"),)),
    Shape("mail reply, other words", MAIL, (("Does opening the lid end the warranty?", "workshop in Ghent"),)),
    Shape("mail as a plain file", MAIL, (("Which adapter do I need for the Lumen kettle?", "type G"),), "reply.txt"),
    Shape("forum", THREAD, (("Has anybody got the nightly backup running on version 6?", "lock_slots"),)),
    Shape("forum, within an answer", THREAD, (("Where do the old archives go?", "/srv/vault/old"),)),
    Shape("interview", INTERVIEW, (("How many ships call here in a year?", "2,300"), ("worst storm", "January 1987"))),
    Shape("interview, who", INTERVIEW, (("Who decides whether the gates are shut?", "lock keeper"),)),
    Shape("support chat", SUPPORT, (("What do I do if my parcel has not come?", "two days"),), "chat.txt"),
    Shape("support chat, later on", SUPPORT, (("Who pays for a lost parcel?", "500 euros"),), "chat.txt"),
    Shape(
        "help centre",
        KNOWLEDGE,
        (("Do you ship to Iceland?", "twice a month"), ("twice a month to Iceland", "twice a month")),
    ),
    Shape("help centre, other words", KNOWLEDGE, (("My glass arrived broken, what now?", "Send a picture"),)),
    Shape("help centre, two sentences", KNOWLEDGE, (("Can the lid go into the dishwasher?", "upper rack"),)),
    Shape("questions of the author's own", RHETORICAL, (("How does the framework handle uploads?", "in memory"),)),
    Shape("steps", STEPS, (("How is the filter changed?", "Unscrew the grey cap"),)),
    Shape("after steps", STEPS, (("How often is that due?", "six months"),)),
    Shape(
        "sheet",
        SHEET,
        (("Wo wird der Ausweis abgeholt?", "Schalter 3"), ("Was kostet ein neuer Ausweis?", "28 Euro")),
        "faq.csv",
    ),
    Shape("Japanese", JAPANESE, (("返品はできますか？", "八日以内"), ("送料はいくらですか？", "六百円"))),
    Shape("French", FRENCH, (("Comment obtenir un duplicata ?", "guichet B"),)),
    Shape("nested bullets", NESTED, (("Where can visitors park?", "behind the mill"),)),
    Shape("minutes", NOTES, (("Is the export fixed?", "Since Tuesday"), ("Who tests it on Windows?", "Marek"))),
]


@pytest.fixture(scope="module")
async def citewell(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Citewell]:
    folder = tmp_path_factory.mktemp("stored")
    settings = Settings(_env_file=None, database_url=SecretStr(shared_database_url), data_dir=folder)
    async with open_citewell(settings) as opened:
        yield opened


SPACES: dict[tuple[str, str], str] = {}  # by the text and the file of a document that is stored


async def stored(citewell: Citewell, shape: Shape) -> str:
    """Store a document in a space of its own, once; return the id of both."""
    if (shape.text, shape.file) not in SPACES:
        space = SPACES[shape.text, shape.file] = str(uuid4())
        document = NewDocument(
            data=shape.text.encode(), name=shape.file, document_id=space, space={"id": space, "slug": space}
        )
        await citewell.library.ingestor.ingest(Identity(), document)
    return SPACES[shape.text, shape.file]


async def asked(citewell: Citewell, shape: Shape, question: str, *, selects: bool = False) -> Message:
    """Ask of a document in a space of its own, or of the document as a selected page."""
    space = await stored(citewell, shape)
    given = {"question": question, "page_ids": [space] if selects else []}
    context = Context(spaces=[] if selects else [space], only_selected_pages=selects)
    state = State(**await citewell.graph.ainvoke(given, context=context))
    return await finished_message(state, citewell.library.reader, Identity(), "extractive")


def cases(shapes: list[Shape]) -> list[object]:
    return [pytest.param(shape, *each, id=f"{shape.name}: {each[0]}") for shape in shapes for each in shape.asked]


def states(message: Message) -> bool:
    """Whether no section of an answer ends in a question, and no claim is one."""
    said = [section["text"] for section in message["sections"]] + [claim["text"] for claim in message["claims"]]
    return all(text.rstrip("*_ \n")[-1:] not in MARKS for text in said)


@pytest.mark.parametrize(("shape", "question", "answer"), cases(SHAPES + UNSEEN))
async def test_a_stored_question_is_quoted_with_its_answer(
    citewell: Citewell, shape: Shape, question: str, answer: str
) -> None:
    message = await asked(citewell, shape, question)
    assert answer in message["answer"]
    assert message["citations"]
    assert states(message)


async def test_a_selected_page_is_quoted_in_the_same_way(citewell: Citewell) -> None:
    for shape in SHAPES[:3]:
        message = await asked(citewell, shape, "How do I cancel my subscription?", selects=True)
        assert "billing@" in message["answer"]
        assert states(message)


@pytest.mark.parametrize(
    "text", [UNANSWERED, UNANSWERED.replace("# Open points\n\n", "") + "\n# Heading\n\nIt rains.\n"]
)
async def test_a_question_that_nothing_follows_is_no_answer(citewell: Citewell, text: str) -> None:
    message = await asked(citewell, Shape("", text), "Who has the key of the pump room?")
    assert not any("pump room" in citation["quote"] for citation in message["citations"])
    assert "refusal" in message or answerhood_of(message["assessment"]["answerhood"] or 0.0) != "answers"
