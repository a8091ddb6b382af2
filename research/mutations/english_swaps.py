"""Swaps that make an English sentence false.

Those of ``FRESH`` were written after the claim checker, whose author has not seen which of them it misses.
"""

from research.mutations.swaps import among, not_after, other_digits, other_year, swap, table, within

MONTHS = "January February March April May June July August September October November December"
A_MONTH = f"(?:{MONTHS.replace(' ', '|')})"
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
# After these, another number may still be true: what is "more than 308" is also "more than 300".
_BOUNDED = not_after(
    "than over under least most nearly almost above below exceeding beyond within to around about approximately "
    "roughly some between"
)
_NOT_A_NUMBER = r"(?<![\w.,/:–+$£€\[-])" + _BOUNDED
_NUMBER = rf"{_NOT_A_NUMBER}(?:\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}|\d{{5,}})(?:\.\d+)?"
_NOT_A_DATE = rf"(?!\w|[,.:/–]\d|-\d|(?:st|nd|rd|th)\b|,? {A_MONTH}|½|°)"
_MONEY = rf"(?<=[$£€]){_NUMBER.removeprefix(_NOT_A_NUMBER)}(?!\w|[,.]\d)"
_AFTER_A_MONTH = "(?:" + "|".join(f"(?<={month} )" for month in MONTHS.split()) + ")"
_BOUNDED_YEAR = not_after("than over under least nearly almost about approximately roughly between from")
_YEAR = rf"(?<=[ (–]){_BOUNDED_YEAR}(?:1[0-9]\d\d|20[01]\d)(?=[,;.)]|s\b|–| (?!\w+s\b)|$)(?![,.]\d)"

_QUANTIFIERS = """
(?<!not )(?<!above )(?<!first of )all(?! of a sudden)(?= (?:of )?[a-z]) > few | almost no
every(?= [a-z]) > hardly any
each of > neither of | none of
most of > few of
(?<!the )(?<!at )most(?= [a-z]+s\\b) > few
many > few
(?<!and )(?<!to )some(?= (?:of |[a-z]+s\\b)) > all
several > no
both(?= of) > neither
both ([^,.;]{2,60}?) and > neither \\1 nor
(?<=[a-z] )both(?= [a-z]+s[ ,.]) > neither of the two
none > all
majority <> minority
always <> never
often > rarely
usually > seldom
frequently > rarely
mostly > hardly
more than > less than
less than > more than
fewer than > more than
at least > at most
at most > at least
up to(?= \\d) > at least
larger <> smaller
higher <> lower
longer <> shorter
older <> younger
earlier <> later
stronger <> weaker
greater(?= than) > smaller
greater(?! than) > lesser
faster > slower
better > worse
largest <> smallest
highest <> lowest
longest <> shortest
oldest <> youngest
earliest <> latest
biggest > smallest
greatest > least
maximum <> minimum
before(?! the (?:court|judge)) > after
(?<!named )(?<!look )(?<!called )after > before
(?<!at )(?<!the very )first(?! century) > last
last(?! \\w+ (?:years|century|months)) > first
more(?= [a-z]+ than) > less
"""

_POLARITY = """
increased <> decreased
increase <> decrease
increasing <> decreasing
rose > fell
won > lost
gained > lost
accepted <> rejected
supported <> opposed
allowed > forbidden
began > ended
started > stopped
(?<=to )prevent > cause
prohibited > permitted
able(?= to) > unable
possible <> impossible
legal <> illegal
successful <> unsuccessful
successfully <> unsuccessfully
(?<=[es] )common(?=[,.]) > rare
popular <> unpopular
included > excluded
includes > excludes
including > excluding
without > with
failed to > managed to
refused to > agreed to
likely <> unlikely
stable <> unstable
import > export
public <> private
internal <> external
upper <> lower
east <> west
eastern <> western
north <> south
northern <> southern
rich <> poor
strong <> weak
ancient > modern
victory <> defeat
success <> failure
positive <> negative
"""

_AUXILIARY = "is|are|was|were|has|have|had|can|could|will|would|should|must|does|did"
_NEGATION = rf"""
({_AUXILIARY})(?! (?:not|no|never|only|to|little|few|nothing|neither|n't)\b)(?= (?!and|or|,)[a-z]) > \1 not
could not > could
cannot > can
(is|are|was|were|has|have|had|will|would|should|must) not(?! only) > \1
did not(?= [a-z]) > did
does not(?= [a-z]) > does
do not(?= [a-z]) > do
never > always
(?<=(?:He|It) )became > never became
(?<=, )which(?= (?!was|were|is|are|had|has|have|can|could|will|would|may|might)[a-z]+ed ) > which never
no longer > still
(was|were) (named|called|built|founded|born|killed|elected|used|made|given|known|considered) > \1 never \2
nor > and
no(?= [a-z]+(?:s|ity|ment|ion)?\b)(?! (?:longer|one|doubt|less|more|fewer)) > ample
"""

