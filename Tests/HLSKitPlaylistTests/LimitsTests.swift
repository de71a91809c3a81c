import HLSKitPlaylist
import Testing

private func read(
    _ text: String, mode: PlaylistParser.Mode = .lenient, _ change: (inout PlaylistLimits) -> Void = { _ in }
) throws -> Playlist {
    var options = PlaylistParser.Options(mode: mode)
    change(&options.limits)
    return try Playlist(parsing: text, url: "https://h/x.m3u8", options: options)
}

private let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"

@Suite struct LimitsTests {
    @Test("R27, R66: values above a limit are refused with the limit's name")
    func limits() {
        let segments = head + String(repeating: "#EXTINF:4,\na\n", count: 5)
        let parts = head + String(repeating: "#EXT-X-PART:DURATION=1,URI=\"p\"\n", count: 5)
        let variants = "#EXTM3U\n" + String(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\nv\n", count: 5)
        let renditions =
            "#EXTM3U\n" + String(repeating: "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\",NAME=\"n\"\n", count: 5)
        let formats = head + (0..<5).map { "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"s\",KEYFORMAT=\"\($0)\"\n" }.joined()
        let keys = head + (0..<5).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0)\"\n#EXTINF:4,\na\n" }.joined()
        let ranges =
            head + (0..<5).map { "#EXT-X-DATERANGE:ID=\"\($0)\",START-DATE=\"2026-01-01T00:00:00Z\"\n" }.joined()
        let attributes =
            head + (0..<5).map { "#EXT-X-DATERANGE:ID=\"i\",START-DATE=\"2026-01-01T00:00:00Z\",X-\($0)=1\n" }.joined()
        let variables = head + (0..<5).map { "#EXT-X-DEFINE:NAME=\"a\($0)\",VALUE=\"v\"\n" }.joined()
        let cases: [(String, String, (inout PlaylistLimits) -> Void)] = [
            (formats, "maximumAlternativeKeyCount", { $0.maximumAlternativeKeyCount = 4 }),
            (keys, "maximumKeyCount", { $0.maximumKeyCount = 4 }),
            (ranges, "maximumDateRangeCount", { $0.maximumDateRangeCount = 4 }),
            (attributes, "maximumAttributeCount", { $0.maximumAttributeCount = 4 }),
            (variables, "maximumVariableCount", { $0.maximumVariableCount = 4 }),
            (segments, "maximumByteCount", { $0.maximumByteCount = 50 }),
            (segments, "maximumSegmentCount", { $0.maximumSegmentCount = 4 }),
            (parts, "maximumSegmentCount", { $0.maximumSegmentCount = 4 }),
            (variants, "maximumVariantCount", { $0.maximumVariantCount = 4 }),
            (renditions, "maximumVariantCount", { $0.maximumVariantCount = 4 }),
            (
                segments + "# " + String(repeating: "x", count: 100), "maximumLineByteCount",
                { $0.maximumLineByteCount = 99 }
            ),
        ]
        for (text, name, change) in cases {
            let error = #expect(throws: PlaylistError.self) { try read(text, change) }
            #expect(error?.code == .limitExceeded && error?.text.contains(name) == true)
            #expect(throws: Never.self) { try read(text) }
        }
    }

    @Test("keys and maps that no segment uses are dropped, except the next segment's")
    func unusedKeys() throws {
        let keys = (0..<10_000).map { "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0)\"\n#EXT-X-MAP:URI=\"m\($0)\"\n" }.joined()
        let playlist = try MediaPlaylist(parsing: head + "#EXTINF:4,\na\n" + keys, url: "https://h/")
        #expect(playlist.segments[0].keys.isEmpty && playlist.segments[0].map == nil)
        #expect(playlist.upcoming.keys.map(\.uri) == ["9999"] && playlist.upcoming.map?.uri == "m9999")
        let used = try MediaPlaylist(parsing: head + keys + "#EXTINF:4,\na\n#EXTINF:4,\nb\n", url: "https://h/")
        #expect(used.segments.map { $0.keys.map(\.uri) } == [["9999"], ["9999"]])
        #expect(used.segments[0].map?.keys.map(\.uri) == ["9999"])
    }

    @Test("many distinct key formats cost no more than their text", .timeLimit(.minutes(10)))
    func keyFormats() {
        let text =
            head + (0..<10_000).map { "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"s:\($0)\",KEYFORMAT=\"\($0)\"\n" }.joined()
        let error = #expect(throws: PlaylistError.self) { try read(text) }
        #expect(error?.code == .limitExceeded)
        #expect(throws: Never.self) { try read(text) { $0.maximumAlternativeKeyCount = .max } }
    }

    @Test("playlist text quoted in a message is truncated")
    func longMessages() throws {
        let name = String(repeating: "n", count: 60_000)
        let playlist = try MediaPlaylist(parsing: head + "#EXT-X-KEY:METHOD=AES-128,\(name)\n#EXTINF:4,\na\n", url: "")
        #expect(playlist.issues.contains { $0.text.hasPrefix("\"nnn") })
        #expect(playlist.issues.allSatisfy { $0.text.utf8.count < 600 })
    }

    @Test("a date range of many tags, and repeated delta updates, stay within the limits")
    func dateRanges() throws {
        let many = (0..<250).map { "#EXT-X-DATERANGE:ID=\"i\",START-DATE=\"2026-01-01T00:00:00Z\",X-\($0)=1\n" }
            .joined()
        let playlist = try MediaPlaylist(parsing: head + many + many + "#EXTINF:4,\na\n", url: "")
        #expect(playlist.dateRanges.map(\.otherAttributes.count) == [250] && playlist.issues.isEmpty)

        let control = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24,CAN-SKIP-DATERANGES=YES\n"
        func text(_ sequence: Int, skips: Bool) -> String {
            let segments = (skips ? "#EXT-X-SKIP:SKIPPED-SEGMENTS=5\n" : String(repeating: "#EXTINF:4,\na\n", count: 5))
            return head + control + "#EXT-X-MEDIA-SEQUENCE:\(sequence)\n" + segments + "#EXTINF:4,\na\n"
                + "#EXT-X-DATERANGE:ID=\"\(sequence)\",START-DATE=\"2026-01-01T00:00:00Z\"\n"
        }
        var options = PlaylistParser.Options()
        options.limits.maximumDateRangeCount = 3
        var merged = try MediaPlaylist(parsing: text(0, skips: false), url: "", options: options)
        for sequence in 1...2 {
            merged = try merged.merging(update: MediaPlaylist(parsing: text(sequence, skips: true), url: ""))
        }
        #expect(merged.dateRanges.map(\.id) == ["0", "1", "2"])
        let error = #expect(throws: PlaylistError.self) {
            try merged.merging(update: MediaPlaylist(parsing: text(3, skips: true), url: ""))
        }
        #expect(error?.code == .cannotMerge)
    }

    @Test("R66: growing variables are refused at a line's length, and in sum at a playlist's size")
    func definitions() {
        var bomb = head + "#EXT-X-DEFINE:NAME=\"a0\",VALUE=\"xxxxxxxxxx\"\n"
        for index in 1..<9 {
            let value = String(repeating: "{$a\(index - 1)}", count: 10)
            bomb += "#EXT-X-DEFINE:NAME=\"a\(index)\",VALUE=\"\(value)\"\n"
        }
        #expect(throws: PlaylistError.self) { try read(bomb) }
        let value = String(repeating: "x", count: 60_000)
        let many =
            head + "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(value)\"\n" + String(repeating: "#EXTINF:4,\n{$a}\n", count: 300)
        let error = #expect(throws: PlaylistError.self) { try read(many) }
        #expect(error?.code == .limitExceeded)
    }

    @Test("R33: control characters are reported; NUL is skipped at line ends and refused in URIs")
    func characters() throws {
        let error = #expect(throws: PlaylistError.self) { try read(head + "#EXTINF:4,\na\0b\n") }
        #expect(error?.rule == .controlCharacter)
        for text in ["#EXTINF:4,\0\na\n", "#EXTINF:4,\n\0a\0\0\n", "#EXTINF:4,\na\n\0\0\0", "#\0\n#EXTINF:4,\na\n"] {
            let playlist = try MediaPlaylist(parsing: head + text, url: "https://h/")
            #expect(playlist.segments.map(\.uri) == ["a"] && playlist.segments[0].title == "")
            #expect(playlist.issues.map(\.rule) == [.controlCharacter] && playlist.issues[0].severity == .error)
            #expect(playlist.text == Array((head + text).utf8))
            var options = PlaylistParser.Options()
            options.mode = .strict
            #expect(throws: PlaylistError.self) {
                try MediaPlaylist(parsing: head + text, url: "https://h/", options: options)
            }
        }
        let escape = try MediaPlaylist(parsing: head + "#EXTINF:4,\na\u{1B}[0m\n", url: "https://h/")
        #expect(escape.segments[0].uri == "a\u{1B}[0m" && escape.issues.map(\.rule) == [.controlCharacter])
        #expect(escape.resolve(escape.segments[0].uri) == nil)
    }

    @Test("R33: invalid UTF-8 is replaced in titles and escaped in URIs")
    func encodings() throws {
        var bytes = Array((head + "#EXTINF:4,").utf8) + [0xFF, 0xC0, 0x2F] + Array("\na\n".utf8)
        let titled = try MediaPlaylist(parsing: bytes, url: "")
        #expect(titled.segments[0].title == "\u{FFFD}\u{FFFD}/" && titled.issues.map(\.rule) == [.encoding])
        bytes = Array((head + "#EXTINF:4,\nespa").utf8) + [0xF1] + Array("a/x y.ts?z\n".utf8)
        let named = try MediaPlaylist(parsing: bytes, url: "https://h/")
        #expect(named.segments.map(\.uri) == ["espa%F1a/x y.ts?z"])
        #expect(named.issues.first?.rule == .encoding && named.issues.first?.severity == .error)
        #expect(named.issues.first?.line == 4 && named.text == bytes)
        let key = Array("#EXT-X-KEY:METHOD=AES-128,URI=\"k".utf8) + [0xE9] + Array("y\"\n#EXTINF:4,\na\n".utf8)
        let encrypted = try MediaPlaylist(parsing: Array(head.utf8) + key, url: "https://h/")
        #expect(encrypted.segments[0].keys.first?.uri == "k%E9y")
        let variant = Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv".utf8) + [0xFC, 0x0A]
        #expect(try MultivariantPlaylist(parsing: variant, url: "https://h/").variants.map(\.uri) == ["v%FC"])
        var options = PlaylistParser.Options()
        options.mode = .strict
        let error = #expect(throws: PlaylistError.self) {
            try MediaPlaylist(parsing: bytes, url: "", options: options)
        }
        #expect(error?.rule == .encoding && error?.line == 4)
    }

    @Test(
        "R34: an invalid duration becomes the target duration",
        arguments: [
            "-1", "NaN", "nan", "inf", "1e309", "1e3", "0x10", "+5", "", "5 6", "99999999999999999999",
            "18446744073709551616", "٣",
        ])
    func durations(_ text: String) throws {
        let playlist = try MediaPlaylist(
            parsing: head + "#EXTINF:1,\na\n#EXTINF:\(text),t\nb\n#EXTINF:1,\nc\n", url: "")
        #expect(playlist.segments.map(\.duration) == [.seconds(1), .seconds(4), .seconds(1)])
        #expect(playlist.segments.map(\.startOffset) == [.zero, .seconds(1), .seconds(5)])
        #expect(playlist.segments[1].title == "t" && playlist.issues.map(\.rule) == [.segmentDuration])
        #expect(throws: PlaylistError.self) { try MediaPlaylist(parsing: "#EXTM3U\n#EXTINF:\(text),\na\n", url: "") }
    }

    @Test("R36: a target duration is bounded; an invalid one becomes the longest segment's")
    func targetDuration() throws {
        #expect(
            try MediaPlaylist(parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:18446744073709551616\n#EXTINF:3,\na", url: "")
                .targetDuration == .seconds(3))
        #expect(
            try MediaPlaylist(parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:9223372036854775807\n", url: "").targetDuration
                == .seconds(1_000_000))
        #expect(try MediaPlaylist(parsing: "#EXTM3U\n#EXTINF:3.6,\na\n", url: "").targetDuration == .seconds(4))
    }

    @Test("strict reading throws the issues of lenient reading, and accepts clean playlists")
    func strict() throws {
        let texts = [
            head + "#EXTINF:4\na\n", head + "#EXTINF:5,\na\n", "#EXTM3U\n#EXTINF:4,\na\n", head + "a\n",
            head + "#EXT-X-MAP:BYTERANGE=\"1\"\n", "#EXTM3U\n#EXT-X-STREAM-INF:CODECS=\"x\"\nv\n",
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=5\nv\n", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n",
        ]
        for text in texts {
            let issue = try #require(try read(text).issues.first)
            let error = #expect(throws: PlaylistError.self) { try read(text, mode: .strict) }
            #expect(error?.rule == issue.rule && error?.line == issue.line && error?.text == issue.text)
        }
        #expect(try read(PlaylistParserTests.multivariant, mode: .strict).issues.isEmpty)
    }

    @Test("an error is one line with line number, tag, text and section, safe for a terminal")
    func descriptions() {
        let error = #expect(throws: PlaylistError.self) {
            try read(head + "#EXT-X-BYTERANGE:\u{1B}12@\n#EXTINF:4,\na\n")
        }
        #expect(
            error?.description
                == "line 3: EXT-X-BYTERANGE \"\\x1b12@\": the length is not a number up to 2^63-1 (rfc8216bis §4.4.4.2)"
        )
    }
}
