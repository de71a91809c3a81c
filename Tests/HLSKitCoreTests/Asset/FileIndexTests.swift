import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitPlayback
import HLSKitTime
import TestSupport
import Testing

@Suite("Index of a media file", .timeLimit(.minutes(10)))
struct FileIndexTests {
    struct Box: Sendable {
        var type: String
        var bytes: ArraySlice<UInt8>
    }

    enum Layout: String, Sendable, CaseIterable, CustomTestStringConvertible {
        case whole = "one index of all"
        case wholeBeforeRandomAccess = "one index of all, and random access information at the end"
        case eachFragment = "an index for each fragment"
        case firstFragment = "an index of the first fragment only"
        var isWhole: Bool { self == .whole || self == .wholeBeforeRandomAccess }
        var testDescription: String { rawValue }
    }

    private static func big(_ value: Int, _ count: Int) -> [UInt8] {
        (1...count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - $0))) }
    }

    private static func box(_ name: String, _ payload: [UInt8]) -> [UInt8] {
        big(payload.count + 8, 4) + Array(name.utf8) + payload
    }

    private static func boxes(_ bytes: [UInt8]) -> [Box] {
        var boxes: [Box] = []
        var rest = bytes[...]
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            boxes.append(
                Box(type: String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), bytes: rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return boxes
    }

    /// Returns the sample, whose ten fragments of 4 s each have an index, in the given layout.
    private static func file(_ layout: Layout) throws -> [UInt8] {
        let sample = try SampleMedia.rendition("video-180p")
        let fragments = sample.segments.map { segment in
            boxes(segment).filter { $0.type != "sidx" }.flatMap(\.bytes)
        }
        let header = sample.initializationSection
        let rest = Array(fragments.joined())
        switch layout {
        case .eachFragment: return header + Array(sample.segments.joined())
        case .firstFragment: return header + sample.segments[0] + Array(fragments.dropFirst().joined())
        case .whole, .wholeBeforeRandomAccess:
            let references = fragments.flatMap { big($0.count, 4) + big(4000, 4) + big(9 << 28, 4) }
            let index = box(
                "sidx", [0, 0, 0, 0] + big(1, 4) + big(1000, 4) + big(0, 8) + big(0, 2) + big(10, 2) + references)
            let end = layout == .whole ? [] : box("mfra", box("mfro", big(0, 4) + big(24, 4)))
            return header + index + rest + end
        }
    }

    @Test(
        "A15: the duration is the whole file's, and exact if one index covers it", arguments: Layout.allCases)
    func duration(_ layout: Layout) async throws {
        let url = "http://a.example/film.mp4"
        let transport = TableTransport([url: try Self.file(layout)])
        let duration = try await Asset(urlString: url, options: .table(transport)).load(.duration)
        if layout.isWhole {
            #expect(duration == MediaTime(value: 40_000, timescale: 1000))
            #expect(!duration.hasBeenRounded)
        } else {
            #expect(duration.seconds > 30, "\(duration)")
        }
        #expect(transport.requests.count { $0.byteRange?.count == 8 } == (layout == .whole ? 0 : 1))
    }

    @Test(
        "A15: every frame is played, wherever the indexes are", .enabled(if: TestOrigin.isInstalled),
        arguments: Layout.allCases, [false, true])
    func plays(_ layout: Layout, isLocal: Bool) async throws {
        let bytes = try Self.file(layout)
        let folder = try ScratchFolder()
        let path = try folder.write(bytes, to: "film.mp4")
        let origin = try SampleOrigin.shared()
        let name = "files/\(layout).mp4"
        if !isLocal { try origin.root.write(bytes, to: name) }
        let writer = CapturingWriter()
        let play = try await Play.toEnd(
            try PlayerItem(isLocal ? "file://\(path)" : "\(origin.plain)/\(name)", to: writer), .unpaced())
        #expect(play.error == nil && play.didPlayToEnd)
        #expect(try writer.frames.map(\.hash) == SampleMedia.frameHashes(of: "180p"))
        #expect(play.state.duration == MediaTime(value: 40, timescale: 1))
    }
}
