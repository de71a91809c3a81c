import HLSKitCaptions
import HLSKitCodec
import HLSKitLoading
import HLSKitMedia
import HLSKitTime

/// Reads segments of a ``ContainerFile``: as fragmented MP4 files, or as WebVTT for a text track. Used under its lock.
///
/// Consecutive segments are read without seeking.
final class ContainerSegmentReader {
    /// The size of a piece, and the number of samples after which an empty piece lets others read.
    private static let pieceByteCount = 256 << 10
    private static let maximumSampleCount = 2048

    private final class Body {
        var bytes: [UInt8] = []
    }

    private let file: ContainerFile
    private let reader: ContainerReader
    let trackIDs: [Int]
    private var segment = 0
    /// The segment that the pending sample begins, after a segment has been read completely.
    private(set) var nextSegment: Int?
    private var pending: ContainerReader.Entry?
    private var isSkipping = false
    private var isAtEnd = false
    private var body = Body()
    private var muxer: Muxer?
    /// The streams of the muxer by track.
    private var streams: [Int: Int] = [:]
    private var captions: [Caption] = []

    init(_ file: ContainerFile, _ reader: ContainerReader, trackIDs: [Int]) {
        (self.file, self.reader, self.trackIDs) = (file, reader, trackIDs)
    }

    private var textIndex: Int? {
        file.tracks.firstIndex { $0.mediaType == .text && trackIDs.contains($0.id) }
    }

    func begin(_ segment: Int) throws(HLSError) {
        let continues = nextSegment == segment
        (self.segment, nextSegment, isAtEnd, captions, body) = (segment, nil, false, [], Body())
        if !continues, segment > 0, file.cuts.indices.contains(segment) {
            // If the file cannot be searched, it is read from its start.
            _ = reader.seek(to: file.cuts[segment], ofTrackAt: file.reference)
            isSkipping = true
        }
        if textIndex == nil { try openMuxer() }
    }

    private func openMuxer() throws(HLSError) {
        let wanted = file.tracks.indices.filter {
            trackIDs.contains(file.tracks[$0].id) && CodecRegistry.canDecode(file.tracks[$0].codec)
        }
        guard !wanted.isEmpty else {
            let names = file.tracks.filter { trackIDs.contains($0.id) }.map(\.codec.rawValue)
            throw ContainerFile.error("\(names.joined(separator: ", ")) cannot be decoded", file.url)
        }
        streams = [:]
        for (stream, index) in wanted.enumerated() { streams[index] = stream }
        let tracks = wanted.map { file.tracks[$0] }
        // Only QuickTime files have all forms of PCM.
        let isPCM = tracks.contains { $0.codec.pcmByteCount != nil }
        let options = [
            "movflags": "frag_keyframe+empty_moov+delay_moov+default_base_moof+frag_discont",
            "frag_duration": "2000000", "use_editlist": "0", "avoid_negative_ts": "disabled",
        ]
        let body = body
        let sink = Muxer.Sink(
            write: { bytes in
                body.bytes.append(contentsOf: bytes)
                return true
            }, seek: nil)
        do throws(CodecError) {
            muxer = try Muxer(format: isPCM ? "mov" : "mp4", tracks: tracks, options: options, sink: sink)
        } catch {
            throw ContainerFile.error(error.description, file.url)
        }
    }

    func next() throws(HLSError) -> [UInt8]? {
        if isAtEnd { return nil }
        do throws(CodecError) {
            for _ in 0..<Self.maximumSampleCount where body.bytes.count < Self.pieceByteCount {
                guard var entry = try nextEntry() else {
                    try finish()
                    break
                }
                if isSkipping {
                    if let rest = split(&entry, at: file.cuts[safe: segment]) { entry = rest }
                } else if let rest = split(&entry, at: file.cuts[safe: segment + 1]) {
                    try write(entry)
                    entry = rest
                }
                if begins(file.cuts[safe: segment + 1], with: entry), !isSkipping {
                    pending = entry
                    nextSegment = segment + 1
                    try finish()
                    break
                }
                if isSkipping, begins(file.cuts[safe: segment], with: entry) { isSkipping = false }
                if !isSkipping { try write(entry) }
            }
        } catch {
            throw ContainerFile.error(error.description, file.url)
        }
        defer { body.bytes = [] }
        return body.bytes
    }

