@testable import HLSKitMedia

/// Invariants that must hold for any bytes. Tests use them and, through a link, the fuzzers in `Fuzz/`.
enum DemuxerChecks {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The format that the bytes are read as. The raw value is a folder of `Fuzz/corpus-media`.
    enum Format: String, CaseIterable, Sendable {
        case transportStream = "transport-stream"
        case fragmentedMP4 = "fragmented-mp4"
        case progressiveMP4 = "progressive-mp4"
        case packedAudio = "packed-audio"
        case webVTT = "webvtt"
        /// A sample of a `wvtt` track.
        case webVTTSample = "webvtt-sample"
        /// Parameter sets, messages with captions, samples of caption tracks, and streams of H.264 and HEVC.
        case video
    }

    static func check(_ bytes: [UInt8], as format: Format) throws(Failure) {
        switch format {
        case .transportStream:
            try chunking(bytes) { TransportStreamDemuxer() }
            try segments(bytes)
        case .packedAudio: try chunking(bytes) { PackedAudioDemuxer() }
        case .progressiveMP4:
            try chunking(bytes) { ProgressiveMP4Demuxer() }
            scan(bytes)
        case .fragmentedMP4:
            try chunking(bytes) { FragmentedMP4Demuxer(initialization: nil) }
            // Reads the header separately, as EXT-X-MAP provides it.
            let start = firstFragment(bytes) ?? bytes.count
            guard let section = try? MP4InitializationSection(parsing: bytes[..<start]) else { return }
            try chunking(Array(bytes[start...])) { FragmentedMP4Demuxer(initialization: section) }
        case .webVTT: try captions(bytes)
        case .webVTTSample: try sampleOfCues(bytes)
        case .video: try video(bytes)
        }
    }

    // MARK: Demuxers

    private struct Outcome: Equatable {
        var digest = Hasher()
        var eventCount = 0
        var sampleCount = 0
        var sampleByteCount = 0
        var error: MediaError?

        static func == (a: Outcome, b: Outcome) -> Bool {
            a.digest.finalize() == b.digest.finalize() && a.eventCount == b.eventCount && a.error == b.error
        }

        mutating func take(_ event: DemuxerEvent) {
            eventCount += 1
            switch event {
            case .tracks(let tracks): digest.combine(tracks)
            case .eventMessage(let message): digest.combine(message)
            case .unreadTrack(_, let name): digest.combine(name)
            case .note(let text): digest.combine(text)
            case .sample(let sample):
                sampleCount += 1
                sampleByteCount += sample.data.count
                digest.combine(sample.trackID)
                digest.combine(sample.pts)
                digest.combine(sample.dts)
                digest.combine(sample.duration)
                digest.combine(sample.isSync)
                digest.combine(sample.isDamaged)
                digest.combine(sample.encryption)
                sample.data.withUnsafeBytes { digest.combine(bytes: $0) }
            }
        }
    }

