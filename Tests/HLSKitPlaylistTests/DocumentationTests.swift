import Foundation
import HLSKitPlaylist
import Testing

/// Compiles and runs the examples of the documentation. This file contains each code block of `HLSKitPlaylist.docc`
/// verbatim.
@Suite("Documentation examples") struct DocumentationTests {
    private static let live = """
        #EXTM3U
        #EXT-X-VERSION:6
        # made by hand
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:100
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3.0,CAN-SKIP-UNTIL=24
        #EXT-X-PART-INF:PART-TARGET=1.0
        #EXT-X-KEY:METHOD=AES-128,URI="k?v=1",IV=0x1
        #EXT-X-MAP:URI="init.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2026-05-01T20:00:00.000Z
        #EXTINF:4.0,
        s100.m4s
        #EXT-X-PART:DURATION=1.0,URI="s101.0.m4s",INDEPENDENT=YES
        #EXTINF:4.0,
        s101.m4s
        #EXT-X-PART:DURATION=1.0,URI="s102.0.m4s"
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="s102.1.m4s"
        #EXT-X-RENDITION-REPORT:URI="../audio/a.m3u8"

        """

    private static let top = """
        #EXTM3U
        # the ladder
        #EXT-X-STREAM-INF:BANDWIDTH=5400000,RESOLUTION=1920x1080
        1080.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1090000,RESOLUTION=960x540
        540.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2900000,RESOLUTION=1280x720
        720.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=300000,RESOLUTION=1920x1080,URI="i.m3u8"

        """

    private let url = "https://example.com/live/video.m3u8"

    private func lines(_ text: [UInt8]) -> [Substring] { String(decoding: text, as: UTF8.self).split(separator: "\n") }

    @Test("variants are sorted by bit rate, and large ones are removed")
    func reorder() throws {
        let text = Self.top
        // example
        var playlist = try MultivariantPlaylist(parsing: text, url: url)
        playlist.variants.sort { $0.bandwidth < $1.bandwidth }
        playlist.variants.removeAll { ($0.resolution?.height ?? 0) > 720 }
        playlist.iFrameVariants.removeAll { ($0.resolution?.height ?? 0) > 720 }
        let capped = playlist.text
        // end
        #expect(lines(capped).filter { !$0.hasPrefix("#") } == ["540.m3u8", "720.m3u8"])
        #expect(!String(decoding: capped, as: UTF8.self).contains("1080"))
        #expect(lines(capped).contains("# the ladder"))
    }