    private func nextEntry() throws(CodecError) -> ContainerReader.Entry? {
        if let entry = pending.take() { return entry }
        return try reader.next()
    }

    /// Removes the part of uncompressed audio after a cut, and returns it.
    ///
    /// Where such audio is divided into samples depends on the position that reading started at.
    private func split(_ entry: inout ContainerReader.Entry, at cut: Int64?) -> ContainerReader.Entry? {
        let track = file.tracks[entry.trackIndex]
        guard let cut, entry.trackIndex == file.reference, let width = track.codec.pcmByteCount,
            Int(track.timescale) == track.sampleRate, track.channelCount > 0
        else { return nil }
        let (offset, overflow) = Int(clamping: cut.subtractingReportingOverflow(entry.sample.pts).partialValue)
            .multipliedReportingOverflow(by: width * track.channelCount)
        let bytes = entry.sample.data.withUnsafeBytes { Array($0) }
        guard !overflow, offset > 0, offset < bytes.count else { return nil }
        var rest = entry
        rest.sample.data = SampleData(bytes[offset...])
        (rest.sample.pts, rest.sample.dts) = (cut, cut)
        rest.sample.duration = max(0, entry.sample.duration - (cut - entry.sample.pts))
        entry.sample.data = SampleData(bytes[..<offset])
        entry.sample.duration = cut - entry.sample.pts
        return rest
    }

    private func begins(_ cut: Int64?, with entry: ContainerReader.Entry) -> Bool {
        guard let cut, entry.trackIndex == file.reference, entry.sample.isSync else { return false }
        return entry.sample.pts >= cut
    }

    private func write(_ entry: ContainerReader.Entry) throws(CodecError) {
        if let textIndex {
            guard textIndex == entry.trackIndex else { return }
            captions += ContainerText.caption(of: entry.sample, file.tracks[textIndex]).map { [$0] } ?? []
            return
        }
        guard let stream = streams[entry.trackIndex] else { return }
        let timing = Muxer.Timing(
            presentation: entry.sample.pts, decoding: entry.sample.dts, duration: entry.sample.duration,
            timescale: file.tracks[entry.trackIndex].timescale)
        try muxer?.write(entry.sample, streamAt: stream, timing: timing)
    }

    private func finish() throws(CodecError) {
        isAtEnd = true
        defer { muxer = nil }
        if textIndex == nil {
            try muxer?.finish()
            for track in file.tracks where trackIDs.contains(track.id) && !CodecRegistry.canDecode(track.codec) {
                body.bytes += UnreadTrackMark.box(track.mediaType, name: track.codec.rawValue)
            }
        } else {
            body.bytes += (try? CaptionFileWriter(format: .webVTT).write(captions).bytes) ?? Array("WEBVTT\n\n".utf8)
        }
    }
}

enum ContainerText {
    static func caption(of sample: MediaSample, _ track: MediaTrack) -> Caption? {
        var text = sample.data.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let isWebVTT = track.codec == .webVTT
        if track.codec == .advancedSubStation { text = plain(subStation: text) }
        // A file with one cue, whose times do not matter.
        let head = isWebVTT ? "WEBVTT\n\n00:00.000 --> 00:01.000\n" : "1\n00:00:00,000 --> 00:00:01,000\n"
        let reader = CaptionFileReader(format: isWebVTT ? .webVTT : .subRip)
        guard var caption = try? reader.read(Array((head + text + "\n").utf8)).captions.first, !caption.text.isEmpty
        else { return nil }
        let start = max(0, sample.pts)
        let length = max(0, sample.duration)
        caption.timeRange = MediaTimeRange(
            start: MediaTime(value: start, timescale: track.timescale),
            duration: MediaTime(value: length, timescale: track.timescale))
        return caption
    }

    /// Returns the text of an event of Advanced SubStation Alpha without its styles. The text follows eight commas.
    private static func plain(subStation event: String) -> String {
        var commaCount = 0
        let text = event.drop { character in
            defer { if character == "," { commaCount += 1 } }
            return commaCount < 8
        }
        var result = ""
        var isOverride = false
        for character in text {
            switch character {
            case "{": isOverride = true
            case "}" where isOverride: isOverride = false
            default: if !isOverride { result.append(character) }
            }
        }
        return result.replacing("\\N", with: "\n").replacing("\\n", with: "\n").replacing("\\h", with: " ")
    }
}