    /// Checks that pieces of any size give the same events, and that the samples are not larger than the input.
    private static func chunking(_ bytes: [UInt8], _ make: () -> some Demuxer) throws(Failure) {
        let whole = run(make(), bytes) { bytes.count }
        var seed = UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        for byte in bytes.prefix(64) { seed = (seed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let largest = [1, 7, 300, 5000][Int(seed >> 40 & 3)]
        let pieces = run(make(), bytes) {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return 1 + Int(seed >> 33) % largest
        }
        guard whole == pieces else {
            throw Failure(
                description: "pieces of up to \(largest) bytes give other events: \(pieces.eventCount) and "
                    + "\(whole.eventCount), \(pieces.error?.description ?? "-") and \(whole.error?.description ?? "-")")
        }
        guard whole.sampleByteCount <= bytes.count, whole.sampleCount <= bytes.count else {
            throw Failure(
                description: "\(whole.sampleCount) samples of \(whole.sampleByteCount) bytes out of \(bytes.count)")
        }
    }

    private static func run(_ demuxer: consuming some Demuxer, _ bytes: [UInt8], size: () -> Int) -> Outcome {
        var outcome = Outcome()
        var events: [DemuxerEvent] = []
        do throws(MediaError) {
            var at = 0
            while at < bytes.count {
                let end = min(bytes.count, at + max(1, size()))
                // A separate array, so that a sanitizer detects reads beyond the piece.
                try demuxer.append(Array(bytes[at..<end])[...], to: &events)
                at = end
                for event in events { outcome.take(event) }
                events.removeAll(keepingCapacity: true)
            }
            try demuxer.finish(to: &events)
        } catch {
            outcome.error = error
        }
        for event in events { outcome.take(event) }
        return outcome
    }

    /// Checks that two segments that repeatedly continue each other do not give more samples than they contain.
    private static func segments(_ bytes: [UInt8]) throws(Failure) {
        let cut = bytes.count / 376 * 188
        var rest: TransportStreamRest?
        for _ in 0..<2 {
            var byteCount = 0
            for half in [bytes[..<cut], bytes[cut...]] {
                var demuxer = TransportStreamDemuxer(continuing: rest)
                var events: [DemuxerEvent] = []
                try? demuxer.append(half, to: &events)
                try? demuxer.finish(to: &events)
                rest = demuxer.rest
                for case .sample(let sample) in events { byteCount += sample.data.count }
            }
            // From the second round on, the samples include the rest of the previous round.
            guard byteCount <= 2 * bytes.count else {
                throw Failure(description: "two segments of \(bytes.count) bytes give \(byteCount) bytes of samples")
            }
        }
    }

    private static func firstFragment(_ bytes: [UInt8]) -> Int? {
        let name = Array("moof".utf8)
        guard bytes.count >= 8 else { return nil }
        return (4...bytes.count - 4).first { bytes[$0] == name[0] && bytes[$0..<$0 + 4].elementsEqual(name) }
            .map { $0 - 4 }
    }

    private static func scan(_ bytes: [UInt8]) {
        _ = try? MP4InitializationSection(parsing: bytes[...])
        var scanner = MP4HeaderScanner()
        _ = try? scanner.append(bytes[...])
        _ = try? scanner.finish()
        var probe = ContainerProbe()
        _ = probe.append(bytes[...]) ?? probe.finish()
    }

    // MARK: Text

    private static func captions(_ bytes: [UInt8]) throws(Failure) {
        func events(_ size: Int) -> ([WebVTTEvent], MediaError?) {
            var parser = WebVTTParser()
            var events: [WebVTTEvent] = []
            do throws(MediaError) {
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try parser.append(bytes[start..<min(bytes.count, start + size)], to: &events)
                }
                try parser.finish(to: &events)
            } catch {
                return (events, error)
            }
            return (events, nil)
        }
        let whole = events(max(1, bytes.count))
        guard whole == events(3) else { throw Failure(description: "pieces of 3 bytes give other cues") }
        for case .cue(let cue) in whole.0 {
            guard cue.start >= .zero, cue.end >= cue.start else {
                throw Failure(description: "a cue from \(cue.start) to \(cue.end)")
            }
            _ = cue.text
        }
    }

    private static func sampleOfCues(_ bytes: [UInt8]) throws(Failure) {
        guard let sample = try? WebVTTSample(parsing: bytes[...], start: .seconds(1), end: .seconds(2)) else { return }
        for cue in sample.cues {
            // A payload byte gives at most one character, and a character has at most four bytes.
            guard !cue.payload.isEmpty, cue.text.utf8.count <= 4 * cue.payload.utf8.count else {
                throw Failure(description: "a text of \(cue.text.utf8.count) bytes of \(cue.payload.utf8.count)")
            }
            guard cue.start == .seconds(1), cue.end == .seconds(2) else {
                throw Failure(description: "a cue from \(cue.start) to \(cue.end)")
            }
        }
    }

    // MARK: Video

    private static func video(_ bytes: [UInt8]) throws(Failure) {
        if let set = try? H264SPS(parsing: bytes) { try check(set.width, set.height, set.usability) }
        if let set = try? HEVCSPS(parsing: bytes) { try check(set.width, set.height, set.usability) }
        _ = ClosedCaptionData(line21Sample: bytes[...])
        _ = ClosedCaptionData(distributionSample: bytes[...])
        let data = SampleData(bytes)
        for codec in [MediaCodec.h264, .hevc] {
            for lengthSize in 0...4 {
                var configuration: [UInt8] = []
                if lengthSize > 0 {
                    configuration = [1] + [UInt8](repeating: UInt8(lengthSize - 1), count: 22)
                }
                let track = MediaTrack(
                    id: 1, mediaType: .video, codec: codec, timescale: 90_000, configuration: configuration)
                let sample = MediaSample(trackID: 1, pts: 0, dts: 0, isSync: true, data: data)
                let captions = ClosedCaptionData(sample: sample, track: track)
                guard captions.pairs.count <= bytes.count else {
                    throw Failure(description: "\(captions.pairs.count) pairs in \(bytes.count) bytes")
                }
            }
        }
        for type in [0x1b, 0x24] as [UInt8] {
            var writer = TransportStreamWriter(streams: [.init(pid: 256, type: type)])
            // The bytes choose the cut, so that units continue in another packet.
            let cut = bytes.isEmpty ? 0 : Int(bytes[0]) * bytes.count / 256
            writer.add(.init(pid: 256, pts: 0, payload: Array(bytes[..<cut])))
            writer.add(.init(pid: 256, pts: 3000, payload: Array(bytes[cut...]), hasLength: bytes.count < 60_000))
            try chunking(writer.bytes) { TransportStreamDemuxer() }
        }
    }

    private static func check(_ width: Int, _ height: Int, _ usability: VideoUsabilityInfo) throws(Failure) {
        let ratio = usability.sampleAspectRatio
        guard (1...1 << 20).contains(width), (1...1 << 20).contains(height), ratio.width > 0, ratio.height > 0,
            usability.frameDuration.map({ $0.value > 0 && $0.timescale > 0 }) ?? true
        else {
            throw Failure(description: "a parameter set of \(width) by \(height), pixels \(ratio)")
        }
    }
}
