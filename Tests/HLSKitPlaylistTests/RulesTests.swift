import Glibc
import HLSKitPlaylist
import Testing

private let url = "https://h.example/a/b/x.m3u8?q=1&name=a%20b"

private func media(_ lines: String, head: String = "#EXT-X-TARGETDURATION:10\n") throws -> MediaPlaylist {
    try MediaPlaylist(parsing: "#EXTM3U\n" + head + lines, url: url)
}

private func multivariant(_ lines: String) throws -> MultivariantPlaylist {
    try MultivariantPlaylist(parsing: "#EXTM3U\n" + lines, url: url)
}

extension MediaPlaylist {
    fileprivate var keysInForce: [EncryptionKey] { segments.flatMap(\.keys) }
}

private func rules(_ issues: [PlaylistIssue]) -> Set<PlaylistRule> { Set(issues.map(\.rule)) }

/// The rules have the numbers of docs/reference/playlists.md.
@Suite struct RulesTests {
    @Test("rule 1: quoted strings may contain commas, equals signs, number signs and spaces; no escapes")
    func rule1() throws {
        let playlist = try multivariant(
            #"""
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a, b=c#d",NAME=" 'x\",URI="u"
            #EXT-X-STREAM-INF:BANDWIDTH=1,CODECS="a,b",AUDIO="a, b=c#d"
            v
            """#)
        #expect(playlist.renditions[0].groupID == "a, b=c#d" && playlist.renditions[0].name == #" 'x\"#)
        #expect(playlist.variants[0].codecs == ["a", "b"] && playlist.issues.isEmpty)
    }

    @Test("rule 2: whole attribute names match")
    func rule2() throws {
        let playlist = try multivariant(
            "#EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=5,X-BANDWIDTH=6,NAME=\"BANDWIDTH=9\",BANDWIDTH=7\nv\n")
        #expect(playlist.variants[0].bandwidth == 7 && playlist.variants[0].averageBandwidth == 5)
        let range = try media("#EXT-X-DATERANGE:ID=\"i\",START-DATE=\"2024-01-01T00:00:00Z\",PLANNED-DURATION=9\n")
            .dateRanges[0]
        #expect(range.plannedDuration == .seconds(9) && range.duration == nil)
    }

    @Test("rule 3: whole tag names match")
    func rule3() throws {
        let playlist = try media(
            "#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-DISCONTINUITY-SEQUENCE:4\n#EXT-X-KEYS:METHOD=X\n#EXTINF:1,\na\n")
        #expect(playlist.partTarget == .seconds(1) && playlist.discontinuitySequence == 4)
        #expect(!playlist.segments[0].hasDiscontinuity && playlist.segments[0].keys.isEmpty)
    }

    @Test(
        "rule 4: unknown tags, attributes and comments are skipped; an unknown REQ- excludes the variant"
    )
    func rule4() throws {
        let playlist = try multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1,X-NEW=5,REQ-TELEPATHY=\"YES\"\n# note\n#EXT-X-NEW:1\n\nv\n#EXT-X-STREAM-INF:BANDWIDTH=2,REQ-VIDEO-LAYOUT=\"CH-STEREO\"\nw\n"
        )
        #expect(playlist.variants.map(\.uri) == ["v", "w"] && playlist.issues.isEmpty)
        #expect(playlist.variants[0].unknownRequirements == ["REQ-TELEPATHY"])
        #expect(playlist.variants[1].unknownRequirements.isEmpty)
    }

    @Test("rule 5: lines end in LF or CRLF, and the last line needs no end")
    func rule5() throws {
        let playlist = try media("#EXTINF:1,\r\na\r\n#EXTINF:2,\nb\n#EXT-X-ENDLIST")
        #expect(playlist.segments.map(\.uri) == ["a", "b"] && playlist.hasEndList && playlist.issues.isEmpty)
        #expect(try media("#EXTINF:1,\na").segments.count == 1)
        #expect(throws: PlaylistError.self) { try Playlist(parsing: "#EXTM3U\r#EXTINF:1,\ra\r", url: url) }
    }

    @Test("rule 6: one byte order mark is skipped with a warning; only LF and CRLF split lines")
    func rule6() throws {
        let playlist = try MediaPlaylist(
            parsing: "\u{FEFF}#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,a\u{2028}b\u{85}c\nd\n", url: url)
        #expect(playlist.issues.map(\.rule) == [.byteOrderMark] && playlist.issues[0].severity == .warning)
        #expect(playlist.segments.map(\.title) == ["a\u{2028}b\u{85}c"])
        #expect(try media("#EXTINF:1,a\u{0B}b\u{0C}c\nd\n").segments.map(\.uri) == ["d"])
    }

    @Test("rule 7: #EXTM3U is the first line; blanks at its end are tolerated")
    func rule7() throws {
        #expect(try Playlist(parsing: "#EXTM3U \t\n#EXT-X-TARGETDURATION:1\n", url: url).issues.isEmpty)
        #expect(try !Playlist(parsing: "\n #EXTM3U\n#EXT-X-TARGETDURATION:1\n", url: url).issues.isEmpty)
        for text in ["x\n#EXTM3U\n", "#EXTM3U8\n", "", "#EXTM3"] {
            let error = #expect(throws: PlaylistError.self) { try Playlist(parsing: text, url: url) }
            #expect(error?.code == .notAPlaylist && error?.rule == .header)
        }
    }

    @Test("rule 8: segments and variants do not mix; a target duration alone is an empty live playlist")
    func rule8() throws {
        for text in [
            "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n#EXTINF:1,\na\n", "#EXTINF:1,\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n",
        ] {
            let error = #expect(throws: PlaylistError.self) { try Playlist(parsing: "#EXTM3U\n" + text, url: url) }
            #expect(error?.rule == .mixedKinds && error?.line == 4)
        }
        #expect(try media("").segments.isEmpty && media("").issues.isEmpty)
        #expect(throws: PlaylistError.self) {
            try MediaPlaylist(parsing: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv", url: url)
        }
    }

    @Test(
        "rule 8: media playlist tags next to variants are ignored; strict reading refuses them",
        arguments: [
            "#EXT-X-ENDLIST", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-TARGETDURATION:15", "#EXT-X-MEDIA-SEQUENCE:0",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z",
            "#EXT-X-DISCONTINUITY",
        ])
    func strayTags(_ tag: String) throws {
        let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n"
        for text in ["#EXTM3U\n\(tag)\n\(variant)", "#EXTM3U\n\(variant)\(tag)\n"] {
            let playlist = try MultivariantPlaylist(parsing: text, url: url)
            #expect(playlist.variants.map(\.uri) == ["v"])
            #expect(playlist.issues.map(\.rule) == [.mixedKinds] && playlist.issues[0].severity == .error)
            #expect(playlist.issues[0].tag == String(tag.dropFirst().prefix { $0 != ":" }))
            #expect(playlist.issues[0].line == (text.hasSuffix("\(tag)\n") ? 4 : 2))
            var options = PlaylistParser.Options()
            options.mode = .strict
            #expect(throws: PlaylistError.self) { try Playlist(parsing: Array(text.utf8), url: url, options: options) }
        }
    }

    @Test("a VOD playlist without EXT-X-ENDLIST is complete with a finding; one with parts grows")
    func vodWithoutEnd() throws {
        let playlist = try media("#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:1,\na\n")
        #expect(playlist.isComplete && !playlist.hasEndList && playlist.issues.map(\.rule) == [.tagPosition])
        #expect(playlist.lint().contains { $0.issue.rule == .tagPosition && $0.issue.severity == .error })
        #expect(try !media("#EXT-X-PLAYLIST-TYPE:EVENT\n#EXTINF:1,\na\n").isComplete)
        #expect(try media("#EXTINF:1,\na\n#EXT-X-ENDLIST\n").isComplete)
        let growing = try media("#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-PART-INF:PART-TARGET=1\n#EXTINF:1,\na\n")
        #expect(!growing.isComplete && growing.issues.isEmpty)
    }

    @Test(
        "rule 8: a session tag in a media playlist is a finding; strict reading refuses it",
        arguments: [
            "#EXT-X-SESSION-DATA:DATA-ID=\"i\",VALUE=\"v\"", "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"k\",IV=0xZZ",
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s\"",
        ])
    func sessionTags(_ tag: String) throws {
        for text in [
            "\(tag)\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na\n", "#EXTINF:4,\na\n\(tag)\n#EXT-X-TARGETDURATION:4\n",
        ] {
            let playlist = try media(text, head: "")
            #expect(playlist.segments.map(\.uri) == ["a"] && playlist.keysInForce.isEmpty)
            #expect(
                playlist.issues.map(\.rule) == [.mixedKinds]
                    && playlist.issues[0].tag == String(tag.dropFirst().prefix { $0 != ":" }))
            #expect(playlist.issues[0].line == (text.hasPrefix("#EXTINF") ? 4 : 2))
            let bytes = Array(("#EXTM3U\n" + text).utf8)
            #expect(playlist.text == bytes)
            var options = PlaylistParser.Options()
            options.mode = .strict
            #expect(throws: PlaylistError.self) { try Playlist(parsing: bytes, url: url, options: options) }
        }
    }

    @Test("rule 8: session tags alone are a multivariant playlist")
    func sessionTagsAlone() throws {
        let playlist = try multivariant("#EXT-X-SESSION-DATA:DATA-ID=\"i\",VALUE=\"v\"\n")
        #expect(playlist.sessionData.map(\.value) == ["v"] && playlist.issues.isEmpty)
    }

    @Test("rule 9: white space around names and lines is tolerated, inside quotes and URIs it is kept")
    func rule9() throws {
        let playlist = try multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1, NAME=\" n \",CODECS = \"c\"\n  my video.m3u8 \n")
        #expect(playlist.variants[0].name == " n " && playlist.variants[0].codecsText == "c")
        #expect(playlist.variants[0].uri == "my video.m3u8" && rules(playlist.issues) == [.whiteSpace])
    }

    @Test("rule 10, R35: integers have 64 bits, and neither they nor derived numbers wrap")
    func rule10() throws {
        #expect(
            try multivariant("#EXT-X-STREAM-INF:BANDWIDTH=9007199254740993\nv").variants[0].bandwidth
                == 9_007_199_254_740_993)
        #expect(
            try media("#EXT-X-MEDIA-SEQUENCE:9223372036854775805\n#EXTINF:1,\na").segments[0].mediaSequence == Int.max
                - 2)
        for number in ["9223372036854775807", "9223372036854775808", "18446744073709551616", "-1", "1x", ""] {
            let error = #expect(throws: PlaylistError.self) {
                try media("#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXTINF:1,\na")
            }
            #expect(error?.rule == .sequenceNumber)
            #expect(throws: PlaylistError.self) {
                try media("#EXT-X-DISCONTINUITY-SEQUENCE:\(number)\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\na")
            }
        }
        let range = try media("#EXT-X-BYTERANGE:5@5000000000\n#EXTINF:1,\na").segments[0].byteRange
        #expect(range == ByteRange(offset: 5_000_000_000, length: 5))
        for range in ["9223372036854775807@1", "1@9223372036854775807", "x", "@", "5@", "-1@0"] {
            let error = #expect(throws: PlaylistError.self) { try media("#EXT-X-BYTERANGE:\(range)\n#EXTINF:1,\na") }
            #expect(error?.rule == .byteRange && error?.line == 3 || error?.line == 5)
        }
        #expect(throws: PlaylistError.self) {
            try media("#EXT-X-BYTERANGE:9223372036854775806@1\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:1\n#EXTINF:1,\na")
        }
    }

    @Test("rule 11: durations are exact: a hundred thousand of them do not drift")
    func rule11() throws {
        var text = ""
        for _ in 0..<100_000 { text += "#EXTINF:3.003003003003003003,\ns\n" }
        #expect(
            try media(text).duration
                == Duration(secondsComponent: 300_300, attosecondsComponent: 300_300_300_300_300_000))
        #expect(try media("#EXTINF:0.1,\na\n#EXTINF:0.2,\nb").duration == .milliseconds(300))
    }

    @Test(
        "rule 12: every form of EXTINF is read",
        arguments: [
            ("6", 6000, ""), ("6.", 6000, ""), ("6.0", 6000, ""), ("6,", 6000, ""),
            ("6.25,title, with commas ", 6250, "title, with commas"),
            ("0,", 0, ""), (".5,", 500, ""), (" 6 , t", 6000, "t"), ("006.500,", 6500, ""),
        ])
    func rule12(_ text: String, _ milliseconds: Int, _ title: String) throws {
        let segment = try #require(try media("#EXTINF:\(text)\na").segments.first)
        #expect(segment.duration == .milliseconds(milliseconds) && segment.title == title)
    }

    @Test("rule 13: EXTINF applies to the next URI despite lines between; a second one replaces the first")
    func rule13() throws {
        let playlist = try media(
            "#EXTINF:1,x\n#EXTINF:2,\n#EXT-X-GAP\n# c\n\n#EXT-X-DISCONTINUITY\na\n#EXT-X-BYTERANGE:1@2\n#EXTINF:3,\nb\n"
        )
        #expect(playlist.segments.map(\.duration) == [.seconds(2), .seconds(3)] && playlist.segments[0].title == "")
        #expect(
            playlist.segments[0].isGap && playlist.segments[0].hasDiscontinuity && playlist.segments[1].byteRange != nil
        )
        #expect(rules(playlist.issues) == [.tagWithoutURI])
    }

    @Test(
        "rule 14: references resolve against the URL without its query",
        arguments: [
            ("../s.ts", "https://h.example/a/s.ts"), ("//o.example/s", "https://o.example/s"),
            ("?t=2", "https://h.example/a/b/x.m3u8?t=2"),
            ("#f", "https://h.example/a/b/x.m3u8?q=1&name=a%20b#f"), ("/s%2Fa b", "https://h.example/s%2Fa b"),
            ("http://x/../y/./z", "http://x/y/z"), ("data:a/../b", "data:a/../b"),
        ])
    func rule14(_ reference: String, _ expected: String) throws {
        #expect(try media("").resolve(reference) == expected)
    }

    @Test("rule 15: a byte range without an offset continues the previous segment's in the same resource")
    func rule15() throws {
        let playlist = try media(
            "#EXT-X-BYTERANGE:10@5\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:20\n#EXTINF:1,\na\n#EXT-X-BYTERANGE:30\n#EXTINF:1,\na\n"
        )
        #expect(playlist.segments.map(\.byteRange?.offset) == [5, 15, 35] && playlist.issues.isEmpty)
        let broken = try media(
            "#EXT-X-BYTERANGE:10@5\n#EXTINF:1,\na\n#EXTINF:1,\nb\n#EXT-X-BYTERANGE:20\n#EXTINF:1,\na\n")
        #expect(broken.segments[2].byteRange?.offset == 0 && rules(broken.issues) == [.byteRange])
    }

    @Test("rule 16: a map's range starts at 0, continues no range and applies across discontinuities")
    func rule16() throws {
        let playlist = try media(
            "#EXT-X-BYTERANGE:10@5\n#EXTINF:1,\na\n#EXT-X-MAP:URI=\"a\",BYTERANGE=\"7\"\n#EXT-X-BYTERANGE:1\n#EXTINF:1,\na\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\nb\n"
        )
        #expect(playlist.segments[1].map?.byteRange == ByteRange(offset: 0, length: 7))
        #expect(playlist.segments[1].byteRange?.offset == 15)
        #expect(playlist.segments.map(\.map?.uri) == [nil, "a", "a"])
    }

    @Test("rule 17: keys of several formats apply together until one of the same format, or NONE")
    func rule17() throws {
        let playlist = try media(
            """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="1"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="f1",KEYFORMAT="f"
            #EXTINF:1,
            a
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="2",IV=0x1
            #EXT-X-MAP:URI="m"
            #EXTINF:1,
            b
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:1,
            c
            #EXT-X-KEY:METHOD=none,URI="x"
            #EXTINF:1,
            d
            """)
        #expect(playlist.segments.map { $0.keys.map(\.uri) } == [["1", "f1"], ["2", "f1"], [], ["x"]])
        #expect(playlist.segments[1].map?.keys.map(\.uri) == ["2", "f1"])
        #expect(playlist.segments[3].keys[0].method == EncryptionKey.Method(rawValue: "none"))
    }

    @Test("rule 18: the implicit IV is the media sequence number, also after skipped segments")
    func rule18() throws {
        let playlist = try media(
            "#EXT-X-MEDIA-SEQUENCE:250\n#EXT-X-SKIP:SKIPPED-SEGMENTS=8\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:1,\na\n"
        )
        let segment = playlist.segments[0]
        #expect(segment.mediaSequence == 258)
        #expect(segment.initializationVector(for: segment.keys[0]) == [UInt8](repeating: 0, count: 14) + [1, 2])
    }

    @Test(
        "rule 19: hexadecimal numbers of any case and length are left-padded; an IV over 128 bits is refused"
    )
    func rule19() throws {
        let iv = try media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0XaBc\n#EXTINF:1,\na").segments[0].keys[0].iv
        #expect(iv == [UInt8](repeating: 0, count: 14) + [0x0A, 0xBC])
        let long = "0x" + String(repeating: "F", count: 33)
        for iv in [long, "0xG", "0x", "\"\"", ""] {
            #expect(throws: PlaylistError.self) {
                try media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=\(iv)\n#EXTINF:1,\na")
            }
        }
        let range = try media("#EXT-X-DATERANGE:ID=\"i\",START-DATE=\"2024-01-01T00:00:00Z\",SCTE35-OUT=\(long)\n")
            .dateRanges[0]
        #expect(range.scte35Out == long)
    }

    @Test("rule 20: the first of repeated attributes wins")
    func rule20() throws {
        let playlist = try multivariant("#EXT-X-STREAM-INF:BANDWIDTH=1,BANDWIDTH=2,BANDWIDTH=-1\nv\n")
        #expect(playlist.variants[0].bandwidth == 1 && rules(playlist.issues) == [.duplicateAttribute])
    }

    @Test("rule 21: the first of repeated tags wins, for a sequence number the last before the segments")
    func rule21() throws {
        let playlist = try media(
            "#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-TARGETDURATION:3\n#EXTINF:1,\na\n#EXT-X-MEDIA-SEQUENCE:9\n"
        )
        #expect(playlist.targetDuration == .seconds(10) && playlist.segments[0].mediaSequence == 5)
        #expect(rules(playlist.issues) == [.repeatedTag, .tagPosition])
    }

    @Test("rule 22: enumerated values are case-sensitive; only the unknown value is ignored")
    func rule22() throws {
        let playlist = try multivariant(
            "#EXT-X-MEDIA:TYPE=HOLOGRAM,GROUP-ID=\"g\",NAME=\"n\",DEFAULT=yes\n#EXT-X-STREAM-INF:BANDWIDTH=1,VIDEO-RANGE=XXL,HDCP-LEVEL=TYPE-9\nv\n"
        )
        #expect(!playlist.renditions[0].isDefault && playlist.renditions[0].type.rawValue == "HOLOGRAM")
        #expect(playlist.variants[0].videoRange == VideoRange(rawValue: "XXL") && playlist.variants.count == 1)
    }

    @Test("rule 23: a segment's discontinuity number counts the tags up to it, also across reloads")
    func rule23() throws {
        let old = try media(
            "#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:4\n#EXTINF:1,\na\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\nb\n#EXTINF:1,\nc\n"
        )
        #expect(old.segments.map(\.discontinuitySequence) == [4, 5, 5])
        let update = try media("#EXT-X-MEDIA-SEQUENCE:9\n#EXTINF:1,\nc\n#EXT-X-DISCONTINUITY\n#EXTINF:1,\nd\n")
        let merged = try old.merging(update: update)
        #expect(merged.segments.map(\.discontinuitySequence) == [5, 6])
        #expect(try MediaPlaylist(parsing: merged.text, url: url).segments.map(\.discontinuitySequence) == [5, 6])
    }

    @Test("rule 24: dates in every notation are carried forward and back until the next one")
    func rule24() throws {
        for text in [
            "2024-03-01T00:00:00.5Z", "2024-03-01T02:30:00.500+02:30", "2024-02-29T22:00:00.5-0200",
            "2024-03-01T00:00:00.5",
        ] {
            #expect(PlaylistDate(text)?.description == "2024-03-01T00:00:00.500Z")
        }
        for text in [
            "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-01", "x", "2024-01-01T25:00:00Z",
            "2024-01-01T00:00:00+99:00",
        ] {
            #expect(PlaylistDate(text) == nil)
        }
        let playlist = try media(
            "#EXTINF:2.5,\na\n#EXTINF:1,\n#EXT-X-PROGRAM-DATE-TIME:2024-03-01T00:00:01Z\nb\n#EXTINF:1,\nc\n#EXT-X-PROGRAM-DATE-TIME:2025-01-01T00:00:00Z\n#EXTINF:1,\nd\n"
        )
        #expect(
            playlist.segments.map(\.derivedProgramDateTime?.description) == [
                "2024-02-29T23:59:58.500Z", "2024-03-01T00:00:01.000Z", "2024-03-01T00:00:02.000Z",
                "2025-01-01T00:00:00.000Z",
            ])
        #expect(playlist.segments.map { $0.programDateTime != nil } == [false, true, false, true])
    }

    @Test("rule 25: date ranges of one ID merge; DURATION overrides END-DATE; END-ON-NEXT uses date and class")
    func rule25() throws {
        let playlist = try media(
            """
            #EXTINF:1,
            a
            #EXT-X-DATERANGE:ID="late",CLASS="c",START-DATE="2024-01-01T00:00:30Z"
            #EXT-X-DATERANGE:ID="x",CLASS="c",START-DATE="2024-01-01T00:00:00Z",END-ON-NEXT=YES
            #EXT-X-DATERANGE:ID="next",CLASS="c",START-DATE="2024-01-01T00:00:10Z",DURATION=2,END-DATE="2024-01-01T00:00:15Z"
            #EXT-X-DATERANGE:ID="x",X-A="1"
            #EXT-X-DATERANGE:ID="x",CLASS="other",X-A="1"
            """)
        #expect(playlist.dateRanges.map(\.id) == ["late", "x", "next"])
        #expect(playlist.dateRanges[1][attribute: "X-A"] == "1" && playlist.dateRanges[1].class == "c")
        #expect(playlist.endDate(of: playlist.dateRanges[1]) == PlaylistDate("2024-01-01T00:00:10Z"))
        #expect(playlist.endDate(of: playlist.dateRanges[2]) == PlaylistDate("2024-01-01T00:00:12Z"))
        #expect(rules(playlist.issues) == [.dateRange])
    }

    @Test("rule 27: parts' ranges continue; trailing parts belong to the next segment with its tags")
    func rule27() throws {
        let playlist = try media(
            """
            #EXT-X-PART-INF:PART-TARGET=1
            #EXT-X-PART:DURATION=1,URI="p",BYTERANGE="5@10"
            #EXT-X-PART:DURATION=1,URI="p",BYTERANGE="6",GAP=YES
            #EXTINF:2.5,
            a
            #EXT-X-DISCONTINUITY
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"
            #EXT-X-PART:DURATION=1,URI="q",INDEPENDENT=YES
            """)
        #expect(
            playlist.segments[0].parts.map(\.byteRange?.offset) == [10, 15] && playlist.duration == .milliseconds(2500))
        #expect(playlist.segments[0].parts.last?.isGap == true)
        #expect(playlist.trailingParts.map(\.isIndependent) == [true])
        #expect(playlist.upcoming.hasDiscontinuity && playlist.upcoming.keys.map(\.uri) == ["k"])
    }

    @Test("rule 28: variables are replaced once, in the specified places; undefined and repeated ones fail")
    func rule28() throws {
        var options = PlaylistParser.Options()
        options.importedVariables = ["host": "imported"]
        let playlist = try MediaPlaylist(
            parsing: """
                #EXTM3U
                #EXT-X-TARGETDURATION:1
                #EXT-X-DEFINE:NAME="a",VALUE="{$b"
                #EXT-X-DEFINE:NAME="c",VALUE="}{$a}"
                #EXT-X-DEFINE:IMPORT="host"
                #EXT-X-DEFINE:QUERYPARAM="name"
                #EXTINF:1,{$none}
                {$host}/{$c}/{$name}/{$}/{x}
                """, url: url, options: options)
        #expect(playlist.segments[0].uri == "imported/}{$b/a b/{$}/{x}" && playlist.segments[0].title == "{$none}")
        #expect(playlist.definitions.map(\.value) == ["{$b", "}{$b", "imported", "a b"])
        for lines in [
            "#EXTINF:1,\n{$x}\n", "#EXTINF:1,\n{$x}\n#EXT-X-DEFINE:NAME=\"x\",VALUE=\"1\"\n",
            "#EXT-X-DEFINE:IMPORT=\"x\"\n",
            "#EXT-X-DEFINE:NAME=\"x\",VALUE=\"1\"\n#EXT-X-DEFINE:NAME=\"x\",VALUE=\"1\"\n",
            "#EXT-X-DEFINE:QUERYPARAM=\"zz\"\n",
            "#EXT-X-DEFINE:NAME=\"X\",VALUE=\"1\"\n#EXTINF:1,\n{$x}\n", "#EXT-X-MAP:URI=\"{$x}\"\n",
        ] {
            let error = #expect(throws: PlaylistError.self) { try media(lines) }
            #expect(error?.rule == .undefinedVariable || error?.rule == .definition)
        }
    }

    @Test("rule 29: a rendition report without numbers has its playlist's numbers")
    func rule29() throws {
        let lines =
            "#EXT-X-PART-INF:PART-TARGET=1\n#EXT-X-MEDIA-SEQUENCE:10\n#EXT-X-PART:DURATION=1,URI=\"p\"\n#EXTINF:1,\na\n"
        let report = "#EXT-X-RENDITION-REPORT:URI=\"r\"\n"
        #expect(
            try media(lines + report).renditionReports == [
                RenditionReport(uri: "r", lastMediaSequence: 10, lastPart: 0)
            ])
        let parts = "#EXT-X-PART:DURATION=1,URI=\"q\"\n#EXT-X-PART:DURATION=1,URI=\"r\"\n"
        #expect(
            try media(lines + parts + report).renditionReports == [
                RenditionReport(uri: "r", lastMediaSequence: 11, lastPart: 1)
            ])
    }

    @Test("rule 30: renditions keep file order; a variant with a missing group is kept")
    func rule30() throws {
        let playlist = try multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"none\"\nv\n#EXT-X-STREAM-INF:BANDWIDTH=2\nv\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"2\",URI=\"u\"\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"1\",URI=\"u\"\n"
        )
        #expect(playlist.renditions.map(\.name) == ["2", "1"] && playlist.variants.count == 2)
        #expect(rules(playlist.issues) == [.attributeConflict])
    }

    @Test("rule 31: any version is tried")
    func rule31() throws {
        #expect(try media("#EXT-X-VERSION:99\n").version == 99 && media("").version == nil)
    }

    @Test("rule 32: server control may come first, and is kept as written")
    func rule32() throws {
        let playlist = try media(
            "#EXT-X-TARGETDURATION:4\n", head: "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=24.5\n")
        #expect(playlist.serverControl == ServerControl(canSkipUntil: .milliseconds(24_500), canBlockReload: true))
    }

    @Test("rule 33: the target duration is compared with rounded durations, and may have decimals")
    func rule33() throws {
        let fits = try media("#EXTINF:4.499,\na\n", head: "#EXT-X-TARGETDURATION:4.0\n")
        #expect(fits.targetDuration == .seconds(4) && fits.issues.map(\.severity) == [.warning])
        let longer = try media("#EXTINF:4.5,\na\n", head: "#EXT-X-TARGETDURATION:4\n")
        #expect(longer.issues.map(\.rule) == [.targetDuration] && longer.issues[0].line == 3)
    }

    @Test("rule 34: gaps count for sequence, date and discontinuity")
    func rule34() throws {
        let playlist = try media(
            "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z\n#EXT-X-GAP\n#EXT-X-DISCONTINUITY\n#EXTINF:3,\nx\n#EXTINF:3,\na\n"
        )
        #expect(playlist.segments.map(\.isGap) == [true, false] && playlist.segments[1].mediaSequence == 1)
        #expect(playlist.segments[1].discontinuitySequence == 1)
        #expect(playlist.segments[1].derivedProgramDateTime == PlaylistDate("2024-01-01T00:00:03Z"))
    }

    /// The processor time that this thread has used, independent of the load of the machine.
    private static var workOfThread: Duration {
        // Seconds and nanoseconds. The compiler mistakes the names of the members of `timespec` for those of another
        // module.
        var time = (0, 0)
        withUnsafeMutableBytes(of: &time) { bytes in
            if let time = bytes.assumingMemoryBound(to: timespec.self).baseAddress {
                clock_gettime(CLOCK_THREAD_CPUTIME_ID, time)
            }
        }
        return .seconds(time.0) + .nanoseconds(time.1)
    }

    @Test(
        "rule 35: eight times the segments take about eight times as long, with keys, dates and ranges",
        .timeLimit(.minutes(10)))
    func rule35() throws {
        func text(_ count: Int) -> [UInt8] {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:7\n"
            for index in 0..<count {
                if index % 10 == 0 { text += "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(index)\"\n" }
                if index % 50 == 0 {
                    text += "#EXT-X-DATERANGE:ID=\"d\(index)\",START-DATE=\"2026-01-01T00:00:00Z\",DURATION=\(index)\n"
                }
                text += "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.\(index)Z\n#EXT-X-BYTERANGE:100@\(index)00\n"
                text += "#EXTINF:6.0,\ns\(index / 100).ts\n"
            }
            return Array(text.utf8)
        }
        func time(_ bytes: [UInt8]) throws -> Duration {
            var least = Duration.seconds(1000)
            for _ in 0..<4 {
                let began = Self.workOfThread
                let playlist = try MediaPlaylist(parsing: bytes, url: url)
                _ = (playlist.text.count, playlist.segments.last?.derivedProgramDateTime, playlist.lint().count)
                least = min(least, Self.workOfThread - began)
            }
            return least
        }
        // Linear growth takes 8 times as long, and quadratic growth 64 times.
        #expect(try time(text(16_000)) < time(text(2000)) * 20)
    }
}
