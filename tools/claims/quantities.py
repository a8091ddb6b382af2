"""Join the tokens of a number into one, and normalize the names of units."""

import math
from collections.abc import Mapping, Sequence

from text.numbers import EN_SCALES, EN_UNITS, VI_SCALES, VI_UNITS, read_english, read_vietnamese, spell
from text.stop_words import word_set
from tools.claims.claim_tokens import Token, words_of

_UNITS_TEXT = """
%: % | percent | per cent | phần trăm | percentage points | percentage point | 个百分点 | ％
‰: ‰ | permille | per mille | phần nghìn
km: km | kilometre | kilometres | kilometer | kilometers | kms | 公里 | 千米 | ki lô mét | cây số | kilomet
m: m | metre | metres | meter | meters | mét | 米 | 公尺
cm: cm | centimetre | centimetres | centimeter | centimeters | 厘米 | 公分
cm: xentimét | xăng ti mét | xentimet | centimet | cen ti mét
mm: mm | millimetre | millimetres | millimeter | millimeters | 毫米 | milimét | milimet | mi li mét
nm: nm | nanometre | nanometres | nanometer | nanometers | 纳米 | nanomet | nanômét | na nô mét
µm: μm | micrometre | micrometres | micrometer | micrometers | micron | microns | 微米 | micromet | micrômét
mile: mile | miles | mi | dặm | 英里 | 哩
yard: yard | yards | yd | 码 | thước anh
foot: foot | feet | ft | 英尺 | 呎 | bộ
inch: inch | inches | 英寸 | 吋
nmi: nautical mile | nautical miles | hải lý | 海里
ly: light year | light years | 光年 | năm ánh sáng
km2: km2 | km² | sq km | square kilometre | square kilometres | square kilometer | square kilometers
km2: 平方公里 | 平方千米 | kilômét vuông | kilomet vuông
m2: m2 | sq m | square metre | square metres | square meter | square meters | 平方米 | mét vuông
mi2: sq mi | square mile | square miles | 平方英里 | dặm vuông
ft2: sq ft | square foot | square feet | 平方英尺 | feet vuông
ha: ha | hectare | hectares | 公顷 | héc ta | hecta
acre: acre | acres | 英亩 | mẫu anh | mẫu
m3: m3 | cubic metre | cubic metres | cubic meter | cubic meters | 立方米 | mét khối
ft3: cubic foot | cubic feet | 立方英尺
l: litre | litres | liter | liters | 升 | lít
ml: ml | millilitre | millilitres | milliliter | milliliters | 毫升
gal: gallon | gallons | 加仑 | ga lông
bbl: barrel | barrels | 桶 | thùng
kg: kg | kilogram | kilograms | kilogramme | kilogrammes | kilo | kilos | kgs | 公斤 | 千克 | ki lô gam | kilogam
g: gram | grams | gramme | grammes | 克 | gam
mg: mg | milligram | milligrams | 毫克 | miligam
t: tonne | tonnes | ton | tons | metric tons | 吨 | 噸 | tấn
lb: lb | lbs | pound | pounds | 磅 | pao
oz: oz | ounce | ounces | 盎司
s: second | seconds | secs | 秒 | 秒钟 | giây
min: minute | minutes | mins | 分钟 | phút
h: hour | hours | hrs | hr | 小时 | 小時 | 个小时 | giờ | tiếng
day: day | days | 天 | 日 | ngày
week: week | weeks | 周 | 星期 | 个星期 | tuần
month: month | months | 个月 | tháng
year: year | years | yr | yrs | 年 | năm
decade: decade | decades | thập kỷ | thập niên
century: century | centuries | 世纪 | 世紀 | thế kỷ
age: 岁 | 歲 | tuổi
°c: °c | celsius | degrees celsius | degree celsius | 摄氏度 | độ c
°f: °f | fahrenheit | degrees fahrenheit | degree fahrenheit | 华氏度 | độ f
kelvin: kelvin | kelvins | 开尔文
°: ° | degree | degrees | 度 | độ
$: $ | usd | us$ | dollar | dollars | us dollars | us dollar | 美元 | 美金 | đô la | đô la mỹ | đô
€: € | eur | euro | euros | 欧元
£: £ | gbp | pounds sterling | 英镑 | bảng anh | bảng
¥: ¥ | yen | jpy | 日元 | yên
cny: cny | rmb | yuan | renminbi | 元 | 人民币 | nhân dân tệ
₫: ₫ | vnd | dong | đồng | 越南盾
₹: ₹ | inr | rupee | rupees | 卢比 | rupee ấn độ
cent: cent | cents | 美分 | xu
hz: hz | hertz | 赫兹
khz: khz | kilohertz
mhz: mhz | megahertz | 兆赫
ghz: ghz | gigahertz
w: watt | watts | 瓦 | oát
kw: kw | kilowatt | kilowatts | 千瓦
mw: mw | megawatt | megawatts | 兆瓦
gw: gw | gigawatt | gigawatts
kwh: kwh | kilowatt hour | kilowatt hours | 千瓦时 | kilowatt giờ
v: volt | volts | 伏 | 伏特 | vôn
hp: hp | horsepower | 马力 | mã lực
pa: pascal | pascals
kpa: kpa | 千帕
bar: bar | bars
psi: psi
kmh: km/h | kmph | kph | kilometres per hour | kilometers per hour
mph: mph | miles per hour
byte: byte | bytes | 字节
kb: kb | kilobyte | kilobytes
mb: mb | megabyte | megabytes | 兆字节
gb: gb | gigabyte | gigabytes
tb: tb | terabyte | terabytes
bit: bit | bits
kbit: kbit | kbits | kbit/s
mbit: mbit | mbits | mbit/s
gbit: gbit | gbits | gbit/s
cal: calorie | calories | 卡路里 | calo
kcal: kcal | kilocalories
j: joule | joules | 焦耳 | jun
person: people | persons | person | 人 | người
times: times | lần | 次 | 倍
"""
_CURRENCIES = word_set("$ € £ ¥ cny ₫ ₹ usd us$ eur gbp jpy rmb vnd inr")


