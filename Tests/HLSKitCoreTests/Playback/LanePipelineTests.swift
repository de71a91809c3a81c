import Foundation
import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
import HLSKitOutput
import HLSKitSelection
import HLSKitTime
import TestSupport
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

@Suite("Lane pipeline")
struct LanePipelineTests {
    private static let map = ResourceID(kind: .map, url: "map", byteRange: nil)

    private static func job(_ number: Int) -> SegmentJob {
        SegmentJob(
            id: SegmentID(lane: .main, rawValue: number), request: RequestID(rawValue: number), map: map, key: nil,
            mapKey: nil, start: .zero, duration: .seconds(4), timeline: 0, window: PresentationWindow(),
            startsNewSequence: false, url: "s\(number)", mediaSequence: number)
    }

    @Test("an initialization section that could not be read is read again when it arrives again")
    func damagedMap() {
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
        var timeline = ItemTimeline()
        for number in 1...2 {
            pipeline.begin(Self.job(number))
            pipeline.append([1, 2, 3], to: Self.job(number).id)
            var output: [LaneOutput] = []
            pipeline.run(timeline: &timeline, output: &output)
            #expect(output.isEmpty)
            pipeline.provide(Self.map, bytes: [UInt8](repeating: 7, count: 40))
            pipeline.run(timeline: &timeline, output: &output)
            guard case .fact(.segmentFailed(_, .badInitializationSection))? = output.first else {
                Issue.record("segment \(number): \(output)")
                return
            }
            pipeline.abandon(Self.job(number).id)
        }
    }

    @Test("the transport stream's initialization section is its tables", arguments: [true, false])
    func tables(inMap: Bool) throws {
        let (tables, media, count) = try Self.transportStream()
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
        var timeline = ItemTimeline()
        var output: [LaneOutput] = []
        pipeline.provide(Self.map, bytes: tables)
        for number in 1...2 {
            var job = Self.job(number)
            if !inMap { job.map = nil }
            pipeline.begin(job)
            pipeline.append(inMap ? media : tables + media, to: job.id)
            pipeline.finish(job.id)
            pipeline.run(timeline: &timeline, output: &output)
        }
        let sampleCount = output.count { if case .sample = $0 { true } else { false } }
        #expect(sampleCount == 2 * count)
    }

    @Test(
        "decrypted media needs no padding: it may be cut or zero-filled; a wrong key is detected",
        arguments: [true, false], [188, 192, 200])
    func unpadded(isCut: Bool, excess: Int) throws {
        let (tables, media, count) = try Self.transportStream()
        let key = [UInt8](1...16)
        let vector = [UInt8](repeating: 9, count: 16)
        let null = [0x47, 0x1F, 0xFF, 0x10] + [UInt8](repeating: 0xFF, count: 184)
        var clear = tables + media
        while clear.count % 16 != excess % 16 & 12 { clear += null }
        let rest = clear.count % 16
        let blocks = isCut ? Array(clear.dropLast(rest)) : clear + [UInt8](repeating: 0, count: (16 - rest) % 16)
        // Without the last block, which consists of padding.
        let cipher = try AES128Encryptor.encrypt(blocks, key: key, initializationVector: vector).dropLast(16)
        for isOther in [false, true] {
            var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
            var timeline = ItemTimeline()
            var output: [LaneOutput] = []
            var job = Self.job(1)
            let id = ResourceID(kind: .key, url: "key")
            (job.map, job.key) = (nil, SegmentKey(resource: id, initializationVector: vector))
            pipeline.begin(job)
            pipeline.provide(id, bytes: isOther ? vector : key)
            pipeline.append(Array(cipher), to: job.id)
            pipeline.finish(job.id)
            pipeline.run(timeline: &timeline, output: &output)
            let samples = output.count { if case .sample = $0 { true } else { false } }
            let failures = output.compactMap {
                if case .fact(.segmentFailed(_, let failure)) = $0 { failure } else { nil }
            }
            guard isOther else {
                #expect(samples >= count - 1 && failures.isEmpty, "\(failures)")
                continue
            }
            #expect(samples == 0)
            guard case .wrongKey? = failures.first else {
                Issue.record("\(failures)")
                continue
            }
        }
    }

