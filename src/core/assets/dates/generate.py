"""Writes months.txt, the words of dates in all languages, from Unicode CLDR.

Usage: npm pack cldr-dates-full && tar xzf cldr-dates-full-*.tgz
       python3 generate.py package > months.txt && cp package/LICENSE LICENSE-UNICODE
"""

import json
import pathlib
import re
import sys
import unicodedata
from collections import defaultdict

# The languages most feeds are in. Where a name has several meanings, the language named first here
# counts, and a name may be shortened if its beginning has one meaning in these languages.
LANGUAGES = """
    en es pt fr de ru it nl pl ja zh ko tr ar fa cs sv da nb no nn fi el hu ro uk id vi th he hi
    bn bg hr sr sk sl lt lv et ca eu gl ms fil is ga cy sq mk bs be ka hy az kk uz mn ur ta te
    ml mr gu kn pa ne si my km lo am sw af
""".split()

HEAD = """\
# Words of dates, made by generate.py from Unicode CLDR (npm package cldr-dates-full {}).
# Copyright © 2004-2026 Unicode, Inc., under the Unicode License v3: LICENSE-UNICODE beside this file.
# A line: name, tab, meanings. A meaning: a month's number, d1 (Monday) to d7, a or p (half of the
# day), n (night) or w (a word without meaning); ~ if no main language uses it so; its languages
# where they matter. The most common meaning is first."""

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

# Usual short forms and words that CLDR does not list.
EXTRA = """
    1 jän:de ene:es gen:it sty:pl led:cs sau:lt янв:ru ιαν:el janv:fr
    2 fév:fr fev:pt lut:pl úno:cs vas:lt фев:ru φεβ:el febuary:en
    3 mar:en mär:de mrz:de mrt:nl bře:cs kov:lt мар:ru μαρ:el μάρ:el maa:fi már:hu
    4 avr:fr abr:es ápr:hu kwi:pl dub:cs апр:ru απρ:el
    5 mai:de maj:pl mei:nl mag:it máj:hu kvě:cs geg:lt май:ru мая:ru μαϊ:el μαΐ:el
    6 giu:it juin:fr jún:hu cze:pl čvn:cs bir:lt июн:ru ιουν:el ιούν:el
    7 lug:it juil:fr júl:hu lip:pl čvc:cs lie:lt июл:ru ιουλ:el ιούλ:el
    8 aoû:fr aou:fr ago:es sie:pl agt:id avg:sl rgp:lt авг:ru αυγ:el αύγ:el srp:cs
    9 sept:en set:pt sze:hu wrz:pl zář:cs rgs:lt сен:ru сент:ru σεπ:el
    10 okt:de out:pt ott:it paź:pl říj:cs окт:ru οκτ:el lok:fi
    11 lis:pl ноя:ru νοε:el νοέ:el
    12 dez:pt déc:fr dic:es des:nb gru:pl pro:cs grd:lt дек:ru δεκ:el
    d1 maa:nl t2:vi
    d2 tues:en mar:fr
    d3 weds:en mitt:de
    d4 thur:en thurs:en
    w on:en the:en at:en of:en date:en posted:en published:en updated:en le:fr les:fr du:fr à:fr
    w a:es de:es del:es el:es las:es la:es às:pt as:pt da:pt em:pt dia:pt alle:it ore:it il:it
    w del:it den:de der:de dem:de um:de am:de uhr:de vom:de om:nl op:nl uur:nl klo:fi kello:fi
    w kl:sv klokken:da den:sv г:ru года:ru о:uk об:uk р:uk року:uk в:ru во:ru ч:bg στις:el
    w dne:cs v:cs ve:cs hod:cs o:pl dnia:pl r:pl godz:pl u:hr sati:hr h:fr ora:ro la:ro pukul:id
    w jam:id tanggal:id lúc:vi ngày:vi năm:vi saat:tr ساعت:fa الساعة:ar בשעה:he ב:he को:hi
    w بتوقيت:ar م:ar kell:et plkst:lv val:lt d:lt m:lt gada:lv
    a sáng:vi
    p tối:vi chiều:vi
"""


