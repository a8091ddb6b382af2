"""The languages in which claims are made."""

from evals.mutations.chinese import CHINESE
from evals.mutations.english import ENGLISH
from evals.mutations.vietnamese import VIETNAMESE

LANGUAGES = (ENGLISH, CHINESE, VIETNAMESE)
