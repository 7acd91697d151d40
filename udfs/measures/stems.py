"""English words without their endings, so that `slipped` is `slip` and `began` is `begin`. Pure."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import snowballstemmer

_FORMS: Final = (
    "arise arose arisen|bear bore borne born|beat beaten|become became|begin began begun|bend bent|bind bound"
    "|bite bit bitten|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt"
    "|buy bought|catch caught|choose chose chosen|come came|deal dealt|dig dug|draw drew drawn|dream dreamt"
    "|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought"
    "|find found|flee fled|fly flew flown|forbid forbade forbidden|forget forgot forgotten"
    "|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown"
    "|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lay laid|lead led|learn learnt"
    "|leave left|lend lent|lie lay lain|light lit|lose lost|make made|mean meant|meet met|pay paid"
    "|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold"
    "|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank|sing sang sung|sink sank sunk"
    "|sit sat|sleep slept|slide slid|speak spoke spoken|spell spelt|spend spent|spin spun|stand stood"
    "|steal stole stolen|stick stuck|strike struck stricken|swear swore sworn|sweep swept|swim swam swum"
    "|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown"
    "|understand understood|wake woke woken|wear wore worn|weave wove woven|win won|wind wound"
    "|write wrote written|man men|woman women|child children|person people|foot feet|tooth teeth|goose geese"
    "|mouse mice|ox oxen|wife wives|life lives|leaf leaves|half halves|knife knives|wolf wolves|loaf loaves"
    "|thief thieves"
)
_IRREGULAR: Final = {form: forms.split()[0] for forms in _FORMS.split("|") for form in forms.split()[1:]}


_STEMMER: Final = snowballstemmer.stemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case English word: Snowball's, of the base form where a common word is irregular.

    Anything that is not a word of the letters a to z is given back as it is.
    """
    if not (word.isascii() and word.isalpha()):
        return word
    return str(_STEMMER.stemWord(_IRREGULAR.get(word, word)))


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written as one text, for the word lists of the rules."""
    return frozenset(words.split())