def key(name):
    """A name as the reader looks it up: lower case, words and digits apart, without dots."""
    name = unicodedata.normalize("NFC", name).lower().replace("\u0307", "")
    name = re.sub("[\u200b-\u200f\u2060\ufeff\u180e\u00ad\u061c\u070f]", "", name)
    name = re.sub("[’ʼ‘`]", "'", name)
    is_digit = lambda c: unicodedata.category(c) == "Nd"
    digits = "".join(str(unicodedata.digit(c)) if is_digit(c) else c for c in name)
    digits = re.sub(r"(\d+)", r" \1 ", digits)
    digits = re.sub(r"(?<=\d )-(?=\w)", "", digits)
    return " ".join(word.strip("'་") for word in re.sub("[.․॰\\s]", " ", digits).split()).strip()


def is_name(name):
    if len(name.split()) > 7 or not any(c.isalpha() for c in name):
        return False
    return not re.search(r"[,،᠂:/#()]|[-'·]($| )|(^| )[-'·]", name)


def without_accents(name):
    """A Latin or Greek name as it is written without its accents."""
    out = []
    for c in unicodedata.normalize("NFD", name):
        kind = unicodedata.name(out[-1], "") if out else ""
        if not (unicodedata.combining(c) and kind.startswith(("LATIN", "GREEK"))):
            out.append(c)
    plain = unicodedata.normalize("NFC", "".join(out))
    return plain.translate(str.maketrans("łıøđ", "liod"))


def split(pattern):
    """A pattern's texts and fields in turn; texts have even places."""
    parts = [""]
    for quoted, field, other in re.findall(r"'((?:[^']|'')*)'|([A-Za-z])|(.)", pattern, re.DOTALL):
        if not field:
            if len(parts) % 2 == 0:
                parts.append("")
            parts[-1] += quoted.replace("''", "'") or other or "'"
        elif len(parts) % 2 == 0 and parts[-1][0] == field:
            parts[-1] += field
        else:
            parts += [field] if len(parts) % 2 else ["", field]
    return parts if len(parts) % 2 else parts + [""]


def words(text):
    """The words of a text."""
    return [word for word in re.split(r"[\s\d.,;:(){}\[\]/#|،、]+|(?<!\w)-|-(?!\w)", text) if word]


def read_pattern(pattern, calendar, add):
    """Passes the words of a pattern to `add`, and the names that are joined to such words."""
    formats = {name: calendar[name]["format"] for name in ("months", "days", "dayPeriods")}
    names = {
        "MMM": [(name, month) for month, name in formats["months"]["abbreviated"].items()],
        "MMMM": [(name, month) for month, name in formats["months"]["wide"].items()],
        "E": [(name, day_code(day)) for day, name in formats["days"]["abbreviated"].items()],
        "EEEE": [(name, day_code(day)) for day, name in formats["days"]["wide"].items()],
        "a": [(formats["dayPeriods"]["abbreviated"][half], half[0]) for half in ("am", "pm")],
    }
    # A time ends with the half of the day.
    parts = split(pattern.replace("{0}", "a").replace("{1}", "y"))
    for text in parts[::2]:
        for word in words(text):
            add(word, "w")
    for at in range(1, len(parts), 2):
        before, after = words(parts[at - 1]), words(parts[at + 1])
        before = before[-1] if before and parts[at - 1].endswith(before[-1]) else ""
        after = after[0] if after and parts[at + 1].lstrip("-").startswith(after[0]) else ""
        if before or after:
            hyphen = "-" if parts[at + 1].startswith("-") else ""
            for name, meaning in names.get(parts[at], ()):
                add(before + name + (hyphen + after if after else ""), meaning)


def day_code(day):
    return f"d{DAYS.index(day) + 1}"


def half_of_day(period):
    if period in ("am", "midnight") or period.startswith("morning"):
        return "a"
    return "n" if period.startswith("night") else "p"


