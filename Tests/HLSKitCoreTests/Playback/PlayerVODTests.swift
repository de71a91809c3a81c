import Foundation
import HLSKitCore
import HLSKitTime
import TestSupport
import Testing

@Suite("Playing to the end", .timeLimit(.minutes(10)), .enabled(if: TestOrigin.isInstalled))
struct PlayerVODTests {
    struct Way: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var quality: String
        var url: @Sendable (TestOrigin) -> String
        var network: @Sendable (TestOrigin) -> TransportConfiguration
    }

    private static let http: @Sendable (TestOrigin) -> TransportConfiguration = { _ in
        TransportConfiguration(proxy: .none)
    }
    static let ways = [
        Way(
            testDescription: "180p over HTTP/1.1", quality: "180p", url: { $0.plain + "/sample/master.m3u8" },
            network: http),
        Way(
            testDescription: "360p over HTTP/2", quality: "360p", url: { $0.secure + "/sample/master.m3u8" },
            network: { TransportConfiguration(caFile: $0.caFile, proxy: .none) }),
        Way(
            testDescription: "540p over TLS with HTTP/1.1", quality: "540p",
            url: { $0.secure + "/sample/master.m3u8" },
            network: { TransportConfiguration(caFile: $0.caFile, forcesHTTP11: true, proxy: .none) }),
        Way(
            testDescription: "180p from files", quality: "180p",
            url: { _ in "file://\(SampleMedia.folder)/master.m3u8" },
            network: http),
    ]

    @Test("J02: every frame of the pinned variant is output once, in order, with unbroken audio", arguments: ways)
    func everyFrame(_ way: Way) async throws {
        let origin = try SampleOrigin.shared()
        let writer = CapturingWriter()
        let play = try await Play.toEnd(
            try PlayerItem(way.url(origin), quality: way.quality, to: writer), .unpaced(way.network(origin)))

        #expect(play.error == nil)
        #expect(play.didPlayToEnd)
        #expect(writer.frames.map(\.hash) == (try SampleMedia.frameHashes(of: way.quality)))
        #expect(writer.frames.first?.time == .zero)
        #expect(writer.firstBreak == nil)
        #expect(writer.largestAudioGap < .microseconds(10))
        let sounds = writer.sounds
        #expect(try #require(sounds.first).time <= .zero)
        #expect(try #require(sounds.last.map { $0.time + $0.length }) > .milliseconds(39_999))
    }

    @Test("frames that last 0 s, and so have one time, are all output", arguments: [true, false])
    func oneTime(isPaced: Bool) throws {
        let fixture = try PacketFixture("h264-avcc")
        func fragment(dataOffset: Int) -> [UInt8] {
            let samples = fixture.samples.flatMap { sample in
                BoxWriter.be32(sample.data.count) + BoxWriter.be32(sample.isSync ? 0x200_0000 : 0x101_0000)
            }
            let run = BoxWriter.trun(
                flags: 0x601, count: fixture.samples.count, BoxWriter.be32(dataOffset), samples)
            return BoxWriter.moof(BoxWriter.traf(BoxWriter.tfhd(), BoxWriter.tfdt(0), run))
        }
        let entry = BoxWriter.visualEntry("avc1", BoxWriter.box("avcC", fixture.track.configuration))
        let media = fixture.samples.flatMap { sample in sample.data.withUnsafeBytes { Array($0) } }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:1,\ns.m4s\n#EXT-X-ENDLIST\n"
        let files = [
            "a.m3u8": Array(text.utf8), "i.mp4": BoxWriter.header([BoxWriter.Track(entries: [entry])]),
            "s.m4s": fragment(dataOffset: fragment(dataOffset: 0).count + 8) + BoxWriter.box("mdat", media),
        ]
        let sample = try VirtualSample(quality: nil, path: "a.m3u8", files: files) {
            if !isPaced { $0.pacing = .unpaced }
        }
        let writer = CapturingWriter()
        sample.item.add(writer)
        try sample.play()
        #expect(writer.frames.map(\.hash) == fixture.expectedHashes.map { String($0.prefix(8)) })
        #expect(writer.frames.allSatisfy { $0.time == .zero })
    }

    @Test("the state at the end matches the events before")
    func accounts() async throws {
        let origin = try SampleOrigin.shared()
        let writer = CapturingWriter()
        let play = try await Play.toEnd(
            try PlayerItem(origin.plain + "/sample/master.m3u8", quality: "180p", to: writer), .unpaced())

        // The audio has eleven segments.
        #expect(play.segments.map(\.mediaSequence).sorted() == (0..<21).map { $0 / 2 })
        #expect(play.losses.isEmpty)
        let state = play.state
        #expect(state.itemStatus == .readyToPlay)
        #expect(state.variant?.videoAttributes?.presentationSize?.height == 180)
        #expect(abs(state.duration.seconds - 40) < 0.05)
        #expect(abs(state.currentTime.seconds - 40) < 0.05)
        #expect(state.statistics.numberOfSegments == 21)
        #expect(state.statistics.numberOfDecodedVideoFrames == SampleMedia.frameCount)
        #expect(state.statistics.numberOfStalls == 0)
        #expect(state.statistics.numberOfDroppedVideoFrames == 0)
        #expect(state.statistics.numberOfSkippedSegments == 0)
        // One multivariant playlist, two media playlists, two maps, twenty-one segments.
        #expect(state.statistics.numberOfRequests == 26)
        #expect(play.events.map(\.hostTime) == play.events.map(\.hostTime).sorted())
        let ready = play.events.filter { if case .itemStatusChanged = $0.kind { true } else { false } }
        #expect(ready.count == 1)
    }

    @Test(
        "a time range is exact to the frame",
        arguments: [
            (from: Duration.milliseconds(3880), to: Duration.milliseconds(4120)), (.zero, .milliseconds(80)),
            (.milliseconds(10_000), .milliseconds(10_040)), (.milliseconds(39_960), .seconds(40)),
        ])
    func range(from: Duration, to: Duration) async throws {
        let origin = try SampleOrigin.shared()
        let writer = CapturingWriter([.video])
        let item = try PlayerItem(origin.plain + "/sample/master.m3u8", quality: "180p", to: writer) {
            $0.startPosition = .time(MediaTime(from))
            $0.endPosition = .time(MediaTime(to))
        }
        let play = try await Play.toEnd(item, .unpaced())

        #expect(play.didPlayToEnd)
        let frames = Int(from / .milliseconds(40))..<Int(to / .milliseconds(40))
        #expect(writer.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p")[frames]))
        #expect(writer.frames.first?.time == from)
    }

    @Test("R37: after a discontinuity another size and timestamps from 0 continue without a break")
    func discontinuity() async throws {
        let folder = try ScratchFolder()
        try SampleMedia.copy(to: folder, as: "")
        let small = try MediaLines(of: "video-180p")
        let large = try MediaLines(of: "video-360p")
        let text = """
            \(small.header)\(small.map)\(small.segments[0...1].joined())#EXT-X-DISCONTINUITY
            \(large.map)\(large.segments[0...1].joined())#EXT-X-DISCONTINUITY
            \(small.map)\(small.segments[5])#EXT-X-ENDLIST

            """
        let path = try folder.write(Array(text.utf8), to: "mixed.m3u8")
        let writer = CapturingWriter([.video])
        let play = try await Play.toEnd(try PlayerItem("file://\(path)", to: writer), .unpaced())

        #expect(play.didPlayToEnd)
        let (first, second) = (try SampleMedia.frameHashes(of: "180p"), try SampleMedia.frameHashes(of: "360p"))
        #expect(writer.frames.map(\.hash) == Array(first[..<200] + second[..<200] + first[500..<600]))
        #expect(writer.frames.map(\.width) == (0..<500).map { 200..<400 ~= $0 ? 640 : 320 })
        #expect(writer.frames.first?.time == .zero)
        #expect(writer.firstBreak == nil)
    }

    /// Writes the first three segments of the sample, encrypted.
    ///
    /// - Parameters:
    ///   - vector: The initialization vector, or `nil` to use the media sequence numbers.
    ///   - tag: The attributes of the tag after the method, or `nil` for the correct ones.
    private static func encrypted(in folder: ScratchFolder, vector: String?, tag: String? = nil) throws -> String {
        let key = "00112233445566778899aabbccddeeff"
        try folder.write((0..<16).map { $0 * 17 }, to: "key.bin")
        let rendition = try SampleMedia.rendition("video-180p")
        try folder.write(rendition.initializationSection, to: "init.mp4")
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n"
        text += "#EXT-X-MAP:URI=\"init.mp4\"\n#EXT-X-KEY:METHOD=AES-128,"
        text += (tag ?? "URI=\"key.bin\"" + (vector.map { ",IV=\($0)" } ?? "")) + "\n"
        for (index, segment) in rendition.segments.prefix(3).enumerated() {
            let initial = vector.map { String($0.dropFirst(2)) } ?? String(repeating: "0", count: 31) + "\(index + 7)"
            let bytes = try Tool.run(["openssl", "enc", "-aes-128-cbc", "-K", key, "-iv", initial], input: segment)
            try folder.write(bytes, to: "\(index).m4s")
            text += "#EXTINF:4,\n\(index).m4s\n"
        }
        return try folder.write(Array((text + "#EXT-X-ENDLIST\n").utf8), to: "aes.m3u8")
    }

    private static let vector = "0x000102030405060708090a0b0c0d0e0f"

    @Test("AES-128 segments are played", arguments: [vector, nil])
    func encrypted(vector: String?) async throws {
        let folder = try ScratchFolder()
        let path = try Self.encrypted(in: folder, vector: vector)
        let writer = CapturingWriter([.video])
        let play = try await Play.toEnd(try PlayerItem("file://\(path)", to: writer), .unpaced())

        #expect(play.error == nil)
        #expect(writer.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p")[..<300]))
    }

    @Test("N05: a key override with a vector replaces the playlist's, whatever its key system")
    func keyByHand() async throws {
        let folder = try ScratchFolder()
        let path = try Self.encrypted(
            in: folder, vector: Self.vector, tag: "URI=\"skd://nobody\",KEYFORMAT=\"com.example\",IV=0x01")
        let writer = CapturingWriter([.video])
        var configuration = PlayerConfiguration.unpaced()
        configuration.hooks.keyOverride = ContentKeyOverride(
            key: (0..<16).map { $0 * 17 }, initializationVector: Array(0..<16))
        let play = try await Play.toEnd(try PlayerItem("file://\(path)", to: writer), configuration)
        #expect(play.error == nil)
        #expect(writer.frames.map(\.hash) == Array(try SampleMedia.frameHashes(of: "180p")[..<300]))
        configuration.hooks.keyOverride?.initializationVector = [1, 2, 3]
        let failed = try await Play.toEnd(
            try PlayerItem("file://\(path)", to: CapturingWriter([.video])), configuration)
        #expect(failed.error?.code == .contentKey)
    }
}

private struct MediaLines {
    var header = "", map = ""
    var segments: [String] = []

    init(of name: String) throws {
        let text = try String(contentsOfFile: "\(SampleMedia.folder)/\(name).m3u8", encoding: .utf8)
        for line in text.split(separator: "\n") where line != "#EXT-X-ENDLIST" {
            if line.hasPrefix("#EXT-X-MAP") {
                map = line + "\n"
            } else if line.hasPrefix("#EXTINF") {
                segments.append(line + "\n")
            } else if let last = segments.indices.last {
                segments[last] += line + "\n"
            } else {
                header += line + "\n"
            }
        }
    }
}