_UNITS = (
    among("kilometres miles metres yards"),
    among("kilometers miles meters yards"),
    among("km mi ft", before=r"(?<=\d )"),
    among("km mi ft", before=r"(?<=\d)"),
    among("kilograms pounds tonnes", before=r"(?<=\d )"),
    among("seconds minutes hours days weeks months", before=r"(?<=[\dynoerxt] )"),
    among("years months decades", before=r"(?<=\d )"),
    among("centuries decades"),
    among("dollars pounds euros", before=r"(?<=[\dn] )"),
    among("$ £ €", spaced=False),
    among("acres hectares", before=r"(?<=[\dn] )"),
    among("°C °F", spaced=False),
    among("feet inches", before=r"(?<=\d )"),
    among("mph km/h", before=r"(?<=\d )"),
)

_ORDINALS = "second third fourth fifth sixth seventh eighth ninth tenth"
MUTATIONS = {
    "number": (
        swap(_NUMBER + _NOT_A_DATE, other_digits),
        swap(_MONEY, other_digits),
        among("two three four five six seven eight nine ten eleven twelve", before=_BOUNDED),
        among("twenty thirty forty fifty sixty seventy eighty ninety", before=_BOUNDED),
        among(_ORDINALS, after=r"(?!s)"),
        among("double triple"),
        among("half / a third / a quarter", before=r"(?<!and a )(?<!a )", after=r"(?= (?:of|the))"),
        among("one-third two-thirds three-quarters"),
    ),
    "scale": (
        among("thousand million billion trillion", before=r"(?<=[\dynoerxtd] )"),
        among("hundreds thousands millions billions"),
        among("million billion", before=r"(?<=\d-)"),
    ),
    "unit": _UNITS,
    "date": (
        swap(_YEAR, other_year),
        among(MONTHS, after=r"(?= (?:\d|of))"),
        among(MONTHS, before=r"(?:(?<=\d )|(?<=[iI]n )|(?<=of ))", after=r"(?![a-z])(?! (?:be|have|not))"),
        swap(_AFTER_A_MONTH + r"\d{1,2}(?=,? \d{4}|[,. )])", within(2, 28)),
        swap(rf"(?<!\w)\d{{1,2}}(?= {A_MONTH})", within(2, 28)),
        swap(r"(?<!\w)\d{1,2}(?=th[ -]centur)", within(4, 20)),
        among("sixteenth seventeenth eighteenth nineteenth twentieth", after=r"(?=[ -]centur)"),
        swap(r"(?<=1[5-9])\d(?=0s)|(?<=20)0(?=0s)", within(1, 9)),
        among(DAYS),
    ),
    "negation": table(_NEGATION),
    "polarity": table(_POLARITY),
    "quantifier": table(_QUANTIFIERS),
}

_FRESH_QUANTIFIERS = """
rarely > often
seldom > often
no more than > no less than
minimum <> maximum
prior to > following
preceded > followed
newest <> oldest
exceeded > fell short of
partially > fully
partly > entirely
entirely > partly
exclusively > partly
nearly all > hardly any
almost all > hardly any
sometimes > always
generally > never
typically > never
(?<!against )each(?= (?!other)[a-z]) > no
few > many
numerous > few
half of > all of
until > after
(?<=[a-z] )within(?= [a-z]) > beyond
smaller > larger
closest > farthest
final <> initial
early <> late
"""
_FRESH_POLARITY = """
encouraged > discouraged
agreed > refused
continued(?! [a-z]+s\\b) > ceased
survived > perished
arrived > departed
joined > left
united(?! states| kingdom| nations) > divided
opened > closed
sold > bought
rural <> urban
domestic > foreign
safe > dangerous
wide <> narrow
male <> female
(?<=(?:was) )present > absent
known(?= to) > unknown
equal > unequal
related > unrelated
directly > indirectly
above > below
inside > outside
created > destroyed
built > demolished
expanded > shrank
appointed > dismissed
superior <> inferior
"""
FRESH = {"polarity_fresh": table(_FRESH_POLARITY), "quantifier_fresh": table(_FRESH_QUANTIFIERS)}