    @Test("a live window becomes a recording")
    func record() throws {
        let text = Self.live
        // example
        var playlist = try MediaPlaylist(parsing: text, url: url)
        playlist.playlistType = .vod
        playlist.hasEndList = true
        // Remove the properties of the live edge.
        playlist.serverControl = nil
        playlist.partTarget = nil
        playlist.trailingParts = []
        playlist.preloadHints = []
        playlist.renditionReports = []
        for index in playlist.segments.indices {
            playlist.segments[index].parts = []
        }
        let recording = playlist.text
        // end
        let again = try MediaPlaylist(parsing: recording, url: url)
        #expect(again == playlist && again.issues.isEmpty)
        #expect(lines(recording).last == "#EXT-X-ENDLIST" && lines(recording).contains("# made by hand"))
        let all = String(decoding: recording, as: UTF8.self)
        for gone in ["PART", "SERVER-CONTROL", "PRELOAD", "REPORT"] { #expect(!all.contains(gone)) }
    }

    @Test("every URI is signed")
    func sign() throws {
        let text = Self.live
        let token = "abc"
        // example
        func signed(_ uri: String) -> String { uri + (uri.contains("?") ? "&" : "?") + "token=\(token)" }

        var playlist = try MediaPlaylist(parsing: text, url: url)
        for index in playlist.segments.indices {
            var segment = playlist.segments[index]
            segment.uri = signed(segment.uri)
            for key in segment.keys.indices {
                segment.keys[key].uri = segment.keys[key].uri.map(signed)
            }
            if var map = segment.map {
                map.uri = signed(map.uri)
                for key in map.keys.indices {
                    map.keys[key].uri = map.keys[key].uri.map(signed)
                }
                segment.map = map
            }
            for part in segment.parts.indices {
                segment.parts[part].uri = signed(segment.parts[part].uri)
            }
            playlist.segments[index] = segment
        }
        let protected = playlist.text
        // end
        let again = try MediaPlaylist(parsing: protected, url: url)
        #expect(again.segments == playlist.segments)
        #expect(again.segments.map(\.uri) == ["s100.m4s?token=abc", "s101.m4s?token=abc"])
        #expect(again.segments[1].keys.map(\.uri) == ["k?v=1&token=abc"])
        #expect(again.segments[1].map?.uri == "init.mp4?token=abc")
        #expect(again.segments[1].parts.map(\.uri) == ["s101.0.m4s?token=abc"])
    }

    @Test("a break is announced")
    func announce() throws {
        let text = Self.live
        // example
        var playlist = try MediaPlaylist(parsing: text, url: url)
        if let start = playlist.segments.last?.derivedProgramDateTime {
            playlist.dateRanges.append(
                DateRange(
                    id: "break-1", class: DateRange.interstitialClass, startDate: start, plannedDuration: .seconds(30),
                    otherAttributes: [
                        PlaylistAttribute(name: "X-ASSET-URI", value: "https://ads.example.com/1.m3u8", isQuoted: true)
                    ]))
        }
        let announced = playlist.text
        // end
        let again = try MediaPlaylist(parsing: announced, url: url)
        #expect(again == playlist)
        #expect(again.dateRanges.first?.interstitial?.assetURI == "https://ads.example.com/1.m3u8")
        #expect(lines(announced).filter { !$0.contains("DATERANGE") } == lines(Array(text.utf8)))
    }

    @Test("a playlist is read, checked and loaded again")
    func read() throws {
        let text = Self.live
        func print(_ items: Any...) {}
        // example
        let playlist = try MediaPlaylist(parsing: text, url: "https://example.com/live/video.m3u8")
        for segment in playlist.segments {
            print(segment.mediaSequence, segment.duration, playlist.resolve(segment.uri) ?? segment.uri)
        }
        for finding in playlist.lint() {
            print(finding.issue, "-", finding.remedy)
        }
        // end
        let bytes = Array(
            """
            #EXTM3U
            #EXT-X-VERSION:9
            #EXT-X-TARGETDURATION:4
            #EXT-X-MEDIA-SEQUENCE:100
            #EXT-X-SKIP:SKIPPED-SEGMENTS=2
            #EXTINF:4.0,
            s102.m4s

            """.utf8)
        // example
        let next = try MediaPlaylist(parsing: bytes, url: playlist.url, reusing: playlist)
        let whole = next.skip == nil ? next : try playlist.merging(update: next)
        // end
        #expect(whole.segments.map(\.uri) == ["s100.m4s", "s101.m4s", "s102.m4s"])
    }

    @Test("the documentation contains the tested code")
    func same() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        var tested: [String] = []
        var current: [String]?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if trimmed == "// example" {
                current = []
            } else if trimmed == "// end", let lines = current {
                tested.append(lines.joined(separator: "\n"))
                current = nil
            } else {
                current?.append(line.hasPrefix("        ") ? String(line.dropFirst(8)) : line)
            }
        }
        var shown: [String] = []
        let catalogue = root.appendingPathComponent("Sources/HLSKitPlaylist/HLSKitPlaylist.docc")
        for name in ["HLSKitPlaylist.md", "ChangingPlaylists.md"] {
            let text = try String(contentsOf: catalogue.appendingPathComponent(name), encoding: .utf8)
            shown += text.split(separator: "```").enumerated().filter { $0.offset % 2 == 1 }
                .map { $0.element.replacing("swift\n", with: "", maxReplacements: 1) }
                .map { $0.trimmingCharacters(in: .newlines) }
        }
        #expect(shown.count == 6 && Set(shown) == Set(tested))
    }
}
