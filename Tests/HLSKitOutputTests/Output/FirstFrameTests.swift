import HLSKitCore
import HLSKitMedia
import TestSupport
import Testing

@Suite("The first frames of a file", .timeLimit(.minutes(10)))
struct FirstFrameTests {
    /// Writes a sync frame that two frames follow in decoding order but precede in display order.
    ///
    /// - Parameters:
    ///   - header: The header byte of the sync frame's first slice.
    ///   - leading: The header byte of those two frames' first slices, or `nil` to leave it.
    /// - Returns: The number of frames in the file, less the number of written frames.
    private func frameCount(_ name: String, header: UInt8, leading: UInt8?, isContinued: Bool = false) throws -> Int {
        let fixture = try PacketFixture(name)
        let folder = try TemporaryFolder()
        let writer = Remuxer(file: try OutputFile(path: folder.path("a.mp4")), container: .mp4)
        if isContinued { writer.continueFile() }
        try writer.begin([fixture.track])
        let order = [0, 2, 3, 1] + Array(4..<fixture.samples.count)
        let step = fixture.samples[1].dts - fixture.samples[0].dts
        for (number, index) in order.enumerated() {
            var sample = fixture.samples[index]
            var bytes = Array(sample.data.withUnsafeBytes { $0 })
            if index == 0 {
                sample.pts = max(fixture.samples[2].pts, fixture.samples[3].pts) + 1
                try replaceSlice(in: &bytes, with: header, name)
            } else if number < 3, let leading {
                try replaceSlice(in: &bytes, with: leading, name)
            }
            sample.data = SampleData(bytes)
            sample.dts = fixture.samples[0].dts - 20 * step + Int64(number) * step
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
        }
        try writer.finish()
        let bytes = try folder.bytes("a.mp4")
        let section = try MP4InitializationSection(parsing: bytes[...])
        var (demuxer, events) = (FragmentedMP4Demuxer(initialization: section), [DemuxerEvent]())
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        return events.count { if case .sample = $0 { true } else { false } } - fixture.samples.count
    }

    private func replaceSlice(in bytes: inout [UInt8], with header: UInt8, _ name: String) throws {
        if name == "hevc" {
            bytes[4] = header
            return
        }
        let place = try #require(
            (0..<bytes.count - 4).first { at in
                bytes[at..<at + 3].elementsEqual([0, 0, 1]) && [1, 5].contains(bytes[at + 3] & 0x1f)
            })
        bytes[place + 3] = header
    }

    @Test(
        "frames shown before the first sync frame are dropped if they depend on earlier ones",
        arguments: [
            ("h264-annexb", 0x61, nil, -2), ("h264-annexb", 0x65, nil, 0), ("hevc", 21 << 1, 8 << 1, -2),
            ("hevc", 21 << 1, 9 << 1, -2), ("hevc", 19 << 1, 6 << 1, 0),
        ] as [(String, UInt8, UInt8?, Int)])
    func leading(_ test: (String, UInt8, UInt8?, Int)) throws {
        #expect(try frameCount(test.0, header: test.1, leading: test.2) == test.3)
        #expect(try frameCount(test.0, header: test.1, leading: test.2, isContinued: true) == 0)
    }

    @Test(
        "Dolby Vision keeps its sample entry and its record",
        arguments: [
            ("h264-avcc", "dva1"), ("h264-avcc", "dvav"), ("av1", "dav1"), ("hevc", "dvh1"), ("hevc", "dvhe"),
        ])
    func dolbyVision(name: String, entry: String) throws {
        var fixture = try PacketFixture(name)
        fixture.track.sampleEntry = entry
        fixture.track.dolbyVision = [1, 0, 9 << 1, 9 << 3 | 5, 2 << 4] + [UInt8](repeating: 0, count: 19)
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4"))
        try writer.begin([fixture.track])
        for sample in fixture.samples {
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: fixture.track.timescale))
        }
        try writer.finish()
        let section = try MP4InitializationSection(parsing: try folder.bytes("a.mp4")[...])
        #expect(section.tracks.map(\.sampleEntry) == [entry])
        #expect(section.tracks.map { Array($0.dolbyVision.prefix(5)) } == [Array(fixture.track.dolbyVision.prefix(5))])
    }

    @Test(
        "a frame size that only samples declare begins another file", arguments: ["avc3", "avc1", ""],
        [OutputFormat.mp4, .mkv])
    func sizeInSamples(entry: String, format: OutputFormat) throws {
        var fixture = try PacketFixture("h264-two-sizes")
        var samples = fixture.samples
        if !entry.isEmpty {
            let sets = PictureParameterSets.copy(of: samples[0], .h264)
            fixture.track.sampleEntry = entry
            fixture.track.configuration = [1, 100, 0, 10, 0xff, 0xe0, 0]
            fixture.track = try #require(fixture.track.described(by: sets))
            #expect(fixture.track.configuration.count > 20)
            for index in samples.indices { samples[index].data = SampleData(lengths(of: samples[index])) }
        }
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a.\(format.rawValue)"))
        try writer.begin([fixture.track])
        for sample in samples {
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: 90_000))
        }
        try writer.finish()
        #expect(folder.names.count == (entry == "avc1" ? 1 : 2))
        guard format == .mp4, entry != "avc1" else { return }
        let sizes = try ["a.mp4", "a.2.mp4"].map { name in
            let track = try MP4InitializationSection(parsing: try folder.bytes(name)[...]).tracks[0]
            return track.width
        }
        #expect(sizes[0] == fixture.track.width && sizes[1] != sizes[0])
    }

    /// Returns the NAL units of a sample with their lengths instead of start codes.
    private func lengths(of sample: MediaSample) -> [UInt8] {
        sample.data.withUnsafeBytes { bytes in
            var result: [UInt8] = []
            var at = NALUnits.startCode(in: bytes, from: 0)
            while let start = at {
                at = NALUnits.startCode(in: bytes, from: start + 3)
                var end = at ?? bytes.count
                while end > start + 3, bytes[end - 1] == 0 { end -= 1 }
                let count = end - start - 3
                result += (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
                result += bytes[start + 3..<end]
            }
            return result
        }
    }
}
