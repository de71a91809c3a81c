import HLSKitMedia
import HLSKitPlayback
import HLSKitTime
import TestSupport

/// The sample's 180p frames, with or without its audio, in transport streams of four seconds each.
struct SampleTransportStream {
    var hasParameterSets: @Sendable (Int) -> Bool = { _ in true }
    var hasAudio = true
    /// How much earlier than its video the audio of a segment ends. The rest is in the next segment.
    var audioLag = Duration.milliseconds(60)
    var isEncrypted = false
    /// How much later than its key frame each segment except the first begins, less than four seconds.
    var cut = Duration.zero

    static let playlist =
        (["#EXTM3U", "#EXT-X-TARGETDURATION:4"]
        + (0..<SampleMedia.segmentCount).flatMap { ["#EXTINF:4,", "ts-\($0).ts"] } + ["#EXT-X-ENDLIST", ""])
        .joined(separator: "\n")

    func files() throws -> [String: [UInt8]] {
        var files = ["ts.m3u8": Array(Self.playlist.utf8)]
        if cut > .zero {
            var lines = Self.playlist.split(separator: "\n")
            lines[2] = "#EXTINF:\((.seconds(4) + cut).decimalText(3)),"
            lines[1] = "#EXT-X-TARGETDURATION:8"
            lines[lines.count - 3] = "#EXTINF:\((.seconds(4) - cut).decimalText(3)),"
            files["ts.m3u8"] = Array(lines.joined(separator: "\n").utf8)
        }
        if isEncrypted {
            files["ts.m3u8"] = Array(Self.playlist.replacing("#EXTM3U", with: "#EXTM3U\n\(SampleAES.tag)").utf8)
            files["key.bin"] = SampleAES.key
        }
        for (index, segment) in try segments().enumerated() { files["ts-\(index).ts"] = segment }
        return files
    }

    func segments() throws -> [[UInt8]] {
        let (video, frames) = try Self.samples(of: "video-180p")
        let (audio, sounds) = hasAudio ? try Self.samples(of: "audio-en") : (video, [])
        let sets = try Self.unwrapped(Self.parameterSets(of: video))
        func segment(of time: Duration) -> Int {
            min(max(0, Int((time - cut) / .seconds(4))), SampleMedia.segmentCount - 1)
        }
        var writers = (0..<SampleMedia.segmentCount).map { _ in
            TransportStreamWriter(
                streams: [.init(pid: 256, type: isEncrypted ? 0xdb : 0x1b)]
                    + (hasAudio ? [.init(pid: 257, type: isEncrypted ? 0xcf : 0x0f)] : []))
        }
        // Units of video and audio in decoding order.
        var units: [(dts: Int64, segment: Int, pes: TransportStreamWriter.PES)] = []
        var index = -1
        let start = frames.map(\.pts).min() ?? 0
        for frame in frames {
            let (pts, dts) = (Self.ticks(frame.pts - start, video), Self.ticks(frame.dts - start, video))
            if frame.isSync || cut > .zero {
                let time = cut > .zero ? frame.dts : frame.pts
                index = max(index, segment(of: ItemTimeline.duration(time - start, video.timescale)))
            }
            var bytes: [UInt8] = [0, 0, 0, 1, 0x09, 0xf0]
            if frame.isSync, hasParameterSets(index) { bytes += sets }
            bytes += Self.byteStream(of: frame, video)
            units.append(
                (dts, index, .init(pid: 256, pts: pts, dts: dts, payload: bytes, isRandomAccess: frame.isSync)))
        }
        let audioStart = sounds.map(\.pts).min() ?? 0
        for audioData in sounds {
            let value = audioData.pts - audioStart
            let (pts, time) = (Self.ticks(value, audio), ItemTimeline.duration(value, audio.timescale))
            // Audio follows the frames of its time, as muxers write it, so that a segment starts with a frame.
            units.append(
                (
                    pts + 9000, segment(of: time + audioLag),
                    .init(
                        pid: 257, streamID: 0xc0, pts: pts, payload: Self.frame(of: audioData, audio), hasLength: true)
                ))
        }
        if isEncrypted {
            let payloads = try SampleAES.encrypt(units.map { ($0.pes.pid == 256, $0.pes.payload) })
            for index in units.indices { units[index].pes.payload = payloads[index] }
        }
        for unit in units.sorted(by: { ($0.segment, $0.dts) < ($1.segment, $1.dts) }) {
            writers[unit.segment].add(unit.pes)
        }
        return writers.map(\.bytes)
    }

    private static func samples(of name: String) throws -> (MediaTrack, [MediaSample]) {
        let rendition = try SampleMedia.rendition(name)
        let section = try MP4InitializationSection(parsing: rendition.initializationSection[...])
        let track = try Self.unwrapped(section.tracks.first)
        var samples: [MediaSample] = []
        for segment in rendition.segments {
            var demuxer = FragmentedMP4Demuxer(initialization: section)
            var events: [DemuxerEvent] = []
            try demuxer.append(segment[...], to: &events)
            try demuxer.finish(to: &events)
            samples += events.compactMap { if case .sample(let sample) = $0 { sample } else { nil } }
        }
        return (track, samples)
    }

    /// Returns a time in ticks of 90 kHz, shifted by ten seconds.
    private static func ticks(_ value: Int64, _ track: MediaTrack) -> Int64 {
        900_000 + value * 90_000 / Int64(track.timescale)
    }

    private static func parameterSets(of track: MediaTrack) -> [UInt8]? {
        let bytes = track.configuration
        guard bytes.count > 8, bytes[0] == 1 else { return nil }
        var sets: [UInt8] = []
        var at = 5
        for mask in [UInt8(0x1f), 0xff] {
            guard at < bytes.count else { return nil }
            let count = Int(bytes[at] & mask)
            at += 1
            for _ in 0..<count {
                let length = Int(bytes[at]) << 8 | Int(bytes[at + 1])
                sets += [0, 0, 0, 1] + bytes[at + 2..<at + 2 + length]
                at += 2 + length
            }
        }
        return sets
    }

    private static func byteStream(of sample: MediaSample, _ track: MediaTrack) -> [UInt8] {
        let size = track.nalUnitLengthSize ?? 4
        return sample.data.withUnsafeBytes { bytes in
            var stream: [UInt8] = []
            var at = 0
            while at + size <= bytes.count {
                let length = (0..<size).reduce(0) { $0 << 8 | Int(bytes[at + $1]) }
                at += size
                guard length > 0, at + length <= bytes.count else { break }
                // Omits the parameter sets and delimiters in the sample.
                if ![7, 8, 9].contains(bytes[at] & 0x1f) { stream += [0, 0, 1] + bytes[at..<at + length] }
                at += length
            }
            return stream
        }
    }

    private static func frame(of sample: MediaSample, _ track: MediaTrack) -> [UInt8] {
        let config = track.configuration
        let (profile, rate) = ((config[0] >> 3) - 1, (config[0] & 7) << 1 | config[1] >> 7)
        let (channels, length) = (config[1] >> 3 & 15, sample.data.count + 7)
        let header: [UInt8] = [
            0xff, 0xf1, profile << 6 | rate << 2 | channels >> 2, (channels & 3) << 6 | UInt8(length >> 11),
            UInt8(length >> 3 & 255), UInt8(length & 7) << 5 | 0x1f, 0xfc,
        ]
        return header + sample.data.withUnsafeBytes { Array($0) }
    }

    private static func unwrapped<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Tool.Failure(description: "the sample is not what it was") }
        return value
    }
}