    @Test("media after an image is read", arguments: [OutputFormat.mp4, .aac])
    func behindImage(format: OutputFormat) throws {
        let fixture = try PacketFixture(format == .aac ? "aac" : "h264-avcc")
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("out"))
        try writer.begin([fixture.track])
        for sample in fixture.samples {
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
        }
        try writer.finish()
        let image: [UInt8] =
            [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [0, 0, 0, 0] + Array("IEND".utf8) + [0, 0, 0, 0]
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [fixture.track.mediaType])
        var timeline = ItemTimeline()
        var output: [LaneOutput] = []
        var job = Self.job(1)
        job.map = nil
        pipeline.begin(job)
        pipeline.append(image + (try folder.bytes("out")), to: job.id)
        pipeline.finish(job.id)
        pipeline.run(timeline: &timeline, output: &output)
        #expect(output.count { if case .sample = $0 { true } else { false } } >= fixture.samples.count - 1)
        #expect(!output.contains { if case .fact(.segmentFailed) = $0 { true } else { false } })
    }

    @Test(
        "a segment whose first sync frame follows the start of the window is not delivered, but asks for an earlier one",
        arguments: [nil, 100, 500] as [Int?], [[Int.max], [500]])
    func earlierSegment(start: Int?, pieces: [Int]) throws {
        // Sync frames are at 0, 400 and 800 ms. The first one is removed with all frames up to 200 ms.
        let (tables, media, count) = try Self.transportStream()
        var starts = stride(from: 0, to: media.count, by: 188).filter { media[$0 + 1] & 0x40 != 0 }
        starts.removeFirst(6)
        let bytes = tables + media[(try #require(starts.first))...]
        for mayBeginEarlier in [true, false] {
            var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
            var (timeline, output) = (ItemTimeline(), [LaneOutput]())
            var job = Self.job(1)
            job.map = nil
            job.window.from = start.map { .milliseconds($0) }
            job.mayBeginEarlier = mayBeginEarlier
            pipeline.begin(job)
            var rest = bytes[...]
            while !rest.isEmpty {
                pipeline.append(Array(rest.prefix(pieces[0])), to: job.id)
                rest = rest.dropFirst(pieces[0])
                pipeline.run(timeline: &timeline, output: &output)
            }
            pipeline.finish(job.id)
            pipeline.run(timeline: &timeline, output: &output)
            let isNeeded = output.contains { if case .fact(.earlierSegmentNeeded) = $0 { true } else { false } }
            #expect(isNeeded == (mayBeginEarlier && start == 100))
            let samples = output.count { if case .sample = $0 { true } else { false } }
            #expect(samples == (isNeeded ? 0 : count - 6))
            #expect(output.contains { if case .fact(.tracks) = $0 { true } else { false } })
        }
    }

    private static func transportStream() throws -> (tables: [UInt8], media: [UInt8], sampleCount: Int) {
        let fixture = try PacketFixture("h264-annexb")
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try writer.begin([fixture.track])
        for sample in fixture.samples {
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
        }
        try writer.finish()
        var (tables, media): ([UInt8], [UInt8]) = ([], [])
        let bytes = try folder.bytes("out")
        for start in stride(from: 0, to: bytes.count, by: 188) {
            let packet = bytes[start..<start + 188]
            // PAT, SDT, and the PID at which libavformat writes the PMT.
            let isTable = [0, 0x11, 0x1000].contains(Int(packet[start + 1] & 0x1F) << 8 | Int(packet[start + 2]))
            if isTable { tables += packet } else { media += packet }
        }
        return (tables, media, fixture.samples.count)
    }

    @Test(
        "a transport stream segment without tables uses the tables at the stream's head",
        arguments: ["found", "not there", "known"])
    func tablesOfHead(_ answer: String) throws {
        let (tables, media, count) = try Self.transportStream()
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
        var timeline = ItemTimeline()
        func read(_ number: Int) -> [LaneOutput] {
            var job = Self.job(number)
            job.map = nil
            job.startsNewSequence = true
            job.stream = StreamID(playlistURL: "list", epoch: 0, discontinuity: 0)
            var output: [LaneOutput] = []
            pipeline.begin(job)
            pipeline.append(media, to: job.id)
            pipeline.finish(job.id)
            pipeline.run(timeline: &timeline, output: &output)
            let asks = output.contains { if case .fact(.headNeeded) = $0 { true } else { false } }
            #expect(asks == (number == 1))
            guard asks else { return output }
            if answer == "not there" {
                pipeline.appendHead(media + media, of: job.id, key: nil)
                pipeline.endHead(of: job.id)
            } else {
                pipeline.appendHead(tables + media, of: job.id, key: nil)
            }
            pipeline.run(timeline: &timeline, output: &output)
            return output
        }
        for number in 1...(answer == "known" ? 2 : 1) {
            let output = read(number)
            #expect(
                output.count { if case .sample = $0 { true } else { false } } == (answer == "not there" ? 0 : count))
            let hasFailed = output.contains { if case .fact(.segmentFailed) = $0 { true } else { false } }
            #expect(hasFailed == (answer == "not there"))
        }
    }

    @Test("a segment listed as media that contains no sample fails", arguments: [4000, 400])
    func noSamples(milliseconds: Int) throws {
        var job = Self.job(1)
        job.map = nil
        job.duration = .milliseconds(milliseconds)
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video])
        var timeline = ItemTimeline()
        var output: [LaneOutput] = []
        pipeline.begin(job)
        pipeline.append(try Self.transportStream().tables, to: job.id)
        pipeline.finish(job.id)
        pipeline.run(timeline: &timeline, output: &output)
        let hasFailed = output.contains {
            if case .fact(.segmentFailed(_, .media(let error))) = $0 { error.code == .malformed } else { false }
        }
        #expect(hasFailed == (milliseconds == 4000))
    }

    private func output(of bytes: [UInt8], wanted: Set<MediaKind>) -> [LaneOutput] {
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: wanted)
        var timeline = ItemTimeline()
        var job = Self.job(1)
        job.map = nil
        var output: [LaneOutput] = []
        pipeline.begin(job)
        pipeline.append(bytes, to: job.id)
        pipeline.finish(job.id)
        pipeline.run(timeline: &timeline, output: &output)
        return output
    }

    @Test("encrypted samples without a named key fail with that reason")
    func noKey() {
        let output = self.output(of: BoxWriter.allBoxes, wanted: [.video])
        #expect(output.contains { if case .fact(.segmentFailed(_, .noKey)) = $0 { true } else { false } })
        #expect(!output.contains { if case .sample = $0 { true } else { false } })
    }

    @Test("an undecodable track is omitted next to decodable ones")
    func undecodable() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Fixtures/media/mp4/avc-aac.mp4").standardized
        var bytes = [UInt8](try Data(contentsOf: file))
        let name = Array("avc1".utf8)
        for index in bytes.indices.dropLast(4) where bytes[index..<index + 4].elementsEqual(name) {
            bytes.replaceSubrange(index..<index + 4, with: Array("xyz1".utf8))
        }
        let output = self.output(of: bytes, wanted: [.video, .audio])
        let types = Set(output.compactMap { if case .sample(_, let type, _) = $0 { type } else { nil } })
        #expect(types == [.audio])
        let reported = output.compactMap { if case .omitted(let error) = $0 { error.cause } else { nil } }
        #expect(reported == ["video omitted: xyz1 cannot be decoded"])
        let frames = self.output(of: bytes, wanted: [.video])
        #expect(!frames.contains { if case .omitted = $0 { true } else { false } })
        #expect(
            frames.contains { if case .track(let track, _, _) = $0 { track.codec.rawValue == "xyz1" } else { false } }
        )
        let audio = self.output(of: bytes, wanted: [.audio])
        #expect(!audio.contains { if case .omitted = $0 { true } else { false } })
    }

    struct Choice: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var tracks: [MediaTrack]
        var wanted: Set<MediaKind> = [.video, .audio]
        var taken: Set<Int>
    }

    private static func track(_ id: Int, _ codec: MediaCodec, isCover: Bool = false) -> MediaTrack {
        let isAudio = codec == .aac || codec.rawValue == "mlpa"
        var track = MediaTrack(id: id, mediaType: isAudio ? .audio : .video, codec: codec, timescale: 1000)
        track.isAuxiliary = isCover
        return track
    }

    private static let choices = [
        Choice(
            testDescription: "a cover beside sound", tracks: [track(1, .aac), track(2, .jpeg, isCover: true)],
            taken: [1]),
        Choice(
            testDescription: "a cover beside sound, and pictures alone are wanted",
            tracks: [track(1, .aac), track(2, .jpeg, isCover: true)], wanted: [.video], taken: []),
        Choice(testDescription: "a cover alone", tracks: [track(2, .jpeg, isCover: true)], taken: [2]),
        Choice(
            testDescription: "TrueHD beside AAC", tracks: [track(1, MediaCodec(rawValue: "mlpa")), track(2, .aac)],
            taken: [2]),
        Choice(
            testDescription: "TrueHD beside pictures",
            tracks: [track(1, .h264), track(2, MediaCodec(rawValue: "mlpa"))],
            taken: [1]),
        Choice(
            testDescription: "TrueHD beside pictures that nobody wants",
            tracks: [track(1, .h264), track(2, MediaCodec(rawValue: "mlpa"))], wanted: [.audio], taken: [2]),
    ]

    @Test("undecodable tracks and cover images are selected only if there is nothing else", arguments: choices)
    func choice(_ choice: Choice) {
        var reader = SegmentReader(job: Self.job(1))
        reader.selection.select(from: choice.tracks, wanted: choice.wanted)
        #expect(Set(reader.selection.selected.values.map(\.id)) == choice.taken)
    }

    struct Joint: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var continues = true
        var change: @Sendable (inout SegmentJob) -> Void = { _ in }
        var flushes = false
        var readsTwice = false
    }

    private static let joints = [
        Joint(testDescription: "the next one"),
        Joint(testDescription: "the next one, read anew after a failure", readsTwice: true),
        Joint(testDescription: "a part of the same segment", change: { $0.mediaSequence -= 1 }),
        Joint(testDescription: "one was skipped", continues: false, change: { $0.mediaSequence += 1 }),
        Joint(testDescription: "there is a hole", continues: false, change: { $0.start += .seconds(1) }),
        Joint(testDescription: "another variant", continues: false, change: { $0.startsNewSequence = true }),
        Joint(testDescription: "after a discontinuity", continues: false, change: { $0.timeline += 1 }),
        Joint(testDescription: "after a seek", continues: false, flushes: true),
    ]

    /// Reads a stream that is cut before its last two packets. The second segment repeats the tables.
    private static func output(of bytes: [UInt8], _ joint: Joint, wanted: Set<MediaKind>) -> [LaneOutput] {
        let cut = bytes.count - 2 * 188
        let (first, second) = (Array(bytes[..<cut]), Array(bytes[..<376] + bytes[cut...]))
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: wanted)
        var timeline = ItemTimeline()
        var output: [LaneOutput] = []
        var jobs = [Self.job(1), Self.job(2)]
        for index in jobs.indices { jobs[index].map = nil }
        jobs[1].start = jobs[0].start + jobs[0].duration
        joint.change(&jobs[1])
        pipeline.begin(jobs[0])
        pipeline.append(first, to: jobs[0].id)
        pipeline.finish(jobs[0].id)
        pipeline.run(timeline: &timeline, output: &output)
        if joint.flushes { pipeline.flush() }
        pipeline.begin(jobs[1])
        if joint.readsTwice {
            pipeline.append(Array(second.prefix(188 * 3)), to: jobs[1].id)
            pipeline.run(timeline: &timeline, output: &output)
            pipeline.restart(jobs[1])
        }
        pipeline.append(second, to: jobs[1].id)
        pipeline.finish(jobs[1].id)
        pipeline.run(timeline: &timeline, output: &output)
        return output
    }

    @Test("an audio frame that ends in the next segment is complete if that segment follows", arguments: joints)
    func dividedFrame(_ joint: Joint) {
        var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x0f)])
        let audio = (0..<20).flatMap { TinyAudio.frame(fill: $0) }
        writer.add(.init(pid: 257, streamID: 0xc0, pts: 90_000, payload: audio, hasLength: true))
        let fills = Self.output(of: writer.bytes, joint, wanted: [.audio]).compactMap { element -> UInt8? in
            guard case .sample(let sample, .audio, _) = element, sample.data.count == 30 else { return nil }
            return sample.data.withUnsafeBytes { Set($0).count == 1 ? $0.first : nil }
        }
        if joint.continues { #expect(fills == Array(0..<20)) } else { #expect(fills == Array(0..<UInt8(fills.count))) }
        #expect((fills.count == 20) == joint.continues)
    }

    @Test("a video frame that ends in the next segment is complete if that segment follows", arguments: joints)
    func dividedVideoFrame(_ joint: Joint) {
        var writer = TransportStreamWriter(streams: [.init(pid: 256, type: 0x1b)])
        let frames = (0..<6).map { TinyVideo.unit(isIDR: $0 == 0, count: 900, fill: UInt8($0 + 16)) }
        for (index, frame) in frames.enumerated() {
            writer.add(.init(pid: 256, pts: 90_000 + Int64(index) * 3600, payload: frame))
        }
        let found = Self.output(of: writer.bytes, joint, wanted: [.video]).compactMap { element -> [UInt8]? in
            guard case .sample(let sample, .video, _) = element else { return nil }
            return sample.data.withUnsafeBytes { Array($0) }
        }
        if joint.continues { #expect(found == frames) }
        #expect(found.count { frames.contains($0) } == (joint.continues ? 6 : 5))
    }

    @Test(
        "audio whose channels only the head of the stream declares waits for it, and is complete",
        arguments: [true, false])
    func channelsOfHead(isFound: Bool) {
        /// Returns frames of channel configuration 0. A program config element of one pair is only in the first.
        func segment(_ number: Int) -> [UInt8] {
            let frames = (0..<40).flatMap { index -> [UInt8] in
                let element: [UInt8] = [0xa0, 0x98, 0x80, 0x00, 0x04, 0x00, 0x00]
                let payload = (number + index == 0 ? element : [0x20]) + [UInt8](repeating: UInt8(index), count: 30)
                let length = 7 + payload.count
                return [0xff, 0xf1, 0x4c, 0, UInt8(length >> 3), UInt8(length & 7) << 5 | 0x1f, 0xfc] + payload
            }
            var writer = TransportStreamWriter(streams: [.init(pid: 257, type: 0x0f)])
            writer.add(
                .init(pid: 257, streamID: 0xc0, pts: Int64(number) * 76_800, payload: frames, hasLength: true))
            return writer.bytes
        }
        var job = Self.job(5)
        job.map = nil
        job.startsNewSequence = true
        job.stream = StreamID(playlistURL: "list", epoch: 0, discontinuity: 0)
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.audio])
        var (timeline, output) = (ItemTimeline(), [LaneOutput]())
        pipeline.begin(job)
        pipeline.append(segment(5), to: job.id)
        pipeline.finish(job.id)
        pipeline.run(timeline: &timeline, output: &output)
        #expect(output.contains { if case .fact(.headNeeded) = $0 { true } else { false } })
        #expect(!output.contains { if case .sample = $0 { true } else { false } })
        pipeline.appendHead(segment(isFound ? 0 : 1), of: job.id, key: nil)
        pipeline.endHead(of: job.id)
        pipeline.run(timeline: &timeline, output: &output)
        let tracks = output.compactMap { if case .track(let track, _, _) = $0 { track } else { nil } }
        #expect(tracks.map(\.channelCount) == [isFound ? 2 : 0])
        #expect(tracks.allSatisfy { $0.awaitsChannels != isFound })
        #expect(output.count { if case .sample = $0 { true } else { false } } == 40)
    }

    @Test(
        "a truncated segment is requested again and given once, also at the start of a sequence",
        arguments: [true, false])
    func truncated(startsNewSequence: Bool) throws {
        let path = "\(SampleMedia.fixtures)/media/ts-h264-aac.ts"
        let whole = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        var job = Self.job(1)
        job.map = nil
        job.startsNewSequence = startsNewSequence
        var pipeline = LanePipeline(lane: .main, mode: .demux, wanted: [.video, .audio])
        var timeline = ItemTimeline()
        var output: [LaneOutput] = []
        var failureCount = 0
        // The second attempt ends earlier than the first.
        for byteCount in [whole.count / 2 + 50, whole.count / 4 + 50, whole.count / 2 + 50] {
            if failureCount == 0 { pipeline.begin(job) } else { pipeline.restart(job) }
            pipeline.append(Array(whole.prefix(byteCount)), to: job.id)
            pipeline.finish(job.id)
            pipeline.run(timeline: &timeline, output: &output)
            failureCount += 1
            #expect(output.count { if case .fact(.segmentFailed) = $0 { true } else { false } } == failureCount)
        }
        var given: [String: Int] = [:]
        for case .sample(let sample, let type, let offset) in output {
            given["\(type) \(ItemTimeline.duration(sample.pts, 90_000) + offset)", default: 0] += 1
        }
        #expect(given.count > 10)
        #expect(given.filter { $0.value != 1 }.isEmpty)
    }

    @Test("an event at the end of all time is dropped")
    func farEvent() throws {
        let message = EventMessage(
            schemeIDURI: "urn:x", id: 1, timescale: 1, timing: .presentationTime(.max),
            messageData: [1])
        let far = TimedMetadata(
            time: Duration(secondsComponent: .max, attosecondsComponent: 0), content: .event(message))
        var reader = MetadataReader()
        let group = reader.group(of: far, at: far.time)
        #expect(group != nil)
    }
}
