import Foundation
import HLSGetKit
import HLSKitCore
import TestSupport
import Testing

@testable import hlsget

@Suite("hlsget list", .ownThread, .timeLimit(.minutes(10)))
struct StreamListTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="en2.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Ton",LANGUAGE="de",URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Deutsch",LANGUAGE="de",URI="s.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Erzwungen",LANGUAGE="de",FORCED=YES,URI="f.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,AVERAGE-BANDWIDTH=800000,RESOLUTION=640x360,FRAME-RATE=25,CODECS="avc1.4d401e,mp4a.40.2",AUDIO="a"
        360.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,FRAME-RATE=25,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a",SUBTITLES="s"
        720.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1280x720,FRAME-RATE=50,CODECS="avc1.4d4020,mp4a.40.2",AUDIO="a"
        720p50.m3u8
        """

    private func list(preference: String? = nil) throws -> StreamList {
        let playlist = try Playlist(parsing: Array(Self.text.utf8), url: "https://h/x/master.m3u8")
        guard case .multivariant(let multivariant) = playlist else {
            throw ArgumentValueError("no multivariant playlist")
        }
        return StreamList(
            url: "https://h/x/master.m3u8", multivariant,
            preference: try preference.map { try QualityExpression(parsing: $0) })
    }

    @Test("each variant has its expression, best first, and the chosen one has a mark")
    func preferences() throws {
        let entries = try list().entries
        #expect(entries.map(\.quality) == ["720p50", "720p25", "360p"])
        #expect(entries.map(\.isChosen) == [true, false, false])
        #expect(try list(preference: "height<=360").entries.map(\.isChosen) == [false, false, true])
        for entry in entries {
            let expression = try QualityExpression(parsing: entry.quality)
            #expect(expression.matches(entries.map(\.variant)) == [entry.variant.index])
        }
    }

    @Test("an expression has facts that remain when the stream is encoded again")
    func lastingWishes() throws {
        let lines = [
            "BANDWIDTH=8000000,RESOLUTION=1920x1080,FRAME-RATE=60,CODECS=\"avc1.640028,mp4a.40.2\"",
            "BANDWIDTH=5000000,RESOLUTION=1920x1080,FRAME-RATE=60,CODECS=\"hvc1.1.6.L120,mp4a.40.2\"",
            "BANDWIDTH=6000000,RESOLUTION=1920x1080,FRAME-RATE=60,CODECS=\"hvc1.2.4.L120,mp4a.40.2\",VIDEO-RANGE=PQ",
            "BANDWIDTH=4000000,RESOLUTION=1920x1080,FRAME-RATE=30,CODECS=\"hvc1.1.6.L120,mp4a.40.2\"",
            "BANDWIDTH=2000000,RESOLUTION=1280x720,FRAME-RATE=30,CODECS=\"avc1.64001f,mp4a.40.2\"",
            "BANDWIDTH=2200000,RESOLUTION=1280x720,FRAME-RATE=30,CODECS=\"avc1.64001f,ec-3\"",
            "BANDWIDTH=500000,RESOLUTION=640x360,FRAME-RATE=30,CODECS=\"avc1.64001e,mp4a.40.2\"",
            "BANDWIDTH=700000,RESOLUTION=640x360,FRAME-RATE=30,CODECS=\"avc1.64001e,mp4a.40.2\"",
        ]
        let text = "#EXTM3U\n" + lines.map { "#EXT-X-STREAM-INF:\($0)\nv.m3u8\n" }.joined()
        let playlist = try Playlist(parsing: Array(text.utf8), url: "https://h/m.m3u8")
        guard case .multivariant(let multivariant) = playlist else { throw ArgumentValueError("none") }
        let entries = StreamList(url: "https://h/m.m3u8", multivariant, preference: nil).entries
        let preferences = entries.sorted { $0.variant.index < $1.variant.index }.map(\.quality)
        #expect(
            preferences == [
                "1080p codec=avc", "1080p60 codec=hevc range=sdr", "1080p range=pq", "1080p30", "720p codec=aac",
                "720p codec=eac3", "360p bitrate=500000", "360p bitrate=700000",
            ])
        for entry in entries {
            let expression = try QualityExpression(parsing: entry.quality)
            #expect(expression.matches(entries.map(\.variant)) == [entry.variant.index], "\(entry.quality)")
        }
    }

    @Test("list and inspect tell the codec, the size and the audio of a media playlist's first segment")
    func tracks() async throws {
        let playlist = SampleMedia.folder + "/video-360p.m3u8"
        for command in ["list", "inspect"] {
            let text = String(decoding: try await hlsget(command, playlist).output, as: UTF8.self)
            #expect(text.contains("TRACKS") && text.contains("640x360"), "\(text)")
            let json = try await hlsget(command, "--json", playlist)
            let document = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
            let track = try #require((document["tracks"] as? [[String: Any]])?.first)
            #expect(track["type"] as? String == "video" && track["width"] as? Int == 640)
            let folder = try ScratchFolder()
            try folder.write(Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nno.ts\n".utf8), to: "a.m3u8")
            let missing = try await hlsget([command, "a.m3u8"], in: folder)
            #expect(missing.status == 0 && missing.errors.isEmpty, "\(missing.errors)")
            #expect(String(decoding: missing.output, as: UTF8.self).contains("tracks unknown: "))
        }
    }

    @Test("sizes are the average bit rate, or else the peak, times the duration")
    func sizes() throws {
        let entries = try list().entries
        #expect(entries.map { $0.byteCount(of: .seconds(60)) } == [37_500_000, 22_500_000, 6_000_000])
        #expect(entries.map { $0.rate?.estimate } == [.peakBitRate, .peakBitRate, .averageBitRate])
    }

    @Test(
        "Q02: the list says whether the measured media is encrypted",
        arguments: [
            ("", "not encrypted", []), ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "encrypted (AES-128)", ["AES-128"]),
            (
                "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.example\"",
                "encrypted (SAMPLE-AES com.example)", ["SAMPLE-AES com.example"]
            ),
        ])
    func encryption(key: String, words: String, methods: [String]) throws {
        var list = try list()
        #expect(list.encryption == nil && !list.text.contains("encrypted"))
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(key)\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n"
        list.measure(try MediaPlaylist(parsing: text, url: "https://h/x/360.m3u8"))
        #expect(list.text.hasPrefix("https://h/x/master.m3u8: 3 variants, 0:08, \(words)\n"), "\(list.text)")
        let document = try JSONSerialization.jsonObject(with: Data(list.document.text.utf8)) as? [String: Any]
        #expect(document?["encryption"] as? [String] == methods)
    }

    @Test("renditions of several groups are one choice")
    func options() throws {
        let options = try list().options
        #expect(options.map(\.preference) == ["lang=en", "lang=de", "lang=de name=Deutsch", "lang=de name=Erzwungen"])
        #expect(options.first?.groups == ["a", "b"])
    }

    @Test("each rendition has an expression that matches only it, quoted for a shell")
    func exactWishes() throws {
        let names = ["English", "English (Audio Description)", "English (SDH)", "it's, so"]
        let lines = names.map {
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"\($0.replacing("\\\"", with: "“"))\",LANGUAGE=\"en\",URI=\"x.m3u8\""
        }
        let text = ["#EXTM3U"] + lines + ["#EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES=\"s\"", "v.m3u8"]
        let playlist = try Playlist(parsing: Array(text.joined(separator: "\n").utf8), url: "https://h/m.m3u8")
        guard case .multivariant(let multivariant) = playlist else { throw ArgumentValueError("none") }
        let list = StreamList(url: "https://h/m.m3u8", multivariant, preference: nil)
        let candidates = multivariant.renditions.enumerated().map { index, rendition in
            RenditionCandidate(index: index, language: rendition.language, name: rendition.name)
        }
        for (index, option) in list.options.enumerated() {
            let preference = try QualityExpression(parsing: option.preference, for: .renditions)
            #expect(preference.matches(candidates) == [index], "\(option.preference)")
        }
        #expect(list.text.contains(#"'lang=en name="English (SDH)"'"#))
        #expect(StreamList.shellQuoted("it's") == #"'it'\''s'"#)
        #expect(StreamList.shellQuoted("720p") == "720p")
    }

    @Test("an excluded variant has its reasons, and another one is marked")
    func reasons() throws {
        var list = try list()
        list.limit(peakBitRate: 4e6, maximumResolution: nil)
        #expect(list.entries.map(\.reasons) == [["above --peak-bitrate"], [], []])
        #expect(list.entries.map(\.isChosen) == [false, true, false])
        list.add([1: ["not found: HTTP 404"]])
        #expect(list.entries.map(\.isChosen) == [false, false, true])

        var small = try self.list()
        small.limit(peakBitRate: nil, maximumResolution: PixelSize(width: 1280, height: 719))
        #expect(small.entries.map(\.reasons) == [["above --max-resolution"], ["above --max-resolution"], []])
        var exact = try self.list()
        exact.limit(peakBitRate: nil, maximumResolution: PixelSize(width: 1280, height: 720))
        #expect(exact.entries.map(\.reasons) == [[], [], []])
    }

    @Test("the sample's variants are listed with their sizes, as text and as JSON")
    func sample() async throws {
        let master = SampleMedia.folder + "/master.m3u8"
        let result = try await hlsget("list", master)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let text = String(decoding: result.output, as: UTF8.self)
        #expect(text.contains("VARIANTS") && text.contains("180p") && text.contains("AUDIO"))
        for arguments in [
            ["list", "--json", master], ["-F", "--json", master], ["download", "-F", "--json", master],
        ] {
            let json = try await hlsget(arguments)
            #expect(json.status == 0, "\(json.errors)")
            let document = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
            let variants = try #require(document["variants"] as? [[String: Any]])
            #expect(document["duration"] as? Double == 40 && variants.count > 1)
            #expect(variants.count { $0["chosen"] as? Bool == true } == 1)
            #expect(variants.allSatisfy { ($0["estimated_bytes"] as? Int ?? 0) > 0 && $0["id"] is String })
        }
        let missing = try await hlsget("list", "/no/such.m3u8")
        #expect(missing.status == 3 && missing.errorLines.count == 1)
    }
}
