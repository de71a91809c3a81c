import Testing

@testable import HLSKitMedia

@Suite struct TransportStreamRestTests {
    private static let streams = [
        TransportStreamWriter.Stream(pid: 256, type: 0x1b), TransportStreamWriter.Stream(pid: 257, type: 0x0f),
    ]

    struct Layout: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var packetSizes: [Int]
        var hasLength = true
        var start: Int64 = 90_000
    }

    private static let layouts = [
        Layout(testDescription: "packets of whole frames", packetSizes: [37 * 12]),
        Layout(testDescription: "packets without a length", packetSizes: [37 * 12], hasLength: false),
        Layout(testDescription: "frames across packets", packetSizes: [400, 301]),
        Layout(testDescription: "the times wrap", packetSizes: [37 * 12], start: (1 << 33) - 20_000),
    ]

    private static let frameCount = 96

    private static func stream(_ layout: Layout) -> TransportStreamWriter {
        var writer = TransportStreamWriter(streams: streams)
        var bytes = (0..<frameCount).flatMap { TinyAudio.frame(fill: UInt8($0)) }
        var (number, position) = (0, 0)
        while !bytes.isEmpty {
            let part = Array(bytes.prefix(layout.packetSizes[number % layout.packetSizes.count]))
            bytes.removeFirst(part.count)
            // The packet has the time of the first frame that begins in it.
            let pts = layout.start + Int64((position + 36) / 37) * 1920
            let video = TinyVideo.unit(isIDR: number.isMultiple(of: 4))
            writer.add(.init(pid: 256, pts: pts & 0x1_ffff_ffff, payload: video, hasLength: true))
            let wrapped = pts & 0x1_ffff_ffff
            writer.add(.init(pid: 257, pts: wrapped, payload: part, hasLength: layout.hasLength))
            (number, position) = (number + 1, position + part.count)
        }
        return writer
    }

    /// Demuxes two segments, of which the second begins with the tables of the first.
    private static func samples(
        _ bytes: [UInt8], cutAt cut: Int, handsOn: Bool = true
    ) throws -> (first: [MediaSample], second: [MediaSample], notes: [String]) {
        var (first, second): ([DemuxerEvent], [DemuxerEvent]) = ([], [])
        var demuxer = TransportStreamDemuxer(continuing: nil)
        try demuxer.append(bytes[..<(cut * 188)], to: &first)
        try demuxer.finish(to: &first)
        var next = TransportStreamDemuxer(continuing: handsOn ? demuxer.rest : nil)
        try next.append(bytes[..<376] + bytes[(cut * 188)...], to: &second)
        try next.finish(to: &second)
        func audio(_ events: [DemuxerEvent]) -> [MediaSample] {
            events.compactMap { event in
                if case .sample(let sample) = event, sample.trackID == 257 { sample } else { nil }
            }
        }
        let notes = (first + second).compactMap { event in
            if case .note(let text) = event { text } else { nil }
        }
        return (audio(first), audio(second), notes)
    }

    @Test("a stream cut between any two packets neither loses nor repeats a frame", arguments: layouts)
    func everyCut(_ layout: Layout) throws {
        let writer = Self.stream(layout)
        for cut in 3..<writer.packetCount {
            let (first, second, notes) = try Self.samples(writer.bytes, cutAt: cut)
            let samples = first + second
            #expect(samples.map { $0.bytes.first } == (0..<Self.frameCount).map { UInt8($0) }, "cut at packet \(cut)")
            #expect(samples.allSatisfy { $0.bytes.count == 30 && !$0.isDamaged }, "cut at packet \(cut)")
            let times = samples.indices.map { (layout.start + Int64($0) * 1920) & 0x1_ffff_ffff }
            #expect(samples.map { $0.pts & 0x1_ffff_ffff } == times, "cut at packet \(cut)")
            #expect(zip(second, second.dropFirst()).allSatisfy { $1.pts - $0.pts == 1920 }, "cut at packet \(cut)")
            #expect(notes == [], "cut at packet \(cut)")
        }
    }

    @Test("without the carried-over rest the same cuts lose frames")
    func withoutRest() throws {
        let writer = Self.stream(Self.layouts[0])
        let counts = try (3..<writer.packetCount).map { cut in
            let (first, second, _) = try Self.samples(writer.bytes, cutAt: cut, handsOn: false)
            return (first + second).count
        }
        #expect(try #require(counts.min()) < Self.frameCount)
    }

    @Test("a segment with restarted counters that begins with a frame loses none of its frames")
    func countedAgain() throws {
        let whole = Self.stream(Self.layouts[0])
        let cut = whole.packetCount - 1
        var first: [DemuxerEvent] = []
        var demuxer = TransportStreamDemuxer(continuing: nil)
        try demuxer.append(whole.bytes[..<(cut * 188)], to: &first)
        try demuxer.finish(to: &first)
        let rest = try #require(demuxer.rest)
        let next = DemuxerTrace(TransportStreamDemuxer(continuing: rest), whole.bytes)
        let intact = next.samples(of: 257).filter { !$0.isDamaged }
        #expect(intact.map { $0.bytes.first } == (0..<Self.frameCount).map { UInt8($0) })
    }

    @Test("packets missing at the cut end the unfinished frame")
    func missing() throws {
        var writer = Self.stream(Self.layouts[0])
        let whole = writer.bytes
        // The cut is within a packet of audio whose next transport packet is lost.
        let cut = try #require(
            (10..<writer.packetCount - 2).first { index in
                let packets = (0...1).map { whole[((index + $0) * 188)...].prefix(4) }
                return packets.allSatisfy { $0[$0.startIndex + 2] == 1 && $0[$0.startIndex + 1] & 0x40 == 0 }
            })
        writer.removePacket(at: cut)
        let (first, second, notes) = try Self.samples(writer.bytes, cutAt: cut)
        let intact = (first + second).filter { !$0.isDamaged }
        #expect(intact.count < Self.frameCount && intact.count > Self.frameCount - 13)
        #expect(intact.allSatisfy { sample in sample.bytes.allSatisfy { $0 == sample.bytes.first } })
        #expect(notes.contains { $0.contains("missing") })
    }

    // MARK: Frames

    private static let frames = (0..<24).map {
        TinyVideo.unit(isIDR: $0 % 8 == 0, count: 300 + 97 * $0, fill: UInt8($0 + 16))
    }

    /// Returns a stream with one frame per packet, or with packets of `packetSize` bytes. Each packet has the time of
    /// the first frame that begins in it.
    private static func stream(packetSize: Int?, hasLength: Bool) -> TransportStreamWriter {
        var writer = TransportStreamWriter(streams: streams)
        guard let packetSize else {
            for (index, frame) in frames.enumerated() {
                writer.add(
                    .init(pid: 256, pts: 90_000 + Int64(index) * 3600, payload: frame, hasLength: hasLength))
            }
            return writer
        }
        let bytes = frames.flatMap(\.self)
        let starts = frames.indices.map { frames[..<$0].reduce(0) { $0 + $1.count } }
        for start in stride(from: 0, to: bytes.count, by: packetSize) {
            let end = min(start + packetSize, bytes.count)
            let first = starts.firstIndex { (start..<end).contains($0) }
            writer.add(
                .init(
                    pid: 256, pts: first.map { 90_000 + Int64($0) * 3600 }, payload: Array(bytes[start..<end]),
                    hasLength: hasLength))
        }
        return writer
    }

    /// Returns the frames of segments that are cut at these bytes, each continued from the rest of the previous one.
    private static func frames(of bytes: [UInt8], cutAt cuts: [Int]) -> [MediaSample] {
        var rest: TransportStreamRest?
        var events: [DemuxerEvent] = []
        var start = 0
        for cut in cuts + [bytes.count] {
            var demuxer = TransportStreamDemuxer(continuing: rest)
            do throws(MediaError) {
                try demuxer.append(bytes[start..<cut], to: &events)
                try demuxer.finish(to: &events)
            } catch {
                #expect(error.code == .truncated)
            }
            rest = demuxer.rest
            start = cut
        }
        if let rest { events += rest.finish() }
        return events.compactMap { event in
            if case .sample(let sample) = event, sample.trackID == 256 { sample } else { nil }
        }
    }

    @Test(
        "a stream cut between any two packets has complete video frames",
        arguments: [nil, 700, 4000] as [Int?], [false, true])
    func everyCutOfFrames(packetSize: Int?, hasLength: Bool) {
        let writer = Self.stream(packetSize: packetSize, hasLength: hasLength)
        // Only after the first frames does the demuxer know that packets do not begin with frames.
        let first = 2 + 3 * ((packetSize ?? 0) / 184 + 1)
        for cut in first..<writer.packetCount {
            let found = Self.frames(of: writer.bytes, cutAt: [cut * 188])
            #expect(found.map(\.bytes.count) == Self.frames.map(\.count), "cut at packet \(cut)")
            #expect(found.map(\.bytes.last) == Self.frames.map(\.last), "cut at packet \(cut)")
            #expect(found.allSatisfy { !$0.isDamaged }, "cut at packet \(cut)")
        }
        let parts = stride(from: first, to: writer.packetCount, by: 3).map { $0 * 188 }
        let found = Self.frames(of: writer.bytes, cutAt: packetSize == nil ? parts : [])
        #expect(found.map(\.bytes.count) == Self.frames.map(\.count))
    }

    @Test("a stream may be cut within its packets", arguments: [1, 50, 100, 187, 1000])
    func everyByte(step: Int) {
        let bytes = Self.stream(packetSize: nil, hasLength: false).bytes
        if step < 188 {
            for packet in stride(from: 3, to: bytes.count / 188, by: 7) {
                let found = Self.frames(of: bytes, cutAt: [packet * 188 + step])
                #expect(found.map(\.bytes.count) == Self.frames.map(\.count), "cut in packet \(packet)")
            }
        }
        let cuts = Array(stride(from: 600, to: bytes.count, by: 600 + step))
        #expect(Self.frames(of: bytes, cutAt: cuts).map(\.bytes.count) == Self.frames.map(\.count))
    }

    @Test("each packet's time belongs to the first frame that begins in it", arguments: [700, 1500, 4000])
    func times(packetSize: Int) {
        let found = Self.frames(of: Self.stream(packetSize: packetSize, hasLength: true).bytes, cutAt: [])
        #expect(found.count == Self.frames.count)
        var start = 0
        var packet = -1
        for (index, frame) in Self.frames.enumerated() {
            if start / packetSize != packet { #expect(found[index].pts == 90_000 + Int64(index) * 3600) }
            packet = start / packetSize
            start += frame.count
        }
        #expect(zip(found, found.dropFirst()).allSatisfy { $0.pts <= $1.pts })
    }

    @Test("a segment that begins with a new packet does not continue the truncated one")
    func cutOff() {
        let bytes = Self.stream(packetSize: nil, hasLength: false).bytes
        let cut = 188 * 40
        // The last packet of the first segment has only 100 bytes, and its remaining bytes do not follow.
        let found = Self.frames(of: Array(bytes[..<cut]) + bytes[cut..<cut + 100] + bytes[cut...], cutAt: [cut + 100])
        #expect(found.map(\.bytes.count) == Self.frames.map(\.count))
    }

    @Test("the carried-over rest is output only if nothing follows")
    func lastFrame() throws {
        let writer = Self.stream(packetSize: nil, hasLength: false)
        var demuxer = TransportStreamDemuxer(continuing: nil)
        var events: [DemuxerEvent] = []
        // A frame that fills its last packet looks like one that continues.
        let cut = try #require(
            (10..<writer.packetCount - 1).first {
                writer.bytes[$0 * 188 + 3] & 0x20 == 0 && writer.bytes[($0 + 1) * 188 + 1] & 0x40 == 0
            })
        try demuxer.append(writer.bytes[..<((cut + 1) * 188)], to: &events)
        try demuxer.finish(to: &events)
        let count = events.count { if case .sample = $0 { true } else { false } }
        let rest = try #require(demuxer.rest)
        #expect(rest.holdsMedia)
        let last = rest.finish()
        #expect(last.count { if case .sample = $0 { true } else { false } } == 1)
        #expect(count > 0)
    }

    // MARK: Channels

    @Test("channels declared once by an element are known in each following segment")
    func programConfigElement() throws {
        // Channel configuration 0: a program config element of one pair in front, in the first frame only.
        func frame(_ fill: UInt8, element: Bool) -> [UInt8] {
            // Tag 0, AAC-LC of 48 kHz, one front pair with tag 0, and a comment of 0 bytes.
            let body: [UInt8] = element ? [0xa0, 0x98, 0x80, 0x00, 0x04, 0x00, 0x00] : [0x20]
            let payload = body + [UInt8](repeating: fill, count: 30)
            let length = 7 + payload.count
            return [
                0xff, 0xf1, 0x4c, UInt8(length >> 11), UInt8(length >> 3 & 255), UInt8(length & 7) << 5 | 0x1f, 0xfc,
            ] + payload
        }
        var rest: TransportStreamRest?
        var configurations: [[UInt8]] = []
        for segment in 0..<3 {
            var writer = TransportStreamWriter(streams: [Self.streams[1]])
            let frames = (0..<4).flatMap { frame(UInt8($0), element: segment == 0 && $0 == 0) }
            writer.add(.init(pid: 257, pts: Int64(segment) * 7680, payload: frames, hasLength: true))
            var demuxer = TransportStreamDemuxer(continuing: rest)
            var events: [DemuxerEvent] = []
            try demuxer.append(writer.bytes[...], to: &events)
            try demuxer.finish(to: &events)
            rest = demuxer.rest
            var tracks: [MediaTrack] = []
            for event in events {
                if case .tracks(let found) = event { tracks = found }
                if case .sample = event { configurations.append(tracks.first?.configuration ?? []) }
            }
            #expect(tracks.first?.channelCount == 2)
        }
        #expect(configurations.count == 12)
        #expect(Set(configurations).count == 1)
        #expect(configurations.first.map { $0.count > 2 } == true)
    }

    @Test("another program does not use the carried-over rest")
    func otherStreams() throws {
        let whole = Self.stream(Self.layouts[0])
        var events: [DemuxerEvent] = []
        var demuxer = TransportStreamDemuxer(continuing: nil)
        try demuxer.append(whole.bytes[..<((whole.packetCount - 1) * 188)], to: &events)
        try demuxer.finish(to: &events)
        var other = TransportStreamWriter(streams: [.init(pid: 257, type: 0x81)])
        other.add(.init(pid: 257, pts: 5, payload: [1, 2, 3]))
        let trace = DemuxerTrace(TransportStreamDemuxer(continuing: demuxer.rest), other.bytes)
        #expect(trace.samples.isEmpty)
    }
}
