"""Words that hold a sentence together, by which two sentences may differ without differing in what they are about."""


def words(text: str) -> frozenset[str]:
    """Give the words of a list as a set."""
    return frozenset(text.split())


# What may be left out or put in without changing what is claimed.
DROPPABLE = words("a an the 's also đã cũng những các 也 that của rằng thì cái chiếc 的 了 之 地 得 , /")
_HOLDING = words(
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
# Several are names when written with a capital in the midst of a sentence: Anh is England, Nam a man.
VIETNAMESE_FUNCTION_WORDS = words(
    """
    ai gì là có của và các những một được bị đã đang sẽ cho với trong trên dưới ở tại khi thì mà này kia đó ấy như thế
    từ
    đến về ra vào lên xuống do vì bởi để không phải cũng rằng hay hoặc nếu nhưng vậy cái con theo sau trước giữa còn rất
    nhiều một số hầu hết tất cả mỗi mọi tuy nhiên ngoài năm ngày tháng việc sự người ông bà anh chị họ nó chúng tôi bạn
    """
)
FUNCTION_WORDS = _HOLDING | VIETNAMESE_FUNCTION_WORDS
FUNCTION_LETTERS = frozenset(
    "的了是在和与及或被把从到对于为以有这那其之也都而并中所就将不个上下等由则但又很更最它他她们我你此该各每些个可会能要没还只使让给向往着过地得里内后前时"
)
