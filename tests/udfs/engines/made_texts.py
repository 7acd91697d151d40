"""Prose made from templates, in both languages: names, numbers, dates and what happens between them."""

from __future__ import annotations

from hypothesis import strategies as st

NAMES = {
    "en": ("Marta Quill", "Mr Ostler", "Jonas Reed", "Captain Vane Harrow", "Mrs Penhale"),
    "zh": ("孟先生", "潘婶", "顾长庚", "老关", "陶师傅"),
}
PLACES = {"en": ("Umbel", "Porthenys", "Lower Hasp", "Skerrivane"), "zh": ("石桥镇", "云泊镇", "雪岭村", "青石渡口")}
BODIES = {
    "en": ("Harbour Board", "Vessary Salt Company", "Town Council"),
    "zh": ("镇政府", "古桥保护委员会", "合作社"),
}
THINGS = {
    "en": ("lanterns", "barrels of salt", "copper kettles", "fishing nets", "willow baskets"),
    "zh": ("灯笼", "青瓷坛", "铜壶", "渔网", "竹篮"),
}
TEMPLATES = {
    "en": (
        "In {year} {name} carried {count} {thing} from {place} to the {body}.",
        "The {body} at {place} paid {name} for {count} {thing} on {day} May {year}.",
        "{name}, who lived near {place}, never forgot the storm of {year} and the {thing} lost in it.",
        "According to {name}, the {body} had kept {count} {thing} since {year}.",
    ),
    "zh": (
        "{year}年，{name}从{place}运来{count}个{thing}，交给{body}保管。",
        "{body}在{place}向{name}支付了{count}元，用来修补{thing}。",
        "住在{place}的{name}说，{year}年的大水冲走了{count}个{thing}。",
        "据{name}回忆，{body}从{year}年起就收着{count}个{thing}。",
    ),
}
GAPS = {"en": (" ", "\n", "\r\n\r\n", "  ", "\n\n"), "zh": ("", "\n", "\r\n\r\n", "\n　　", "　")}


def sentences(language: str) -> st.SearchStrategy[str]:
    """One sentence of a template, filled in."""
    numbers = st.integers(13, 980)
    return st.builds(
        str.format,
        st.sampled_from(TEMPLATES[language]),
        name=st.sampled_from(NAMES[language]),
        place=st.sampled_from(PLACES[language]),
        body=st.sampled_from(BODIES[language]),
        thing=st.sampled_from(THINGS[language]),
        count=numbers,
        year=st.integers(1600, 2020),
        day=st.integers(2, 28),
    )


def prose(language: str, least: int = 1, most: int = 6) -> st.SearchStrategy[str]:
    """Some sentences with the white space of real files between them."""
    pieces = st.lists(st.tuples(sentences(language), st.sampled_from(GAPS[language])), min_size=least, max_size=most)
    return pieces.map(lambda found: "".join(sentence + gap for sentence, gap in found))
