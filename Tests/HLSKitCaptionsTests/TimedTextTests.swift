import HLSKitCaptions
import HLSKitTime
import Testing

private func document(_ body: String, attributes: String = "", head: String = "") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- a comment -->
    <tt xml:lang="fr" xmlns="http://www.w3.org/ns/ttml" xmlns:p="http://www.w3.org/ns/ttml#parameter"
      xmlns:s="http://www.w3.org/2006/10/ttaf1#styling" \(attributes)>
    <head>\(head)</head><body>\(body)</body></tt>
    """
}

@Suite struct TimedTextTests {
    struct Time: CustomTestStringConvertible, Sendable {
        var text: String
        var attributes = ""
        var time: MediaTime
        var testDescription: String { "\(text) \(attributes)" }
    }

    @Test(
        "K05: iTT: time expressions are read",
        arguments: [
            Time(text: "00:00:01.5", time: MediaTime(value: 15, timescale: 10)),
            Time(text: "01:00:00", time: MediaTime(value: 3600, timescale: 1)),
            Time(text: "1.25s", time: MediaTime(value: 125, timescale: 100)),
            Time(text: "1500ms", time: MediaTime(value: 1500, timescale: 1000)),
            Time(text: "2m", time: MediaTime(value: 120, timescale: 1)),
            Time(text: "0.5h", time: MediaTime(value: 1800, timescale: 1)),
            Time(text: "15f", time: MediaTime(value: 1, timescale: 2)),
            Time(text: "24f", attributes: "p:frameRate='24'", time: MediaTime(value: 1, timescale: 1)),
            Time(
                text: "30f", attributes: "p:frameRate='30' p:frameRateMultiplier='1000 1001'",
                time: MediaTime(value: 1001, timescale: 1000)),
            Time(text: "5000000t", attributes: "p:tickRate='10000000'", time: MediaTime(value: 1, timescale: 2)),
            Time(
                text: "60t", attributes: "p:frameRate='30' p:subFrameRate='2'", time: MediaTime(value: 1, timescale: 1)),
            Time(text: "00:00:01:15", time: MediaTime(value: 3, timescale: 2)),
            Time(
                text: "00:01:00:00",
                attributes: "p:timeBase='smpte' p:frameRate='30' p:frameRateMultiplier='1000 1001'",
                time: MediaTime(value: 60_060, timescale: 1000)),
            Time(
                text: "00:01:00:02",
                attributes:
                    "p:timeBase='smpte' p:frameRate='30' p:frameRateMultiplier='1000 1001' p:dropMode='dropNTSC'",
                time: MediaTime(value: 1800 * 1001, timescale: 30_000)),
        ])
    func times(_ time: Time) throws {
        let content = try read(
            .iTunesTimedText, document("<p begin='\(time.text)' end='99:00:00'>x</p>", attributes: time.attributes))
        #expect(content.captions.first?.timeRange.start == time.time)
        #expect(content.notes.isEmpty)
        #expect(content.language == "fr")
    }

    struct Nested: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var body: String
        var captions: [Caption]
    }

    @Test(
        "K05: iTT: nested times are relative to their parents",
        arguments: [
            Nested(
                testDescription: "added up",
                body: "<div begin='10s'><p begin='1s' dur='2s'>a</p><p begin='5s' end='6s'>b</p></div>",
                captions: [Caption("a", timeRange: ms(11_000, 13_000)), Caption("b", timeRange: ms(15_000, 16_000))]),
            Nested(
                testDescription: "cut off by what is around", body: "<div end='3s'><p begin='1s' dur='20s'>a</p></div>",
                captions: [Caption("a", timeRange: ms(1000, 3000))]),
            Nested(
                testDescription: "one after another",
                body: "<div timeContainer='seq' begin='1s'><p dur='2s'>a</p><p begin='1s' dur='2s'>b</p></div>",
                captions: [Caption("a", timeRange: ms(1000, 3000)), Caption("b", timeRange: ms(4000, 6000))]),
            Nested(
                testDescription: "spans that come and go",
                body: "<p begin='1s' end='4s'>a<span begin='1s'> b</span><span begin='1s' end='2s'> c</span></p>",
                captions: [
                    Caption("a", timeRange: ms(1000, 2000)), Caption("a b c", timeRange: ms(2000, 3000)),
                    Caption("a b", timeRange: ms(3000, 4000)),
                ]),
            Nested(
                testDescription: "no end",
                body: "<p begin='1s'>a</p><p begin='3s' end='5s'>b</p><p begin='9s'>c</p>",
                captions: [
                    Caption("a", timeRange: ms(1000, 3000)), Caption("b", timeRange: ms(3000, 5000)),
                    Caption(
                        "c",
                        timeRange: MediaTimeRange(
                            start: MediaTime(value: 9, timescale: 1), duration: .positiveInfinity)),
                ]),
            Nested(
                testDescription: "white space and line ends",
                body:
                    "<p begin='0s' end='1s'>\n  a  <span> b</span> <br/> c\n<span xml:space='preserve'>  d</span></p>",
                captions: [Caption("a b\nc   d", timeRange: ms(0, 1000))]),
            Nested(
                testDescription: "references and CDATA",
                body: "<p begin='0s' end='1s'>a &lt;&amp;&#x41;&#66; <![CDATA[<b>]]></p>",
                captions: [Caption("a <&AB <b>", timeRange: ms(0, 1000))]),
        ])
    func nested(_ nested: Nested) throws {
        #expect(try read(.iTunesTimedText, document(nested.body)).captions == nested.captions)
    }

    @Test("K05: iTT: styles are inherited, named and local; regions use percent, pixels and cells")
    func styles() throws {
        let head = """
            <styling><style xml:id='i' s:fontStyle='italic' s:color='#ff0000'/>
            <style xml:id='j' style='i' s:fontWeight='bold'/></styling>
            <layout><region xml:id='top' s:origin='10% 0%' s:extent='80% 15%' s:displayAlign='before'/>
            <region xml:id='px' s:textAlign='left'><style s:origin='64px 360px'/><style s:extent='640px 72px'/></region>
            <region xml:id='cell' s:origin='4c 12c' s:extent='24c 2c' s:displayAlign='after'/></layout>
            """
        let body = """
            <div s:color='yellow'><p region='top' begin='0s' end='1s'>a <span style='j' s:textDecoration='underline'>b</span></p>
            <p region='px' begin='1s' end='2s'>c</p><p region='cell' begin='2s' end='3s' s:textAlign='end'>d</p>
            <p begin='3s' end='4s'><span s:ruby='container'><span s:ruby='base'>k</span><span s:ruby='text'>r</span></span></p></div>
            """
        let captions = try read(.iTunesTimedText, document(body, attributes: "s:extent='1280px 720px'", head: head))
            .captions
        #expect(
            captions.map(\.region) == [
                CaptionRegion(
                    identifier: "top", origin: CaptionPoint(x: .percent(10), y: .percent(0)),
                    size: CaptionSize(width: .percent(80), height: .percent(15)), displayAlignment: .before),
                CaptionRegion(
                    identifier: "px", origin: CaptionPoint(x: .percent(5), y: .percent(50)),
                    size: CaptionSize(width: .percent(50), height: .percent(10))),
                CaptionRegion(
                    identifier: "cell", origin: CaptionPoint(x: .cells(4), y: .cells(12)),
                    size: CaptionSize(width: .cells(24), height: .cells(2)), displayAlignment: .after),
                nil,
            ])
        #expect(
            captions.map(\.styledWords) == [
                [
                    StyledWord(text: "a", style: CaptionStyle(textColor: .yellow)),
                    StyledWord(
                        text: "b",
                        style: CaptionStyle(
                            textColor: .red, fontWeight: .bold, fontStyle: .italic, decoration: .underline)),
                ],
                [StyledWord(text: "c", style: CaptionStyle(textColor: .yellow))],
                [StyledWord(text: "d", style: CaptionStyle(textColor: .yellow))],
                [StyledWord(text: "k", style: CaptionStyle(textColor: .yellow, ruby: CaptionRuby(text: "r")))],
            ])
        #expect(captions.map(\.textAlignment) == [nil, .left, .end, nil])
    }

    @Test(
        "K05: iTT: a prefix has its innermost declaration, and many prefixes cost little",
        .timeLimit(.minutes(10)))
    func namespaces() throws {
        let styling = "http://www.w3.org/ns/ttml#styling"
        let body = """
            <div xmlns:x='urn:other'><p begin='0s' end='1s' x:color='red'>a <span xmlns:x='\(styling)' x:color='red'>b</span>
            <span x:color='red'>c</span></p></div>
            """
        let captions = try read(.iTunesTimedText, document(body)).captions
        #expect(captions.first?.styledWords.map(\.style.textColor) == [nil, .red, nil])
        // A simple reader would look up each name in all declarations.
        let declarations = (0..<60).map { "xmlns:n\($0)='u'" }.joined(separator: " ")
        let attributes = (0..<60).map { "m:n\($0)='u'" }.joined(separator: " ")
        let opening = String(repeating: "<div \(declarations)>", count: 55)
        let deep =
            opening + String(repeating: "<p \(attributes)/>", count: 1000) + "<p begin='0s' end='1s'>a</p>"
            + String(repeating: "</div>", count: 55)
        #expect(try read(.iTunesTimedText, document(deep)).captions.map(\.text) == ["a"])
    }

    struct Ruby: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var body: String
        var text: String
        var rubies: [String]
    }

    private static let rubyPairs = """
        <s ruby=container><s ruby=baseContainer><s ruby=base>a</s><s ruby=base>b</s></s><s ruby=textContainer>
        <s ruby=text>1</s><s ruby=text>2</s></s></s>
        """

    @Test(
        "K05: iTT: ruby is above its base, however it is written",
        arguments: [
            Ruby(
                testDescription: "blanks around the text",
                body: "x<s ruby=container><s ruby=base>ab</s><s ruby=text> r s </s></s>y", text: "xaby",
                rubies: ["ab r s"]),
            Ruby(
                testDescription: "lines between the elements",
                body: "x <s ruby=container>\n  <s ruby=base>ab</s>\n  <s ruby=text>r</s>\n</s> y", text: "x ab y",
                rubies: ["ab r"]),
            Ruby(testDescription: "two pairs", body: rubyPairs, text: "ab", rubies: ["a 1", "b 2"]),
            Ruby(
                testDescription: "pairs in turn",
                body: "<s ruby=container><s ruby=base>a</s><s ruby=text>1</s><s ruby=base>b</s><s ruby=text>2</s></s>",
                text: "ab", rubies: ["a 1", "b 2"]),
            Ruby(
                testDescription: "delimiters",
                body:
                    "<s ruby=container><s ruby=base>a</s><s ruby=delimiter>(</s><s ruby=text>r</s><s ruby=delimiter>)</s></s>",
                text: "a", rubies: ["a r"]),
            Ruby(
                testDescription: "styles inside",
                body: "<s ruby=container><s ruby=base>a<s>b</s></s><s ruby=text>r<s>s</s>t</s></s>", text: "ab",
                rubies: ["ab r s t"]),
            Ruby(
                testDescription: "more texts than bases",
                body: "a<s ruby=container><s ruby=text>1</s><s ruby=base>b</s><s ruby=text>2</s></s>", text: "ab",
                rubies: ["b 1"]),
        ])
    func rubies(_ test: Ruby) throws {
        let body = test.body.replacing("<s", with: "<span").replacing("</s>", with: "</span>")
            .replacing(/ruby=([a-zA-Z]+)/) { "s:ruby='\($0.1)'" }
        let caption = try #require(
            read(.iTunesTimedText, document("<div><p begin='0s' end='1s'>\(body)</p></div>")).captions.first)
        #expect(caption.text == test.text)
        let scalars = Array(caption.text.unicodeScalars)
        let found = caption.styles.compactMap { run in
            run.style.ruby.map { String(String.UnicodeScalarView(scalars[run.range])) + " " + $0.text }
        }
        #expect(found == test.rubies)
    }

    @Test("K05: iTT: IMSC lengths and positions are read; a clear region keeps the text's background")
    func imsc() throws {
        let regions = [
            "s:origin='10rw 80rh' s:extent='80rw 15rh'", "s:position='center bottom' s:extent='80% 15%'",
            "s:position='25% 50%' s:extent='60% 20%'", "s:position='right 10% top 5%' s:extent='50% 20%'",
            "s:position='top' s:extent='50% 20%'", "s:backgroundColor='transparent'", "s:backgroundColor='#0000ff'",
        ]
        let head = regions.enumerated().map { "<region xml:id='r\($0)' \($1)/>" }.joined()
        let body = regions.indices.map { "<p region='r\($0)' begin='\($0)s' end='\($0 + 1)s'>a</p>" }.joined()
        let captions = try read(
            .iTunesTimedText, document("<div>\(body)</div>", head: "<layout>\(head)</layout>")
        ).captions
        let origins = captions.prefix(5).map { [$0.region?.origin.x, $0.region?.origin.y] }
        #expect(
            origins == [
                [.percent(10), .percent(80)], [.percent(10), .percent(85)], [.percent(10), .percent(40)],
                [.percent(45), .percent(4)], [.percent(25), .percent(0)],
            ])
        #expect(
            captions.first?.region?.size == CaptionSize(width: .percent(80), height: .percent(15)))
        #expect(captions.map { $0.style(at: 0).style.backgroundColor }.suffix(2) == [nil, .blue])
    }

    @Test(
        "K04: iTT: text at the bottom in WebVTT is at the bottom in TTML",
        arguments: [
            ("position:10% size:35% align:left", 0, 100), ("line:-1", 0, 100), ("line:-3", 0, 86.667),
            ("position:10%", 0, 100), ("line:-15", 0, 6.667),
        ] as [(String, Double, Double)])
    func fromBelow(settings: String, top: Double, height: Double) throws {
        let captions = try read(.webVTT, "WEBVTT\n\n00:00.000 --> 00:01.000 \(settings)\na").captions
        let region = try #require(
            read(.iTunesTimedText, written(.iTunesTimedText, captions)).captions.first?.region)
        #expect(region.origin.y == .percent(top))
        #expect(region.size.height == .percent(height))
        #expect(region.displayAlignment == .after)
    }

    @Test("K04: iTT: written time codes contain colons only, also in drop frame")
    func colons() throws {
        var writer = CaptionFileWriter(format: .iTunesTimedText)
        writer.usesDropFrameTimeCode = true
        let text = String(
            decoding: try writer.write([Caption("a", timeRange: frames(1800, 1860))]).bytes, as: UTF8.self)
        #expect(text.contains("begin=\"00:01:00:02\"") && text.contains("dropNTSC"))
    }

    @Test(
        "K03: iTT: image captions are skipped with one note, and text next to them is read",
        arguments: [
            "<div s2:backgroundImage='#one' begin='1s' end='2s'/><div s2:backgroundImage='#two' begin='2s' end='3s'/>",
            "<div s:backgroundImage='1.png' begin='1s' end='2s'/>",
            "<div begin='1s' end='2s'><image src='1.png' type='image/png'/></div>",
        ])
    func images(body: String) throws {
        let content = try read(
            .iTunesTimedText,
            document(
                body + "<div><p begin='4s' end='5s'>text</p></div>",
                attributes: "xmlns:s2='http://www.smpte-ra.org/schemas/2052-1/2010/smpte-tt'",
                head: "<metadata><image>no picture of the body</image></metadata>"))
        #expect(content.captions.map(\.text) == ["text"])
        let note = "image captions (IMSC1 Image Profile) are not supported, only text"
        #expect(content.notes.map(\.text) == [note])
    }

    struct Refused: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var file: String
        var error: CaptionError
    }

    @Test(
        "K05: iTT: untrusted content is an error with its line",
        arguments: [
            Refused(
                testDescription: "entities",
                file: "<?xml version='1.0'?>\n<!DOCTYPE tt [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n<tt>&b;</tt>",
                error: CaptionError(
                    code: .malformed, line: 2, text: "a document type with declarations is not supported")),
            Refused(
                testDescription: "not closed", file: "<tt>\n<body>",
                error: CaptionError(code: .malformed, line: 2, text: "the file ends inside of <body>")),
            Refused(
                testDescription: "closed twice", file: "<tt>\n</tt></tt>",
                error: CaptionError(code: .malformed, line: 2, text: "</tt> does not match an open tag")),
            Refused(
                testDescription: "deep", file: String(repeating: "<tt>", count: 1000),
                error: CaptionError(
                    code: .limitExceeded, line: 1, text: "more than 64 elements inside one another")),
            Refused(
                testDescription: "another root", file: "<html></html>",
                error: CaptionError(code: .notThisFormat, line: 1, text: "the root is <html>, not <tt>")),
            Refused(
                testDescription: "nothing", file: " ",
                error: CaptionError(code: .malformed, line: 1, text: "no element")),
        ])
    func refused(_ refused: Refused) {
        #expect(throws: refused.error) { try read(.iTunesTimedText, refused.file) }
    }

    @Test("K04: iTT: written captions read back unchanged", arguments: UInt64(0)..<40)
    func roundTrip(seed: UInt64) throws {
        var maker = CaptionMaker(seed: seed)
        let captions = maker.captions(lines: [.overline, .lineThrough]) { style, random in
            style.backgroundColor =
                [nil, CaptionColor(red: 0, green: 0, blue: 0, alpha: 128)].randomElement(using: &random) ?? nil
            style.ruby =
                Int.random(in: 0..<6, using: &random) == 0 ? CaptionRuby(text: "r<&", position: .after) : nil
        } make: { index, text, runs, random in
            let start = Int64(index) * 60 + Int64.random(in: 0..<60, using: &random)
            return Caption(
                text, timeRange: frames(start, start + Int64.random(in: 1...90, using: &random)),
                region: [
                    .appleITTBottom, .appleITTTop,
                    CaptionRegion(
                        identifier: "x", origin: CaptionPoint(x: .cells(2), y: .percent(12.5)),
                        size: CaptionSize(width: .cells(20), height: .percent(30)), displayAlignment: .center,
                        writingMode: .topToBottomAndRightToLeft),
                ][index % 3], styles: runs, textAlignment: [nil, .start, .end, .left, .right, .center][index % 6])
        }
        for isDropFrame in [false, true] {
            var writer = CaptionFileWriter(format: .iTunesTimedText)
            writer.language = "de"
            writer.usesDropFrameTimeCode = isDropFrame
            let bytes = try writer.write(captions).bytes
            let content = try CaptionFileReader(format: .iTunesTimedText).read(bytes)
            #expect(content == CaptionFileReader.Content(captions: captions, language: "de"))
            #expect(try writer.write(content.captions).bytes == bytes)
        }
    }
}
