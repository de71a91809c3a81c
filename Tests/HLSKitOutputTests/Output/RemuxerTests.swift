import Foundation
import HLSKitCore
import HLSKitMedia
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RemuxerTests {
    /// Writes the samples of the fixtures with item times from `start` on.
    private func write(_ fixtures: [PacketFixture], to writer: any MediaWriter, from start: Double = 0) throws {
        try writer.begin(fixtures.map(\.track))
        for (index, fixture) in fixtures.enumerated() {
            let first = fixture.samples.map(\.pts).min() ?? 0
            let offset = Int64(start * Double(fixture.track.timescale)) - first
            for sample in fixture.samples {
                try writer.write(
                    sample, ofTrackAt: index,
                    at: MediaTime(value: sample.pts + offset, timescale: fixture.track.timescale))
            }
        }
    }

    private func remux(_ fixtures: [PacketFixture], _ format: OutputFormat) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("out"))
        #expect(writer.takesSamples)
        try write(fixtures, to: writer)
        try writer.finish()
        #expect(folder.names == ["out"])
        return try folder.bytes("out")
    }

    private func decoded(_ stream: TransportStream.Elementary, _ fixture: PacketFixture) throws -> [String] {
        var track = fixture.track
        track.timescale = 90_000
        track.configuration = []
        let decoder = try VideoDecoder(track: track, threadCount: 1)
        var frames: [VideoFrame] = []
        for unit in stream.units {
            let sample = MediaSample(
                trackID: 0, pts: unit.pts, dts: unit.dts, isSync: true, data: SampleData(unit.payload))
            try decoder.decode(sample, to: &frames)
        }
        try decoder.drain(to: &frames)
        return try hashes(of: frames, track: fixture.track)
    }

    @Test(
        "frames from a transport stream or MP4 survive remuxing to a transport stream",
        arguments: [
            "h264-annexb", "h264-avcc", "h264-undeclared-reordering", "hevc",
        ])
    func videoInTransportStream(name: String) throws {
        let fixture = try PacketFixture(name)
        let stream = try TransportStream(try remux([fixture], .ts))
        #expect(stream.streams.map(\.type) == [name == "hevc" ? 0x24 : 0x1B])
        let video = try #require(stream.streams.first)
        #expect(try decoded(video, fixture) == fixture.expectedHashes)
        #expect(video.units.map(\.pts).min() == 126_000)
        #expect(video.units.map(\.dts) == video.units.map(\.dts).sorted())
    }

    @Test("frames with presentation before decoding keep their times", arguments: [OutputFormat.ts, .mp4])
    func negativeOffsets(_ format: OutputFormat) throws {
        let fixture = try PacketFixture("h264-undeclared-reordering")
        let delay = try #require(fixture.samples.map { $0.pts - $0.dts }.max())
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("out"))
        try writer.begin([fixture.track])
        let first = try #require(fixture.samples.first)
        for var sample in fixture.samples {
            // The decoding times have the offset of an MP4 file that starts without an edit list.
            sample.dts += first.pts - first.dts
            let time = MediaTime(value: sample.pts - first.pts, timescale: fixture.track.timescale)
            try writer.write(sample, ofTrackAt: 0, at: time)
        }
        #expect(delay > 0)
        try writer.finish()
        var events: [DemuxerEvent] = []
        let bytes = try folder.bytes("out")
        var demuxer: any Demuxer = TransportStreamDemuxer()
        if format == .mp4 { demuxer = ProgressiveMP4Demuxer() }
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        let samples = events.compactMap { if case .sample(let sample) = $0 { sample } else { nil } }
        let tracks = events.compactMap { if case .tracks(let tracks) = $0 { tracks } else { nil } }
        let unit = Double(try #require(tracks.first?.first).timescale)
        func spacing(_ times: [Int64], _ unit: Double) -> [Int] {
            let times = times.sorted()
            return times.map { Int((Double($0 - times[0]) / unit * 1000).rounded()) }
        }
        #expect(
            spacing(samples.map(\.pts), unit) == spacing(fixture.samples.map(\.pts), Double(fixture.track.timescale)))
        #expect(samples.allSatisfy { $0.pts >= $0.dts })
        #expect(zip(samples, samples.dropFirst()).allSatisfy { $0.dts < $1.dts })
    }

    @Test(
        "audio is framed according to its transport stream type",
        arguments: [
            ("aac", UInt8(0x0F), [UInt8(0xFF), 0xF1]), ("aac-latm", 0x11, [0x56]), ("mp2", 0x03, [0xFF]),
            ("mp3", 0x03, [0xFF]), ("ac3", 0x81, [0x0B, 0x77]), ("eac3", 0x87, [0x0B, 0x77]),
        ])
    func audioInTransportStream(name: String, type: UInt8, start: [UInt8]) throws {
        let stream = try TransportStream(try remux([PacketFixture(name)], .ts))
        #expect(stream.streams.map(\.type) == [type])
        let units = try #require(stream.streams.first).units
        #expect(!units.isEmpty)
        #expect(units.allSatisfy { $0.payload.starts(with: start) })
    }

    @Test("changed tracks continue in the same transport stream with new tables")
    func changingTracks() throws {
        let first = [try PacketFixture("h264-annexb"), try PacketFixture("aac")]
        let second = [try PacketFixture("h264-avcc"), try PacketFixture("aac-mono-44100")]
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try write(first, to: writer)
        try write(first, to: writer, from: 1)
        try write(second, to: writer, from: 2)
        try writer.finish()
        let stream = try TransportStream(try folder.bytes("out"))
        #expect(stream.streams.map(\.type) == [0x1B, 0x0F])
        let units = stream.streams[0].units
        #expect(units.count == 30 + 30 + 12)
        #expect(units.map(\.dts) == units.map(\.dts).sorted())
        #expect(units[60].pts == 126_000 + 2 * 90_000)
        #expect(stream.discontinuityCount == 2)
        let found = try decoded(stream.streams[0], first[0])
        #expect(found == first[0].expectedHashes + first[0].expectedHashes + second[0].expectedHashes)
        // 48 kHz stereo, then 44.1 kHz mono, in the ADTS header.
        let rates = stream.streams[1].units.map { $0.payload[2] >> 2 & 15 }
        #expect(rates.first == 3)
        #expect(rates.last == 4)
    }

    @Test("new tables of a transport stream have a new version, and a PID keeps its kind")
    func newTables() throws {
        let (video, audio) = (try PacketFixture("h264-annexb"), try PacketFixture("aac"))
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try write([audio], to: writer)
        try write([video, audio], to: writer, from: 1)
        try writer.finish()
        let tables = try TransportStream(try folder.bytes("out")).tables
        #expect(tables.map(\.version) == [0, 1])
        #expect(tables.map(\.types) == [[0x100: 0x0F], [0x100: 0x0F, 0x101: 0x1B]])
    }

    @Test("a transport stream continues when MP4 and transport stream frames alternate")
    func changingForms() throws {
        let parts = try ["h264-avcc", "h264-annexb", "h264-avcc"].map { try PacketFixture($0) }
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        for (number, part) in parts.enumerated() {
            var track = part.track
            // The track of a transport stream has no configuration or size before its first frames.
            if number == 1 { (track.configuration, track.width, track.height) = ([], 0, 0) }
            try writer.begin([track])
            let first = part.samples.map(\.pts).min() ?? 0
            for sample in part.samples {
                let time = sample.pts - first + Int64(2 * number) * Int64(track.timescale)
                try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: time, timescale: track.timescale))
            }
        }
        try writer.finish()
        let stream = try TransportStream(try folder.bytes("out"))
        #expect(stream.streams[0].units.count == parts.reduce(0) { $0 + $1.samples.count })
        #expect(try decoded(stream.streams[0], parts[0]) == parts.flatMap(\.expectedHashes))
    }

    @Test(
        "S03: audio that overlaps the previous part is not written twice to a transport stream",
        arguments: ["aac-mono-44100", "aac"])
    func overlappingAudio(of next: String) throws {
        let (first, second) = (try PacketFixture("aac"), try PacketFixture(next))
        let length = Double(first.samples.reduce(0) { $0 + $1.duration }) / 48_000
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try write([first], to: writer)
        try write([second], to: writer, from: length - 0.06)
        try writer.finish()
        var (demuxer, events) = (TransportStreamDemuxer(), [DemuxerEvent]())
        try demuxer.append(try folder.bytes("out")[...], to: &events)
        try demuxer.finish(to: &events)
        let samples = events.compactMap { if case .sample(let sample) = $0 { sample } else { nil } }
        let times = samples.map { Double($0.pts - 126_000) / 90_000 }
        let steps = zip(times, times.dropFirst()).map { $1 - $0 }
        // The gap after the last sample of the first part is at most half a sample.
        #expect(steps.allSatisfy { $0 > 0.001 && $0 < 0.036 })
        let kept = second.samples.count * 1024 - Int((0.06 + 0.012) * Double(second.track.timescale))
        #expect(samples.count >= first.samples.count + kept / 1024)
        #expect(samples.count < first.samples.count + second.samples.count - 1)
    }

    @Test("audio whose timestamps are inexact is written", arguments: [0.01, 0.021, 0.024])
    func inexactAudio(error: Double) throws {
        let fixture = try PacketFixture("aac")
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try writer.begin([fixture.track])
        var random = SplitMix64(seed: 1)
        var (time, count) = (1.0, 0)
        for sample in (0..<5).flatMap({ _ in fixture.samples }) {
            let inexact = time + Double.random(in: -error...error, using: &random)
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(seconds: inexact, preferredTimescale: 90_000))
            time += Double(sample.duration) / Double(fixture.track.timescale)
            count += 1
        }
        try writer.finish()
        var (demuxer, events) = (TransportStreamDemuxer(), [DemuxerEvent]())
        try demuxer.append(try folder.bytes("out")[...], to: &events)
        try demuxer.finish(to: &events)
        // Until late samples show the error, an early one may be a repetition.
        #expect(events.count { if case .sample = $0 { true } else { false } } >= count - 2)
    }

    @Test("S03: late audio goes into the next file, which begins with an independent frame")
    func lateTrack() throws {
        let (video, audio) = (try PacketFixture("h264-avcc"), try PacketFixture("aac"))
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4"))
        let frame = try #require(video.samples.map(\.duration).max())
        func write(_ round: Int, _ samples: [MediaSample]) throws {
            let start = Int64(round * video.samples.count) * frame - (video.samples.first?.dts ?? 0)
            for sample in samples {
                try writer.write(
                    sample, ofTrackAt: 0, at: MediaTime(value: sample.pts + start, timescale: video.track.timescale))
            }
        }
        try writer.begin([video.track])
        try write(0, Array(video.samples.prefix(5)))
        try writer.begin([video.track, audio.track])
        let start = Int64(video.samples.count) * frame * 48_000 / Int64(video.track.timescale)
        for sample in audio.samples {
            try writer.write(sample, ofTrackAt: 1, at: MediaTime(value: start + sample.pts, timescale: 48_000))
        }
        try write(0, Array(video.samples.dropFirst(5)))
        for round in 1...3 { try write(round, video.samples) }
        try writer.finish()
        #expect(folder.names == ["a.2.mp4", "a.mp4"])
        var counts: [Int] = []
        for name in folder.names {
            let bytes = try folder.bytes(name)
            let section = try MP4InitializationSection(parsing: bytes[...])
            let videoTrack = section.tracks.first { $0.mediaType == .video }?.id
            var (demuxer, events) = (FragmentedMP4Demuxer(initialization: section), [DemuxerEvent]())
            try demuxer.append(bytes[...], to: &events)
            try demuxer.finish(to: &events)
            var frames: [MediaSample] = []
            for event in events {
                if case .sample(let sample) = event, sample.trackID == videoTrack { frames.append(sample) }
            }
            counts.append(frames.count)
            #expect(frames.first?.isSync == true)
        }
        #expect(counts.reduce(0, +) == 4 * video.samples.count)
    }

    @Test("repeated or decreasing decoding times are moved to increase")
    func monotonicTimes() throws {
        let fixture = try PacketFixture("h264-annexb")
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try writer.begin([fixture.track])
        for (index, sample) in fixture.samples.enumerated() {
            let time = index % 3 == 0 ? Int64(90_000) : Int64(index % 2) * 45_000
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: time, timescale: 90_000))
        }
        try writer.finish()
        let units = try #require(try TransportStream(try folder.bytes("out")).streams.first).units
        #expect(units.count == fixture.samples.count)
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.dts < $1.dts })
        #expect(units.allSatisfy { $0.pts >= $0.dts })
    }

    @Test(
        "MP4 and Matroska files are complete, with the in-band parameter sets",
        arguments: [
            OutputFormat.mp4, .mkv,
        ])
    func files(format: OutputFormat) throws {
        for name in ["h264-annexb", "h264-avcc", "hevc", "av1", "vp9"] {
            let fixture = try PacketFixture(name)
            let bytes = try remux([fixture, try PacketFixture("aac")], format)
            let start: [UInt8] = format == .mp4 ? Array("ftyp".utf8) : [0x42, 0x86]
            #expect(Array(bytes[4...].prefix(start.count)) == start || format == .mkv)
            #expect(format == .mp4 || bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]))
            if name.hasPrefix("h264") {
                let configuration = try PacketFixture("h264-avcc").track.configuration
                // Version, profile and level. The parameter sets of the two fixtures differ after them.
                #expect(bytes.contains(configuration.prefix(4)))
            }
            if format == .mp4 { #expect(bytes.contains(Array("moov".utf8)[...])) }
        }
    }

    @Test(
        "provisional tracks and their later definition are one stream",
        arguments: [
            OutputFormat.ts, .mp4, .mkv,
        ])
    func provisionalTracks(format: OutputFormat) throws {
        let fixtures = [try PacketFixture("h264-annexb"), try PacketFixture("aac")]
        let plain = try remux(fixtures, format)
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("out"))
        var provisional = fixtures.map(\.track)
        provisional[0].width = 0
        (provisional[1].configuration, provisional[1].sampleRate, provisional[1].channelCount) = ([], 0, 0)
        for fixture in fixtures.indices {
            try writer.begin(provisional)
            let samples = fixtures[fixture].samples
            let first = samples.map(\.pts).min() ?? 0
            for (index, sample) in samples.enumerated() {
                if index == 1 { try writer.begin(fixtures.map(\.track)) }
                let time = MediaTime(value: sample.pts - first, timescale: fixtures[fixture].track.timescale)
                try writer.write(sample, ofTrackAt: fixture, at: time)
            }
        }
        try writer.finish()
        let bytes = try folder.bytes("out")
        // Matroska files contain random numbers.
        #expect(bytes.count == plain.count)
        #expect(bytes == plain || format == .mkv)
    }

    @Test("a track without samples is omitted")
    func silentTrack() throws {
        let fixture = try PacketFixture("h264-annexb")
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out"))
        try writer.begin([MediaTrack(id: 9, mediaType: .audio, codec: .aac, timescale: 90_000), fixture.track])
        for sample in fixture.samples {
            let time = MediaTime(value: sample.pts, timescale: 90_000)
            try writer.write(sample, ofTrackAt: 1, at: time)
        }
        try writer.finish()
        let stream = try TransportStream(try folder.bytes("out"))
        #expect(stream.streams.map(\.units.count) == [fixture.samples.count])
    }

    @Test("a track with unknown parameters is omitted and reported once")
    func unknownTrack() throws {
        let (fixture, audio) = (try PacketFixture("h264-annexb"), try PacketFixture("aac"))
        let folder = try TemporaryFolder()
        let notes = Mutex<[String]>([])
        let writer = try OutputFormat.ts.makeWriter(path: folder.path("out")) { text in
            notes.withLock { $0.append(text) }
        }
        var track = audio.track
        track.configuration = []
        try writer.begin([fixture.track, track])
        for (index, samples) in [fixture.samples, audio.samples].enumerated() {
            for sample in samples {
                try writer.write(sample, ofTrackAt: index, at: MediaTime(value: sample.pts, timescale: 90_000))
            }
        }
        #expect(notes.withLock { $0 } == [])
        try writer.finish()
        #expect(notes.withLock { $0 } == ["audio is omitted: its parameters are unknown"])
        let stream = try TransportStream(try folder.bytes("out"))
        #expect(stream.streams.map(\.units.count) == [fixture.samples.count])
    }

    @Test("an MP4 file written to a pipe is fragmented, because a pipe cannot seek")
    func fragmented() throws {
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        let reader = open(folder.path("pipe"), O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("pipe"))
        try write([try PacketFixture("h264-avcc")], to: writer)
        try writer.finish()
        var bytes = [UInt8](repeating: 0, count: 60_000)
        bytes.removeLast(bytes.count - max(0, read(reader, &bytes, bytes.count)))
        #expect(bytes.contains(Array("moof".utf8)[...]))
    }

    @Test("a codec that a container cannot hold is refused by name")
    func refused() throws {
        let folder = try TemporaryFolder()
        for (name, format) in [("flac", OutputFormat.ts), ("av1", .ts), ("aac-latm", .mp4)] {
            let writer = try format.makeWriter(path: folder.path("out"), overwrite: true)
            let fixture = try PacketFixture(name)
            let error = #expect(throws: HLSError.self) { try writer.begin([fixture.track]) }
            #expect(error?.text == "\(format.rawValue) cannot hold \(fixture.track.codec.rawValue)")
        }
    }

    @Test("FLAC is written to MP4")
    func flac() throws {
        let fixture = try PacketFixture("flac")
        let bytes = try remux([fixture], .mp4)
        let section = try MP4InitializationSection(parsing: bytes[...])
        #expect(section.tracks.map(\.codec) == [.flac])
        #expect(section.tracks.map(\.sampleRate) == [8000])
        var (demuxer, events) = (FragmentedMP4Demuxer(initialization: section), [DemuxerEvent]())
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        let samples = events.compactMap { if case .sample(let sample) = $0 { sample.data.count } else { nil } }
        #expect(samples == fixture.samples.map(\.data.count))
    }

    @Test(
        "AC-3 below 32 kHz is written to TS and Matroska; MP4 refuses its rate", arguments: [16_000, 48_000])
    func slowAC3(sampleRate: Int) throws {
        let folder = try TemporaryFolder()
        let track = MediaTrack(
            id: 1, mediaType: .audio, codec: .ac3, timescale: 90_000, sampleRate: sampleRate, channelCount: 2)
        let sample = MediaSample(
            trackID: 1, pts: 0, dts: 0, duration: 8640, isSync: true,
            data: SampleData([0x0B, 0x77, 0, 0, 0x1C, 0x48] + Array(repeating: 0, count: 762)))
        for format in [OutputFormat.ts, .mp4, .mkv] {
            let writer = try #require(
                try format.makeWriter(path: folder.path("out"), overwrite: true) as? any SampleWriter)
            let error =
                (Result { () throws(HLSError) in
                    try writer.begin([track])
                    try writer.write(sample, ofTrackAt: 0, at: .zero)
                    try writer.finish()
                }).failure
            let isRefused = format == .mp4 && sampleRate < 32_000
            #expect((error != nil) == isRefused, "\(format): \(String(describing: error))")
            if isRefused { #expect(error?.text.contains("mp4 cannot hold AC-3 of 16000 Hz") == true) }
        }
    }

    @Test("PCM is written to Matroska, and to no other container")
    func pcm() throws {
        let folder = try TemporaryFolder()
        let forms: [MediaCodec] = [.pcmS16LE, .pcmS24BE, .pcmF32LE, .pcmF32BE, .pcmS8, .pcmMuLaw]
        for (codec, format) in forms.flatMap({ codec in [OutputFormat.ts, .mp4, .mkv].map { (codec, $0) } }) {
            let track = MediaTrack(
                id: 1, mediaType: .audio, codec: codec, timescale: 48_000, sampleEntry: "lpcm", sampleRate: 48_000,
                channelCount: 2)
            let writer = try format.makeWriter(path: folder.path("out"), overwrite: true)
            guard format == .mkv, codec != .pcmF32BE, codec != .pcmS8 else {
                let error = #expect(throws: HLSError.self) { try writer.begin([track]) }
                #expect(error?.text == "\(format.rawValue) cannot hold \(codec.rawValue)")
                continue
            }
            try writer.begin([track])
            let sample = MediaSample(
                trackID: 1, pts: 0, dts: 0, duration: 10, isSync: true,
                data: SampleData(Array(repeating: 0, count: 10 * 2 * (codec.pcmByteCount ?? 0))))
            try writer.write(sample, ofTrackAt: 0, at: .zero)
            try writer.finish()
        }
    }

    @Test(
        "S03: a change that the container cannot hold continues in the next file, from its start",
        arguments: [OutputFormat.mp4, .mkv])
    func nextFile(format: OutputFormat) throws {
        let folder = try TemporaryFolder()
        let notes = Mutex<[String]>([])
        let name = "a.b.\(format.rawValue)"
        let writer = try format.makeWriter(path: folder.path(name)) { text in notes.withLock { $0.append(text) } }
        let first = try PacketFixture("h264-annexb")
        try write([first, try PacketFixture("aac")], to: writer)
        try write([first, try PacketFixture("aac")], to: writer, from: 2)
        #expect(notes.withLock { $0.isEmpty })
        try write([try PacketFixture("hevc"), try PacketFixture("aac-mono-44100")], to: writer, from: 100)
        try writer.finish()
        let second = "a.b.2.\(format.rawValue)"
        #expect(folder.names.sorted() == [second, name].sorted())
        #expect((writer as? Remuxer)?.paths == [folder.path(name), folder.path(second)])
        #expect(
            notes.withLock { $0 } == [
                "\(format.rawValue) cannot hold tracks that change: continuing in \(folder.path(second))"
            ])
        guard format == .mp4 else { return }
        let file = try folder.bytes(second)
        #expect(file.contains(Array("hvc1".utf8)[...]) && !file.contains(Array("hev1".utf8)[...]))
        // Otherwise the edit list would start with 100 s of empty media.
        #expect(try MP4Boxes(file).editDurations.allSatisfy { $0 < 1 })
    }

    @Test("S03: an existing file name is skipped, unless files are replaced", arguments: [false, true])
    func takenName(overwrites: Bool) throws {
        let folder = try TemporaryFolder()
        try Data([1]).write(to: URL(fileURLWithPath: folder.path("a.2.mp4")))
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4"), overwrite: overwrites)
        try write([try PacketFixture("aac")], to: writer)
        try write([try PacketFixture("aac-mono-44100")], to: writer, from: 3)
        try writer.finish()
        #expect(folder.names.sorted() == (overwrites ? ["a.2.mp4", "a.mp4"] : ["a.2.mp4", "a.3.mp4", "a.mp4"]))
        #expect(try folder.bytes("a.2.mp4").count > 1 || !overwrites)
    }

    @Test(
        "a pipe that cannot hold changed tracks drops and reports them until the old ones return",
        arguments: [OutputFormat.mp4, .mkv])
    func changeInPipe(format: OutputFormat) throws {
        let notes = Mutex<[String]>([])
        let writer = try format.makeWriter(path: "/dev/null") { text in notes.withLock { $0.append(text) } }
        #expect(!writer.holdsTrackChanges)
        let (audio, other) = (try PacketFixture("aac"), try PacketFixture("aac-mono-44100"))
        try write([audio], to: writer)
        try write([other], to: writer, from: 3)
        try write([audio], to: writer, from: 6)
        try writer.finish()
        #expect(
            notes.withLock { $0 } == [
                "\(format.rawValue) on a pipe cannot hold tracks that change: audio is skipped from here on",
                "audio matches again: it is written again",
            ])
    }

    @Test("empty files are removed and not listed")
    func emptyFile() throws {
        let folder = try TemporaryFolder()
        for format in [OutputFormat.mp4, .mkv, .ts, .y4m, .wav, .framemd5, .rawvideo] {
            let writer = try format.makeWriter(path: folder.path("a"))
            #expect(writer.isEmpty)
            try writer.finish()
            #expect((writer as? Remuxer)?.finishedPaths ?? [] == [])
        }
        #expect(folder.names == [])
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.m4a"))
        #expect(writer.mediaTypes == [.audio])
        try write([try PacketFixture("aac")], to: writer)
        try writer.finish()
        #expect(!writer.isEmpty && (writer as? Remuxer)?.finishedPaths == [folder.path("a.m4a")])
    }

    @Test("S03: an unfinished MP4 file plays up to its last fragment", arguments: [true, false])
    func unfinished(hasFrames: Bool) throws {
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4"))
        let fixtures = try (hasFrames ? ["h264-avcc", "aac"] : ["aac"]).map { try PacketFixture($0) }
        for round in 0..<12 { try write(fixtures, to: writer, from: Double(round)) }
        try writer.flush()
        let boxes = try MP4Boxes(try folder.bytes("a.mp4.part"))
        #expect(boxes.names.prefix(3) == ["ftyp", "moov", "moof"])
        #expect(boxes.names.count { $0 == "moof" } >= 2)
        try writer.finish()
        #expect(folder.names == ["a.mp4"])
    }

    @Test("S03: text has its own track, with its language", arguments: [OutputFormat.mp4, .mkv])
    func text(format: OutputFormat) throws {
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a"))
        let video = try PacketFixture("h264-avcc")
        let texts = ["de-AT", "en"].map { language in
            MediaTrack(id: 7, mediaType: .text, codec: .webVTT, timescale: 1000, language: language)
        }
        try writer.begin([video.track] + texts)
        for index in 1...2 {
            for time in [Int64(0), 0, 100] {
                let sample = MediaSample(
                    trackID: 7, pts: time, dts: time, duration: 200, isSync: true,
                    data: SampleData(Array("Grüße \(time)".utf8)))
                try writer.write(sample, ofTrackAt: index, at: MediaTime(value: time, timescale: 1000))
            }
        }
        for sample in video.samples {
            try writer.write(
                sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: video.track.timescale))
        }
        try writer.finish()
        let bytes = try folder.bytes("a")
        #expect(bytes.contains(Array("Grüße 100".utf8)[...]))
        if format == .mp4 {
            let languages = try MP4Boxes(bytes).languages
            #expect(languages.suffix(2) == ["deu", "eng"])
            #expect(bytes.contains(Array("tx3g".utf8)[...]))
        } else {
            #expect(bytes.contains(Array("S_TEXT/UTF8".utf8)[...]))
            #expect(bytes.contains(Array("ger".utf8)[...]))
        }
    }

    private static var metadata: FileMetadata {
        var metadata = FileMetadata()
        metadata.add("Ein Film", for: "title")
        metadata.add("2024-05-06T07:08:09.000Z", for: "creation_time")
        metadata.add(FileMetadata.Chapter(start: .zero, end: .milliseconds(200), title: "Eins"))
        metadata.add(FileMetadata.Chapter(start: .milliseconds(200), title: "Zwei"))
        metadata.add(FileMetadata.Chapter(start: .seconds(500), title: "Drei"))
        return metadata
    }

    @Test("S03: title, creation time and chapters are in an MP4 file", arguments: [false, true])
    func metadata(isFragmented: Bool) throws {
        let folder = try TemporaryFolder()
        let writer = Remuxer(
            file: try OutputFile(path: folder.path("a")), container: .mp4, isFragmented: isFragmented,
            indexByteCount: 1 << 14)
        writer.describe(Self.metadata)
        try write([try PacketFixture("h264-avcc")], to: writer)
        try writer.finish()
        let bytes = try folder.bytes("a")
        let data = MP4UserData(parsing: bytes[...])
        #expect(data.entries.first { $0.key == "©nam" }?.value == .string("Ein Film"))
        #expect(data.creationTime == 1_714_979_289)
        // A file with one index knows its end, so it omits the chapter after the end.
        #expect(data.chapters.map(\.title) == (isFragmented ? ["Eins", "Zwei", "Drei"] : ["Eins", "Zwei"]))
        #expect(data.chapters.map(\.start).prefix(2) == [0, 2_000_000])
        let header = try MP4InitializationSection(parsing: bytes[...])
        #expect(header.tracks.map(\.holdsChapters) == [false, true])
    }

    @Test(
        "S03: title and chapters are in a Matroska file, and in no transport stream",
        arguments: [OutputFormat.mkv, .ts])
    func metadataElsewhere(_ format: OutputFormat) throws {
        let folder = try TemporaryFolder()
        let writer = try format.makeWriter(path: folder.path("a"))
        let clip = ClipWriter(writer, unlessBefore: MediaTime(value: 1, timescale: 1), metadata: Self.metadata)
        try write([try PacketFixture("h264-avcc")], to: clip)
        try clip.finish()
        let bytes = try folder.bytes("a")
        for text in ["Ein Film", "Eins", "Zwei"] {
            #expect(bytes.contains(Array(text.utf8)[...]) == (format == .mkv), "\(text)")
        }
        #expect(!bytes.contains(Array("Drei".utf8)[...]))
    }

    @Test("S03: a clip has the chapters of its part")
    func metadataOfClip() throws {
        let folder = try TemporaryFolder()
        let clip = ClipWriter(try OutputFormat.mkv.makeWriter(path: folder.path("a")), metadata: Self.metadata)
        try write([try PacketFixture("h264-avcc")], to: clip, from: 501)
        try clip.finish()
        let bytes = try folder.bytes("a")
        #expect(bytes.contains(Array("Drei".utf8)[...]) && !bytes.contains(Array("Zwei".utf8)[...]))
    }

    @Test(
        "S03: the declaration of object audio in E-AC-3 is in an MP4 file", arguments: [false, true], [UInt8(16), nil])
    func objectAudio(isFragmented: Bool, complexityIndex: UInt8?) throws {
        let folder = try TemporaryFolder()
        let writer = Remuxer(
            file: try OutputFile(path: folder.path("a")), container: .mp4, isFragmented: isFragmented,
            indexByteCount: 1 << 14)
        var (plain, object) = (try PacketFixture("eac3"), try PacketFixture("eac3"))
        plain.track.id += 1
        object.track.enhancedAC3Extension = complexityIndex.map {
            EnhancedAC3Extension(complexityIndex: $0, bitRate: 448_000)
        }
        try write([plain, object], to: writer)
        try writer.finish()
        let header = try MP4InitializationSection(parsing: try folder.bytes("a")[...])
        #expect(header.notes.isEmpty)
        #expect(header.tracks.map(\.enhancedAC3Extension?.complexityIndex) == [nil, complexityIndex])
        #expect(header.tracks.map(\.channelCount) == [plain.track.channelCount, plain.track.channelCount])
    }

    @Test("without parameter sets the file stays unfinished, and the error says so")
    func noParameterSets() throws {
        let folder = try TemporaryFolder()
        let writer = try OutputFormat.mp4.makeWriter(path: folder.path("a.mp4"))
        let fixture = try PacketFixture("h264-annexb")
        try writer.begin([fixture.track])
        for sample in fixture.samples where !sample.isSync {
            try writer.write(sample, ofTrackAt: 0, at: MediaTime(value: sample.pts, timescale: 90_000))
        }
        let error = #expect(throws: HLSError.self) { try writer.finish() }
        #expect(error?.text.contains(folder.path("a.mp4.part")) == true)
    }

    @Test(
        "a file joined between key frames begins its video at the first one and reports it",
        arguments: [OutputFormat.mp4, .mkv])
    func joinedBetweenKeys(format: OutputFormat) throws {
        let (fixture, audio) = (try PacketFixture("h264-annexb"), try PacketFixture("aac"))
        let folder = try TemporaryFolder()
        let notes = Mutex<[String]>([])
        let writer = try format.makeWriter(path: folder.path("out")) { text in notes.withLock { $0.append(text) } }
        var track = fixture.track
        (track.width, track.height) = (0, 0)
        try writer.begin([track, audio.track])
        let length = Int64(fixture.samples.count) * 3600
        let before = fixture.samples.dropFirst().prefix { !$0.isSync }
        for (round, samples) in [Array(before), fixture.samples].enumerated() {
            for sample in samples {
                let time = MediaTime(value: sample.pts + Int64(round) * length, timescale: 90_000)
                try writer.write(sample, ofTrackAt: 0, at: time)
            }
        }
        for sample in audio.samples {
            try writer.write(
                sample, ofTrackAt: 1, at: MediaTime(value: sample.pts, timescale: audio.track.timescale))
        }
        try writer.finish()
        #expect(folder.names == ["out"])
        #expect(notes.withLock { $0.count } == 1)
        #expect(notes.withLock { $0.first }?.contains("\(before.count) frames") == true)
        guard format == .mp4 else { return }
        let bytes = try folder.bytes("out")
        let section = try MP4InitializationSection(parsing: bytes[...])
        let video = try #require(section.tracks.first { $0.mediaType == .video })
        #expect(video.width == fixture.track.width && video.height == fixture.track.height)
        var (demuxer, events) = (FragmentedMP4Demuxer(initialization: section), [DemuxerEvent]())
        try demuxer.append(bytes[...], to: &events)
        try demuxer.finish(to: &events)
        let frames = events.compactMap { event in
            if case .sample(let sample) = event, sample.trackID == video.id { sample } else { nil }
        }
        #expect(frames.count == fixture.samples.count)
        #expect(frames.first?.isSync == true)
    }

    @Test("a full device is the file's error, not the library's", arguments: [OutputFormat.ts, .mp4, .mkv])
    func fullDevice(format: OutputFormat) throws {
        let fixture = try PacketFixture("aac")
        let writer = try format.makeWriter(path: "/dev/full")
        let error = #expect(throws: HLSError.self) {
            for round in 0..<400 { try write([fixture], to: writer, from: Double(round) / 3) }
            try writer.finish()
        }
        #expect(error?.code == .diskFull)
    }

    @Test("arbitrary sample bytes and times do not trap a muxer", arguments: [OutputFormat.ts, .mp4, .mkv])
    func anyBytes(format: OutputFormat) throws {
        for name in ["h264-annexb", "h264-avcc", "hevc", "aac", "ac3", "eac3", "mp2", "mp3", "opus"] {
            for seed in 0..<12 {
                let folder = try TemporaryFolder()
                let writer = try format.makeWriter(path: folder.path("out"))
                let fixture = try PacketFixture(name)
                try? writer.begin([fixture.track])
                for (index, var sample) in fixture.samples.enumerated() {
                    var bytes = sample.data.withUnsafeBytes { Array($0) }
                    let place = (seed * 37 + index * 11) % max(bytes.count, 1)
                    if !bytes.isEmpty { bytes[place] ^= UInt8(truncatingIfNeeded: 1 << (seed % 8)) }
                    if seed % 4 == 1 { bytes.removeLast(bytes.count * (index % 11) / 10) }
                    if seed % 4 == 2, index > 1 {
                        (sample.pts, sample.dts) = (.max - Int64(index), .min + Int64(index))
                    }
                    sample.data = SampleData(bytes)
                    let time = seed % 4 == 3 ? Int64.max / Int64(index + 1) : sample.pts
                    try? writer.write(
                        sample, ofTrackAt: 0, at: MediaTime(value: time, timescale: fixture.track.timescale))
                }
                try? writer.finish()
                #expect(folder.names.count <= 1)
            }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
