import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitSelection
import HLSKitSimulation
import HLSKitTime
import Synchronization
import TestSupport
import Testing

@testable import HLSKitOutput

@Suite("Composition of frames and metadata", .timeLimit(.minutes(10)))
struct CompositionOutputTests {
    private static func time(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds, preferredTimescale: 1000) }

    private static func group(_ title: String, of track: Int?, at start: Double, for seconds: Double? = nil)
        -> TimedMetadataGroup
    {
        TimedMetadataGroup(
            timeRange: MediaTimeRange(start: time(start), duration: seconds.map { time($0) } ?? .indefinite),
            items: [MetadataItem(.id3Metadata, key: "TIT2", common: .title, value: .string(title))],
            trackID: track, sample: SampleData(Array(title.utf8)))
    }

    private static let base = try? SampleImages.frames(of: "180p").first

    private static func frame(_ seconds: Double) throws -> VideoFrame {
        let image = try #require(StillImage(width: 4, height: 4, pixels: [UInt8](repeating: 100, count: 64)))
        let base = try #require(base)
        return try VideoFrame(image, inPlaceOf: base).placed(at: time(seconds))
    }

    private final class Asked: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func note(_ request: FrameCompositionRequest) {
            let tracks = request.sourceSampleDataTrackIDs.map { id in
                let sample = request.sourceSample(byTrackID: id).map { data in
                    data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                }
                let group = request.sourceTimedMetadata(byTrackID: id)
                return "\(id):\(sample ?? "-")\(group?.trackID == (sample == nil ? nil : id) ? "" : "!")"
            }
            lines.withLock { $0.append("\(request.compositionTime.seconds) " + tracks.joined(separator: " ")) }
        }
    }

    struct TrackCase: Sendable, CustomTestStringConvertible {
        var composition: [Int]
        var instruction: [Int]
        var given: String
        var testDescription: String { "composition \(composition), instruction \(instruction)" }
    }

    static let trackCases = [
        TrackCase(composition: [4, 5], instruction: [4], given: "4:four"),
        TrackCase(composition: [4, 5], instruction: [5, 4], given: "5:five 4:four"),
        TrackCase(composition: [4, 5], instruction: [4, 4], given: "4:four"),
        TrackCase(composition: [4], instruction: [4, 5], given: "4:four"),
        TrackCase(composition: [4], instruction: [5], given: ""),
        TrackCase(composition: [], instruction: [4], given: ""),
        TrackCase(composition: [4], instruction: [], given: ""),
        TrackCase(composition: [7], instruction: [7], given: "7:-"),
        TrackCase(composition: [-1], instruction: [-1], given: "-1:event"),
    ]

    @Test("J11: metadata is provided if both composition and instruction name its track", arguments: trackCases)
    func tracks(_ test: TrackCase) async throws {
        let asked = Asked()
        let composition = FrameComposition(
            sourceSampleDataTrackIDs: test.composition,
            instructions: [.init(requiredSourceSampleDataTrackIDs: test.instruction)]
        ) { request in
            asked.note(request)
            return request.sourceFrame
        }
        let output = CompositionOutput(composition)
        let frames = output.frames()
        for (id, name) in [(4, "four"), (5, "five"), (6, "six"), (-1, "event")] {
            output.receive(Self.group(name, of: id, at: 0))
        }
        output.receive(Self.group("chapter", of: nil, at: 0))
        output.receive(try Self.frame(1), at: OutputClock())
        output.end()
        var count = 0
        for await _ in frames { count += 1 }
        #expect(count == 1)
        #expect(asked.all == ["1.0 \(test.given)"])
    }

    @Test("J11: a frame's group is the last one that has begun, unless it has ended")
    func current() async throws {
        let asked = Asked()
        let composition = FrameComposition(
            sourceSampleDataTrackIDs: [4], instructions: [.init(requiredSourceSampleDataTrackIDs: [4])]
        ) { request in
            asked.note(request)
            return request.sourceFrame
        }
        let output = CompositionOutput(composition)
        let frames = output.frames()
        for (title, start, length) in [("c", 3, nil), ("a", 1, nil), ("b", 2, 0.5)] as [(String, Double, Double?)] {
            output.receive(Self.group(title, of: 4, at: start, for: length))
        }
        var iterator = frames.makeAsyncIterator()
        for seconds in [0.5, 1, 1.5, 2.25, 2.5, 3, 9] {
            output.receive(try Self.frame(seconds), at: OutputClock())
            _ = await iterator.next()
        }
        #expect(
            asked.all == ["0.5 4:-", "1.0 4:a", "1.5 4:a", "2.25 4:b", "2.5 4:-", "3.0 4:c", "9.0 4:c"])
    }

    @Test("J11: each instruction applies to its time; frames without an instruction are unchanged")
    func instructions() async throws {
        let asked = Asked()
        let composition = FrameComposition(
            sourceSampleDataTrackIDs: [4, 5],
            instructions: [
                .init(
                    timeRange: MediaTimeRange(start: .zero, duration: Self.time(2)),
                    requiredSourceSampleDataTrackIDs: [4]),
                .init(
                    timeRange: MediaTimeRange(start: Self.time(1), duration: Self.time(2)),
                    requiredSourceSampleDataTrackIDs: [4, 5]),
            ]
        ) { request in
            asked.note(request)
            let image = try #require(StillImage(width: 2, height: 2, pixels: [UInt8](repeating: 0, count: 16)))
            return try VideoFrame(image, inPlaceOf: request.sourceFrame)
        }
        let output = CompositionOutput(composition)
        var iterator = output.frames().makeAsyncIterator()
        output.receive(Self.group("four", of: 4, at: 0))
        var widths: [Int] = []
        for seconds in [0.0, 1.5, 2, 2.9, 3] {
            output.receive(try Self.frame(seconds), at: OutputClock())
            let frame = try #require(await iterator.next())
            #expect(frame.itemTime?.seconds == seconds)
            widths.append(frame.width)
        }
        #expect(widths == [2, 2, 2, 2, 4])
        #expect(asked.all == ["0.0 4:four", "1.5 4:four", "2.0 4:four 5:-", "2.9 4:four 5:-"])
    }

    @Test("J11: a compositor that throws, or takes too long, loses only that frame")
    func failures() async throws {
        struct Odd: Error {}
        let clock = VirtualClock()
        let composition = FrameComposition { request in
            switch request.compositionTime.seconds {
            case 1: throw Odd()
            case 2:
                try await clock.sleep(for: .seconds(60))
                return request.sourceFrame
            default: return request.sourceFrame
            }
        }
        let output = CompositionOutput(composition, clock: clock)
        let frames = output.frames()
        for seconds in [0.0, 1, 2, 3] { output.receive(try Self.frame(seconds), at: OutputClock()) }
        output.end()
        let times = Recorder<Double>()
        try clock.run {
            for await frame in frames { times.append(frame.itemTime?.seconds ?? -1, at: .zero) }
        }
        #expect(times.elements == [0, 3])
        #expect(output.failures.map(\.compositionTime.seconds) == [1, 2])
        #expect(output.failures.first?.error.code == .application)
        #expect(output.failures.first?.error.underlyingError is Odd)
        #expect(output.failures.last?.error.code == .timedOut)
        #expect(clock.now.offset < .seconds(2))
    }

    struct Preserving: FrameCompositor {
        var workingColorSpace = VideoOutput.WorkingColorSpace.rec709
        var supportsWideColorSourceFrames: Bool
        var sourcePixelFormat = PixelFormat.native
        let found = Recorder<VideoFrame>()

        func compose(_ request: FrameCompositionRequest) async throws -> VideoFrame {
            found.append(request.sourceFrame, at: .zero)
            return request.sourceFrame
        }
    }

    @Test("J08, J11: frames arrive in BT.709, or in their source's colours if supported")
    func colors() async throws {
        let source = try #require(Self.base)
        for isWide in [false, true] {
            let compositor = Preserving(supportsWideColorSourceFrames: isWide, sourcePixelFormat: .native)
            let output = CompositionOutput(FrameComposition(compositor: compositor))
            #expect(output.limits.needsStandardRange == !isWide)
            var iterator = output.frames().makeAsyncIterator()
            output.receive(source.placed(at: .zero), at: OutputClock())
            _ = await iterator.next()
            let found = try #require(compositor.found.elements.first)
            #expect(found.colorTags.matrix == (isWide ? source.colorTags.matrix : 1))
        }
        let compositor = Preserving(supportsWideColorSourceFrames: false, sourcePixelFormat: .rgba)
        let output = CompositionOutput(FrameComposition(compositor: compositor))
        var iterator = output.frames().makeAsyncIterator()
        output.receive(source.placed(at: .zero), at: OutputClock())
        _ = await iterator.next()
        #expect(compositor.found.elements.first?.pixelFormatName == "rgba")
    }

    @Test("J08, J11: frames arrive in the compositor's colour space", arguments: VideoOutput.WorkingColorSpace.allCases)
    func workingColorSpace(_ space: VideoOutput.WorkingColorSpace) async throws {
        let source = try #require(Self.base)
        let compositor = Preserving(workingColorSpace: space, supportsWideColorSourceFrames: false)
        let output = CompositionOutput(FrameComposition(compositor: compositor))
        var iterator = output.frames().makeAsyncIterator()
        output.receive(source.placed(at: .zero), at: OutputClock())
        _ = await iterator.next()
        let found = try #require(compositor.found.elements.first)
        #expect(source.colorTags.matrix != 1)
        switch space {
        case .rec709: #expect(found.colorTags.matrix == 1)
        }
    }

    @Test("J11: after a jump, metadata is known inside the read range, and outside of it when it arrives")
    func jumps() {
        func names(_ groups: [Int: TimedMetadataGroup]?) -> Double? { groups?[4]?.timeRange.start.seconds }
        var metadata = CompositionMetadata()
        for start in [1.0, 5, 9] { metadata.add(Self.group("x", of: 4, at: start), of: 4) }
        #expect(names(metadata.groups(at: .seconds(6), generation: 0)) == 5)
        metadata.add(Self.group("x", of: 4, at: 12), of: 4)
        metadata.flush(generation: 1)
        #expect(metadata.groups(at: .seconds(7), generation: 0) == nil)
        metadata.add(Self.group("x", of: 4, at: 12), of: 4)
        #expect(names(metadata.groups(at: .seconds(10), generation: 1)) == 9)
        metadata.flush(generation: 2)
        metadata.add(Self.group("x", of: 4, at: 99), of: 4)
        // An unread group may have begun before 98.5 s.
        #expect(names(metadata.groups(at: .milliseconds(98_500), generation: 2)) == nil)
        #expect(names(metadata.groups(at: .seconds(100), generation: 2)) == 99)
        metadata.flush(generation: 3)
        #expect(names(metadata.groups(at: .seconds(2), generation: 3)) == nil)
        metadata.add(Self.group("x", of: 4, at: 3), of: 4)
        #expect(names(metadata.groups(at: .seconds(4), generation: 3)) == 3)
    }

    @Test("J11: an image can become a frame again, with another frame's times")
    func image() throws {
        let base = try #require(Self.base).placed(at: Self.time(7))
        var image = try StillImage(base)
        var pixels = image.pixels
        pixels[0] = 1
        pixels[1] = 2
        pixels[2] = 3
        image = try #require(StillImage(width: image.width, height: image.height, pixels: pixels))
        let frame = try VideoFrame(image, inPlaceOf: base)
        #expect(frame.itemTime == base.itemTime)
        #expect(frame.pts == base.pts)
        #expect([frame.width, frame.height] == [base.width, base.height])
        #expect(try StillImage(frame) == image)
    }
}