_RANGING = frozenset(("to", "or", "đến", "tới"))
_HALF = frozenset(("half", "半", "nửa"))
_PARTS = {
    word + ending: number
    for number, word in enumerate(("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"), start=3)
    for ending in ("", "s")
} | {"quarter": 4, "quarters": 4, "half": 2, "halves": 2}


def _read_units() -> dict[tuple[str, ...], str]:
    named: dict[tuple[str, ...], str] = {}
    for line in _UNITS_TEXT.strip().splitlines():
        name, _, forms = line.partition(": ")
        for form in forms.split(" | "):
            named[words_of(form)] = "u:" + name
    return named


UNITS: Mapping[tuple[str, ...], str] = _read_units()
_LONGEST = max(map(len, UNITS))


def join_numbers(tokens: Sequence[Token], *, vietnamese: bool) -> list[Token]:
    """Give the tokens with each number as one token: words read, scales multiplied, currencies put behind."""
    spelled = [token.key if token.kind == "word" else "" for token in tokens]
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        token, length = _number(tokens, spelled, at, vietnamese)
        joined.append(token)
        at += length
    return _currency_behind(_with_shared_scales(joined))


def _with_shared_scales(tokens: list[Token]) -> list[Token]:
    """Give "30 to 50 thousand" or "30 to 50,000" the scale at both its ends."""
    for at in range(2, len(tokens)):
        low, between, high = tokens[at - 2 : at + 1]
        if between.key not in _RANGING or low.kind != "number" or high.kind != "number":
            continue
        if low.value is None or high.value is None or not 0 < low.value < 1000 <= high.value:
            continue
        scale = 10.0 ** (3 * int(math.log10(high.value) // 3))
        if high.value % scale == 0 and low.value < high.value / scale:
            value = low.value * scale
            tokens[at - 2] = Token("#" + spell(value), low.start, low.end, "number", value=value)
    return tokens


def _number(tokens: Sequence[Token], spelled: Sequence[str], at: int, vietnamese: bool) -> tuple[Token, int]:
    token = tokens[at]
    value, length = token.value, 1
    if token.kind == "word":
        value, length = _worded(spelled, at, vietnamese=vietnamese)
    if share := _share(spelled, at, length, value, vietnamese=vietnamese):
        value, length = share
        return Token("#" + spell(value), token.start, tokens[at + length - 1].end, "number", value=value), length
    if value is None or (token.key.endswith("s") and token.kind == "number"):
        return token, length
    while at + length < len(spelled):
        scale = EN_SCALES.get(spelled[at + length]) or (VI_SCALES.get(spelled[at + length]) if vietnamese else None)
        if scale is None:
            break
        value *= scale
        length += 1
        if vietnamese and at + length < len(spelled) and spelled[at + length] == "rưỡi":
            value += scale / 2
            length += 1
    if length == 1 and token.kind == "number":
        return token, 1
    return Token("#" + spell(value), token.start, tokens[at + length - 1].end, "number", value=value), length


def _worded(spelled: Sequence[str], at: int, *, vietnamese: bool) -> tuple[float | None, int]:
    """Read a number in words, or the article of "a million": its value, if any, and how many words."""
    if vietnamese and (read := read_vietnamese(spelled, at)) is not None:
        return read
    if spelled[at] in ("a", "an") and at + 1 < len(spelled) and spelled[at + 1] in EN_SCALES:
        return 1.0, 1
    english = read_english(spelled, at)
    return (None, 1) if english is None else english[:2]


def _share(
    spelled: Sequence[str], at: int, length: int, value: float | None, *, vietnamese: bool
) -> tuple[float, int] | None:
    """Read "three quarters" and "hai phần ba" that begin at a word: the value and how many words."""
    after = at + length
    if after >= len(spelled):
        return None
    if spelled[at] in EN_UNITS and spelled[after] in _PARTS and (value or spelled[at] == "one"):
        return (value or 1.0) / _PARTS[spelled[after]], length + 1
    if vietnamese and after + 1 < len(spelled) and spelled[after] == "phần":
        parts, whole = VI_UNITS.get(spelled[after + 1], 0), value or VI_UNITS.get(spelled[at], 0)
        if parts > 1 and whole:
            return whole / parts, length + 2
    return None


def _currency_behind(tokens: list[Token]) -> list[Token]:
    """Put a currency sign that stands before its number behind it, as the words of one stand."""
    for at in range(len(tokens) - 1):
        if tokens[at].key in _CURRENCIES and tokens[at + 1].kind == "number":
            tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
    return tokens


def join_units(tokens: Sequence[Token]) -> list[Token]:
    """Give the tokens with each unit that follows a number as one token of kind ``unit``."""
    joined: list[Token] = []
    at = 0
    while at < len(tokens):
        found = _unit(tokens, at) if joined and (joined[-1].kind == "number" or joined[-1].key in _HALF) else None
        if found is None:
            joined.append(tokens[at])
            at += 1
            continue
        name, length = found
        joined.append(Token(name, tokens[at].start, tokens[at + length - 1].end, "unit"))
        at += length
    return joined


def _unit(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    keys = tuple(token.key for token in tokens[at : at + _LONGEST])
    for length in range(len(keys), 0, -1):
        if (name := UNITS.get(keys[:length])) is not None:
            return name, length
    return None
