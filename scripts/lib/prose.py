"""The rules of style that scripts/check-prose and scripts/check-commit share. CONTRIBUTING explains them."""
import re

# Each rule: its name, the words to write instead, and patterns. In a pattern, a space matches any white space, and whole
# words match. `^` is the start of a clause: the start of the text, or the word after a period, colon or semicolon.
PATTERNS = """
what-clause | a noun: "the media that …", or a subject with a verb | ^what(?! (?:to|if|about)\\b)
what-clause | a noun: "the media that …" | (?:of|for|by|in|with|from|than|on|at|after|before|and|or|but) what (?:is|was|are|were|has|had|have|can|cannot|could|comes|came|plays|follows|fails|failed|there|nobody)
who-clause | the actor: "a reader that …", "if you …" | ^(?:who|whoever|whom)
of-clause | a sentence with its subject first | ^of (?!course\\b)
where-clause | if, when | ^where (?:it|that|there|this|they|none|one|no|not|nothing|nobody|something|neither|several|all|both|what)
where-clause | if, when | [,;] where (?:none|not|nothing|nobody|no one|that is|it (?:is|was|has|does)|there (?:is|are|was))
that-of | the noun again, or its genitive | (?:that|those) of
is-none | is not a …, has no …, is invalid | (?<!there )(?:is|are|was|were) none(?! of\\b)
is-none | is not a …, has no …, is invalid | (?<!there )(?:is|are|was|were) no (?!(?:more|less|different|such|one|\\w+er)\\b)[a-z]+
comes-of | results from, results in, happens to | (?:come|comes|came|become|becomes|became) of
comes-of | results in, has no effect | comes? to (?:nothing|that|this|it|them)
is-told | is reported, is emitted, says | (?:is|are|was|were|be|been|being|gets?) (?:not |only |never )?told
is-told | reports, says | tells? (?:of|nothing|whether|what|when|all)
is-had | is available, cannot be loaded | (?:is|are|was|were|be|been|being) had
place-of | instead of, replaces | in the place of
place-of | instead | in (?:its|their) place(?! (?:in|on|at|among)\\b)
place-of | replaces | (?:takes?|took|taken|taking) (?:its|their|the) place
goes-on | continues, resumes | (?:go|goes|going|gone|went) on
is-over | ends, has ended | (?:is|are|was|were|be) over(?=[.,;:)]|$| (?:and|or|when|before|after)\\b)
anew | again | anew
at-the-most | at most, no later than | at the (?:most|latest|longest|earliest)(?=[.,;:)]|$| (?:when|after|in|at)\\b)
of-own | its own … before the noun, separate | of (?:its|their|your|one's|our|my|his) own
behind | after, past, following | behind (?:it|them|that|this|which|what|each)
behind | after, past, following | behind (?:the|a|an|its|their|each) (?:end|start|beginning|first|last|next|segment|part|sample|frame|cue|place|position|point|break|tag|header|head|line|list|playlist|number|name|boundary|item|one|media|range|colon)
beside | next to, with, in addition to | besides?
passed-over | skipped, ignored | (?:pass|passes|passed|passing|played) over
broken-off | interrupted, truncated, cancelled | (?:broken|breaks?|broke|breaking|called|calls?) off
stands-still | has stopped, is written, is listed | (?:stand|stands|stood|standing) (?:still|there|where|once|in the|behind|before|between)
mend | fix, recover | mend(?:s|ed|ing)?
of-late | recently, as usual | of late
of-late | recently, as usual | as ever
in-vain | without success, unsuccessful | in vain
in-vain | without success, unsuccessful | fruitless
but-for | except | but for
at-rest | idle, suspended | at rest
at-rest | is idle, stops loading | (?:player|item|lane|stream|watch|loading|it) rests
taken-apart | demuxed, parsed, removed, resumed | (?:is|are|was|were|be|been) (?:taken (?:apart|out|up|off)|left away)
lets-go | releases, drops, allows | lets? (?:go|pass)
up-to-then | so far, until that point | up to (?:now|then)
a-try | attempt, retry | (?:first|second|third|another|further|each|next|last|one) try
a-try | attempts, retries | (?:two|three|several|many|more|few|all|of|the|its) tries
sound | audio | (?:the|its|no|of|with|without|and|or|their) sounds?(?! (?:device|server|card))
else-otherwise | otherwise | [,;] else
at-a-shell | on the command line | at a shell
"""


def compiled():
    rules = []
    for line in PATTERNS.strip().split("\n"):
        name, advice, pattern = line.split(" | ", 2)
        clause = pattern.startswith("^")
        body = pattern.removeprefix("^").replace(" ", r"\s+") if not pattern.startswith("(?<!there ") else None
        if body is None:
            body = "(?<!there )" + pattern.removeprefix("(?<!there )").replace(" ", r"\s+")
        start = r"(?:(?<=^)|(?<=[.;:!] )|(?<=\*\* ))" if clause else r"(?<![\w`-])" if body[0] != "[" else ""
        end = "" if body.endswith(("[a-z]+", r"\s+(?!course\b)")) else r"(?![\w-])"
        rules.append((name, advice, re.compile(start + body + end, re.IGNORECASE)))
    return rules


RULES = compiled()


MARKUP = re.compile(r"(?P<code>``?[^`]*``?)|(?P<link>\]\([^)]*\))|<[a-z/][^>]*>")


def plain(text):
    """The text without code spans, targets of links and HTML, and the offset in the original text of each character."""
    pieces, offsets, end = [], [], 0
    for match in MARKUP.finditer(text):
        replacement = "X" if match["code"] else "]" if match["link"] else " "
        pieces += [text[end:match.start()], replacement]
        offsets += [*range(end, match.start()), match.start()]
        end = match.end()
    return "".join(pieces) + text[end:], offsets + [*range(end, len(text))]


def is_question(text, position):
    """Whether the sentence at the position ends with a question mark."""
    end = re.compile(r"[.?!](?=\s|$|[*\"”)])").search(text, position)
    return end is not None and end[0] == "?"


def findings(text):
    """The violations in a paragraph of plain text: position, rule, matched words with those after them, and advice."""
    found = []
    for name, advice, pattern in RULES:
        for match in pattern.finditer(text):
            if name in ("what-clause", "who-clause", "where-clause") and is_question(text, match.start()):
                continue
            # The words that follow show a reader which sentence this is.
            context = " ".join(text[match.start():match.end() + 50].split())
            if match.end() + 50 < len(text):
                context = context.rsplit(" ", 1)[0] + " …"
            found.append((match.start(), name, context, advice))
    return sorted(found)


def word_count(text):
    return len(re.findall(r"[A-Za-z0-9][\w'’.,/+%×-]*", plain(text)[0]))
