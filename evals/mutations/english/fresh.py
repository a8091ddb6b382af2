"""English cues that were written after the checker of claims, and that its author has not seen the misses of."""

from evals.mutations.swaps import table

_QUANTIFIERS = """
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
_POLARITY = """
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
FRESH = {"polarity_fresh": table(_POLARITY), "quantifier_fresh": table(_QUANTIFIERS)}