def read(calendar, add):
    """Passes the words of one language's calendar to `add`."""
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in calendar["months"][context][width].items():
                add(name, number)
        for width in ("wide", "abbreviated", "short"):
            for day, name in calendar["days"][context][width].items():
                add(name, day_code(day))
        for width, periods in calendar["dayPeriods"][context].items():
            for period, name in periods.items():
                main = period in ("am", "pm")
                if main and not (len(name) == 1 and name.isascii()):
                    add(name, half_of_day(period))
                elif width != "narrow" and (len(name) > 2 or not name.isascii()):
                    add(name, half_of_day(period) + "?")
    for widths in (calendar["eras"]["eraAbbr"], calendar["eras"]["eraNames"]):
        add(widths["1"], "w")
    patterns = [p for p in calendar["dateFormats"].values() if isinstance(p, str)]
    patterns += [p for p in calendar["timeFormats"].values() if isinstance(p, str)]
    joins = calendar["dateTimeFormats"]
    patterns += [joins[w] for w in ("full", "long", "medium", "short") if isinstance(joins[w], str)]
    at = calendar.get("dateTimeFormats-atTime", {}).get("standard", {})
    patterns += [p for p in at.values() if isinstance(p, str)]
    fields = ("yMMMd", "yMMMEd", "yMd", "yMEd", "Hm", "Hms", "hm", "hms", "h", "H")
    patterns += [joins["availableFormats"].get(f, "") for f in fields]
    for pattern in patterns:
        read_pattern(pattern, calendar, add)


def collect(package):
    names = defaultdict(lambda: defaultdict(set))
    for path in sorted(package.glob("main/*/ca-gregorian.json")):
        locale = path.parent.name
        calendar = json.loads(path.read_text())["main"][locale]["dates"]["calendars"]["gregorian"]
        if calendar["months"]["format"]["wide"]["1"] == "M01":
            continue
        language = locale.split("-")[0]

        def add(name, meaning):
            name = key(name)
            is_odd = name in ("am", "pm") and meaning not in ("a", "p", "w")
            if is_name(name) and not is_odd:
                names[name][meaning].add(language)

        read(calendar, add)
    for line in EXTRA.strip().splitlines():
        meaning, *words = line.split()
        for word in words:
            name, language = word.split(":")
            names[key(name)][meaning].add(language)
    # "Th7" is July more often than Saturday.
    for month in range(1, 13):
        names[f"th {month}"][str(month)].add("vi")
    for meanings in names.values():
        # A part of the day counts where the name is no half of it.
        for half in [m for m in meanings if m.endswith("?")]:
            languages = meanings.pop(half)
            if not {"a", "p"} & meanings.keys():
                meanings[half[0]] |= languages
    for name, meanings in list(names.items()):
        plain = without_accents(name)
        # "Thu 3" is a Thursday.
        if plain not in names and not re.match("thu \\d", plain):
            names[plain] = meanings
    return names


def rank(language):
    return LANGUAGES.index(language) if language in LANGUAGES else len(LANGUAGES)


def main():
    package = pathlib.Path(sys.argv[1])
    version = json.loads((package / "package.json").read_text())["version"]
    names = collect(package)
    # Languages are listed where a month has to be chosen, and with the names of days that help.
    needed = set()
    for meanings in names.values():
        if len(meanings) > 1:
            needed |= set().union(*(languages for m, languages in meanings.items() if m.isdigit()))
    print(HEAD.format(version))
    for name in sorted(names, key=lambda name: name.encode()):
        meanings = names[name]
        several = len(meanings) > 1
        has_month = any(m.isdigit() for m in meanings)
        out = []
        by_rank = sorted(meanings.items(), key=lambda m: (min(map(rank, m[1])), m[0]))
        for meaning, languages in by_rank:
            minor = "" if any(language in LANGUAGES for language in languages) else "~"
            is_day = meaning[0] == "d"
            is_listed = several and (is_day or meaning.isdigit()) and has_month
            keep = languages if is_listed else languages & needed if is_day else ()
            listed = ",".join(sorted(keep, key=lambda language: (rank(language), language)))
            out.append(meaning + minor + (":" + listed if listed else ""))
        print(f"{name}\t{' '.join(out)}")


if __name__ == "__main__":
    main()
