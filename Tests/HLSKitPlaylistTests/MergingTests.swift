import HLSKitPlaylist
import Testing

/// A live stream with keys, maps, ranges, dates, parts and discontinuities. It gives any window as a playlist.
private struct Stream {
    func window(_ range: Range<Int>, skipping skipped: Int = 0) -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-VERSION:10\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n"
        text += "#EXT-X-PART-INF:PART-TARGET=1\n"
        text += "#EXT-X-MEDIA-SEQUENCE:\(range.lowerBound)\n"
        text += "#EXT-X-DISCONTINUITY-SEQUENCE:\((0..<range.lowerBound).filter { $0 % 7 == 0 }.count)\n"
        let first = range.lowerBound + skipped
        if skipped > 0 {
            text += "#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)\n"
        } else {
            text += "#EXT-X-MAP:URI=\"map\(first / 11)\"\n"
            text += key(first / 5)
        }
        for number in first..<range.upperBound {
            if number != range.lowerBound {
                if number % 11 == 0 { text += "#EXT-X-KEY:METHOD=NONE\n#EXT-X-MAP:URI=\"map\(number / 11)\"\n" }
                if number % 5 == 0 || number % 11 == 0 { text += key(number / 5) }
            }
            if number % 7 == 0 { text += "#EXT-X-DISCONTINUITY\n" }
            if number % 4 == 1 { text += "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:\(10 + number / 4):00Z\n" }
            if number % 9 == 2 { text += "#EXT-X-DATERANGE:ID=\"d\(number)\",START-DATE=\"2024-01-01T00:00:00Z\"\n" }
            if number % 3 == 0 { text += "#EXT-X-BYTERANGE:100@\(number * 100)\n" }
            if number % 13 == 0 { text += "#EXT-X-GAP\n# a comment\n" }
            text += "#EXT-X-PART:DURATION=1.5,URI=\"p\(number).0\"\n#EXT-X-PART:DURATION=2.5,URI=\"p\(number).1\"\n"
            text += "#EXTINF:\(number % 2 == 0 ? "4.004" : "3.996"),title \(number)\n"
            text += number % 3 == 0 ? "ranges\n" : "s\(number)\n"
        }
        text += "#EXT-X-PART:DURATION=1,URI=\"p\(range.upperBound).0\"\n"
        return text + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p\(range.upperBound).1\"\n"
    }

    private func key(_ number: Int) -> String {
        number % 3 == 2 ? "#EXT-X-KEY:METHOD=NONE\n" : "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number)\"\n"
    }

    func playlist(_ range: Range<Int>, skipping skipped: Int = 0) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: window(range, skipping: skipped), url: "https://h/x.m3u8")
    }
}

@Suite struct MergingTests {
    @Test("a reload that reuses the previous playlist equals a fresh read, for every window")
    func reuse() throws {
        let stream = Stream()
        for start in 0..<24 {
            var previous = try stream.playlist(start..<start + 20)
            for step in [0, 1, 3, 8, 19, 25] {
                let range = start + step..<start + step + 20
                let fresh = try stream.playlist(range)
                let reused = try MediaPlaylist(
                    parsing: Array(stream.window(range).utf8), url: "https://h/x.m3u8", reusing: previous)
                #expect(reused == fresh && reused.text == fresh.text)
                #expect(reused.segments.map(\.derivedProgramDateTime) == fresh.segments.map(\.derivedProgramDateTime))
                #expect(reused.segments.map(\.startOffset) == fresh.segments.map(\.startOffset))
                #expect(reused.segments.map(\.line) == fresh.segments.map(\.line))
                #expect(reused.issues == fresh.issues)
                if step == 3 { previous = reused }
            }
        }
    }

    @Test("26: a merged delta update equals the full playlist, for every window and skip")
    func deltaUpdate() throws {
        let stream = Stream()
        for start in 0..<24 {
            let old = try stream.playlist(start..<start + 20)
            for step in 0..<5 {
                for skipped in [1, 7, 20 - step] {
                    let range = start + step..<start + step + 22
                    let update = try stream.playlist(range, skipping: skipped)
                    let merged = try old.merging(update: update)
                    let full = try stream.playlist(range)
                    #expect(merged.segments == full.segments)
                    #expect(merged.trailingParts == full.trailingParts && merged.preloadHints == full.preloadHints)
                    #expect(merged.skip == nil && merged.upcoming == full.upcoming)
                    #expect(merged.mediaSequence == full.mediaSequence)
                    #expect(
                        merged.segments.map(\.derivedProgramDateTime) == full.segments.map(\.derivedProgramDateTime))
                    let written = try MediaPlaylist(parsing: merged.text, url: "https://h/x.m3u8")
                    #expect(written.segments == full.segments)
                }
            }
        }
    }

    @Test("deltas merge one after the other")
    func chain() throws {
        let stream = Stream()
        var playlist = try stream.playlist(0..<20)
        for start in 1..<60 {
            playlist = try playlist.merging(update: stream.playlist(start..<start + 20, skipping: 19))
            #expect(try playlist.segments == stream.playlist(start..<start + 20).segments)
        }
    }

    @Test("an update that skips unknown segments cannot be merged", arguments: [(0..<20, 40..<60), (30..<40, 0..<60)])
    func unknown(_ old: Range<Int>, _ new: Range<Int>) throws {
        let error = #expect(throws: PlaylistError.self) {
            try Stream().playlist(old).merging(update: Stream().playlist(new, skipping: 15))
        }
        #expect(error?.code == .cannotMerge)
    }

    @Test("skipped date ranges are kept except removed ones; others come from the update")
    func dateRanges() throws {
        func playlist(_ control: String, _ lines: String) throws -> MediaPlaylist {
            try MediaPlaylist(
                parsing: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\(control)\n"
                    + lines,
                url: "")
        }
        func range(_ id: String, _ more: String = "") -> String {
            "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2024-01-01T00:00:00Z\"\(more)\n"
        }
        let segments = "#EXTINF:4,\na\n#EXTINF:4,\nb\n"
        let skip = "#EXT-X-SKIP:SKIPPED-SEGMENTS=2"
        let old = try playlist("", range("1") + range("2", ",X-A=1") + range("3") + segments)
        let newer = try playlist(
            ",CAN-SKIP-DATERANGES=YES",
            "\(skip),RECENTLY-REMOVED-DATERANGES=\"1\t9\"\n" + range("2", ",X-B=2") + range("4"))
        let merged = try old.merging(update: newer)
        #expect(merged.dateRanges.map(\.id) == ["2", "3", "4"])
        #expect(merged.dateRanges[0].otherAttributes.map(\.name).sorted() == ["X-A", "X-B"])
        #expect(try old.merging(update: playlist("", "\(skip)\n" + range("3"))).dateRanges.map(\.id) == ["3"])
    }
}
