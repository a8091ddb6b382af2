"""Stop words by language: words that frame a question or join a sentence without naming its subject."""

import re
from collections.abc import Mapping


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


# Words that can be added or dropped without changing a claim.
DROPPABLE = word_set("a an the 's also đã cũng những các 也 that của rằng thì cái chiếc 的 了 之 地 得 , /")
_ENGLISH_FUNCTION_WORDS = word_set(
    """
    a an the 's 'd of in on at by for to from with without into onto upon about as and or but nor so than then that this
    these those there here is are was were be been being am do does did done have has had having will would shall should
    can could may might must what which who whom whose when where why how it its he she they them him his her their our
    your we us you i me my if while during not no yes also just any some such other both each all more most only same
    after before since until between through over under against because although though however although one
    according very too many much several few every either neither yet thus hence therefore moreover furthermore
    despite unlike like near along among around across behind beyond within toward towards per via
    """
)
# Several are names when capitalised inside a sentence: Anh is England, Nam a man.
VIETNAMESE_FUNCTION_WORDS = word_set(
    """
    ai gì là có của và các những một được bị đã đang sẽ cho với trong trên dưới ở tại khi thì mà này kia đó ấy như thế
    từ đến về ra vào lên xuống do vì bởi để không phải cũng rằng hay hoặc nếu nhưng vậy cái con theo sau trước giữa còn
    rất nhiều một số hầu hết tất cả mỗi mọi tuy nhiên ngoài năm ngày tháng việc sự người ông bà anh chị họ nó chúng tôi
    bạn
    """
)
FUNCTION_WORDS = _ENGLISH_FUNCTION_WORDS | VIETNAMESE_FUNCTION_WORDS
FUNCTION_LETTERS = frozenset(
    "的了是在和与及或被把从到对于为以有这那其之也都而并中所就将不个上下等由则但又很更最它他她们我你此该各每些个可会能要没还只使让给向往着过地得里内后前时"
)


STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": word_set(
        """
        a an the of in on at by for to from with without into onto about as and or but nor so than then that this these
        those there here is are was were be been being am do does did done doing have has had having will would shall
        should can could may might must what which who whom whose when where why how many much long often old it its he
        she they them him his her hers their theirs we us our ours you your yours i me my mine if while during not no
        yes s t d ll re ve m don didn doesn isn aren wasn weren please tell explain describe give show list name also
        just really any some such other type kind sort called want wants need needs look looks like get gets got let
        make makes made use uses used using way ways work works take takes give gives given happen happens happened
        """
    ),
    "vi": word_set(
        """
        ai gì nào đâu sao là có của và các những một được bị đã đang sẽ cho với trong trên dưới ở tại khi thì mà này kia
        đó ấy bao nhiêu mấy như thế từ đến về ra vào lên xuống do vì bởi để không phải cũng rằng hay hoặc nếu nhưng vậy
        ạ à nhỉ hãy xin vui lòng bạn tôi chúng ta họ nó ông bà anh chị em người việc cái con loại
        """
    ),
    "de": word_set(
        """
        der die das den dem des ein eine einen einem einer und oder ist sind war waren wird wurde wurden hat haben wie
        was wer wo wann warum welche welcher welches für von zu mit auf im in an am bei es sich nicht man
        """
    ),
    "fr": word_set(
        """
        le la les un une des du de d l et ou est sont était étaient que qui quoi quel quelle quels quelles où quand
        comment pourquoi combien dans sur par pour avec ce cette ces il elle ils elles a à au aux en y se s ne pas
        """
    ),
    "es": word_set(
        """
        el la los las un una unos unas y o es son era eran fue fueron qué que quién cuál cuáles dónde cuándo cómo cuánto
        cuántos cuántas por para con en de del al a se su sus lo no
        """
    ),
}
# Question framing in scripts without spaces; a longer form comes before a shorter one that begins it.
CJK_STOP = re.compile(
    "什么时候|什么样|什么|甚么|哪一年|哪年|哪一个|哪一|哪些|哪里|哪儿|哪个|哪种|哪位|哪|多少|多久|多长|多大|多高|几个|几|"
    "谁的|谁|如何|怎么样|怎样|怎么|为什么|为何|何时|何地|何处|是否|是不是|有没有|请问|请|吗|呢|吧|啊|"
    "的|了|是|在|和|与|及|或|被|把|从|到|对|于|为|以|有|这|那|其|之|也|都|而|并|中|所|"
    "です|ますか|ます|でした|ました|いつ|どこ|何|誰|なぜ|どの|どう|は|が|を|に|の|で|と|も|か"
)


def stop_words(language: str) -> frozenset[str]:
    """Return a language's stop words, or the English ones where none are known."""
    return STOP_WORDS.get(language, STOP_WORDS["en"])
