package import HLSKitCodec
package import HLSKitLoading
package import HLSKitMedia
import HLSKitTime
import Synchronization

/// Writes one line with an MD5 for each decoded frame, as `ffmpeg -f framemd5` does: `-f framemd5`.
///
/// Video is hashed as decoded, plane by plane without padding, with its size and pixel format. Audio is hashed as
/// interleaved signed 16-bit samples, with its rate and channels. Times are in units of each track's timescale. They
/// are item times if the frame has one, otherwise the container's times. Lines of several tracks are in time order. If
/// a track begins after the header was written, its header lines precede its first line.
package final class FrameHashWriter: FrameWriter, AudioWriter {
    private struct State: ~Copyable {
        let file: OutputFile
        let hash: LibraryDigest
        let converter = AudioConverter(to: .int16, followsInput: true)
        var samples: [UInt8] = []
        var streams: [Stream] = []
        /// The stream of each track, as of the last `begin(_:)`.
        var places: [Int] = []
        var hasHeader = false
        var hasLines = false
    }

    private let state: Mutex<State>

    package init(file: consuming sending OutputFile) throws(HLSError) {
        let hash: LibraryDigest
        do { hash = try LibraryDigest(.md5) } catch { throw HLSError(error, path: "framemd5") }
        state = Mutex(State(file: file, hash: hash))
    }

    package var mediaTypes: Set<MediaKind> { [.video, .audio] }
    package var isEmpty: Bool { state.withLock { !$0.hasLines } }
    package var isReadAsWritten: Bool { state.withLock { !$0.file.isSeekable } }

    package func begin(_ tracks: [MediaTrack]) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            // Tracks are sorted by kind, so a late track may precede existing ones.
            var places: [Int] = []
            for track in tracks {
                let place = state.streams.indices.first { index in
                    state.streams[index].mediaType == track.mediaType && !places.contains(index)
                }
                places.append(place ?? state.streams.count)
                if place == nil { state.streams.append(Stream(track: track)) }
            }
            state.places = places
        }
    }

    /// The stream of a track. If another thread has set other tracks in the meantime, finds the stream by its kind.
    private static func place(of index: Int, _ type: MediaKind, _ state: borrowing State) -> Int? {
        if let place = state.places.dropFirst(index).first, state.streams[place].mediaType == type { return place }
        return state.streams.firstIndex { $0.mediaType == type }
    }

    package func write(_ frame: VideoFrame, ofTrackAt index: Int) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            guard let index = Self.place(of: index, .video, state) else { return }
            let byteCount = state.hash.update(with: frame)
            let aspect = frame.sampleAspectRatio
            state.streams[index].describe(
                kind: "video", codec: "rawvideo",
                [
                    ("dimensions", "\(frame.width)x\(frame.height)"),
                    ("sar", "\(aspect?.numerator ?? 0)/\(aspect?.denominator ?? 1)"),
                ])
            let scale = state.streams[index].timescale
            state.streams[index].append(
                pts: frame.itemTime.map { rescaled($0.value, from: $0.timescale, to: scale) }
                    ?? rescaled(frame.pts, from: frame.timescale, to: scale),
                duration: rescaled(frame.duration, from: frame.timescale, to: scale), byteCount: byteCount,
                hash: state.hash.finish())
            try Self.writeLines(&state, isLast: false)
        }
    }

    package func write(_ buffer: AudioBuffer, ofTrackAt index: Int) throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            guard let index = Self.place(of: index, .audio, state) else { return }
            state.samples.removeAll(keepingCapacity: true)
            try state.file.converting { () throws(CodecError) in
                try state.converter.convert(buffer, into: &state.samples)
            }
            state.samples.withUnsafeBytes { state.hash.update($0) }
            state.streams[index].describe(
                kind: "audio", codec: "pcm_s16le",
                [
                    ("sample_rate", "\(buffer.sampleRate)"),
                    ("channel_layout_name", buffer.channelLayoutName),
                ])
            let scale = state.streams[index].timescale
            state.streams[index].append(
                pts: buffer.itemTime.map { rescaled($0.value, from: $0.timescale, to: scale) }
                    ?? rescaled(buffer.pts, from: buffer.timescale, to: scale),
                duration: rescaled(buffer.duration, from: buffer.timescale, to: scale),
                byteCount: state.samples.count, hash: state.hash.finish())
            try Self.writeLines(&state, isLast: false)
        }
    }

    package func flush() throws(HLSError) {
        try state.withLock { state throws(HLSError) in try state.file.flush() }
    }

    package func finish() throws(HLSError) {
        try state.withLock { state throws(HLSError) in
            try Self.writeLines(&state, isLast: true)
            try state.file.finish(keeping: state.hasLines)
        }
    }

    // MARK: - Order of lines

    /// Writes lines in time order. A line is written when every track has one, or when the tracks are further apart
    /// than the muxers of libavformat allow.
    private static func writeLines(_ state: inout State, isLast: Bool) throws(HLSError) {
        while let next = nextStream(state.streams, isLast: isLast) {
            if !state.hasHeader { try writeHeader(&state) }
            if !state.streams[next].isDescribed {
                let text = describe(&state.streams[next], at: next)
                try state.file.write(Array(text.utf8))
            }
            guard let line = state.streams[next].lines.popFirst() else { return }
            try state.file.write(Array("\(next), \(line.text)\n".utf8))
            state.hasLines = true
        }
    }

    private static func nextStream(_ streams: [Stream], isLast: Bool) -> Int? {
        let waiting = streams.indices.filter { streams[$0].lines.first != nil }
        // At equal times, the first track comes first.
        let next = waiting.min { streams[$0].firstTime < streams[$1].firstTime }
        guard let next, !isLast, waiting.count < streams.count else { return next }
        let latest = waiting.map { streams[$0].lastTime }.max() ?? streams[next].firstTime
        return latest - streams[next].firstTime > Stream.maximumLead ? next : nil
    }

    private static func writeHeader(_ state: inout State) throws(HLSError) {
        state.hasHeader = true
        var text = "#format: frame checksums\n#version: 2\n#hash: MD5\n#software: \(LibAVVersion.formatIdentifier)\n"
        for index in state.streams.indices { text += describe(&state.streams[index], at: index) }
        text += "#stream#, dts,        pts, duration,     size, hash\n"
        try state.file.write(Array(text.utf8))
    }

    private static func describe(_ stream: inout Stream, at index: Int) -> String {
        stream.isDescribed = true
        let lines = stream.description.map { "#\($0.key) \(index): \($0.value)\n" }
        return "#tb \(index): 1/\(stream.timescale)\n" + lines.joined()
    }
}

private struct Stream {
    struct Line {
        let pts: Int64
        let text: String
    }

    /// The `max_interleave_delta` of libavformat, in units of ``firstTime``.
    static let maximumLead: Double = 10

    let mediaType: MediaKind
    let timescale: Int32
    var isDescribed = false
    /// The header lines, from the first frame or, if none arrives in time, from the container.
    private(set) var description: [(key: String, value: String)]
    private var hasFrames = false
    var lines = LineQueue()

    init(track: MediaTrack) {
        mediaType = track.mediaType
        timescale = max(track.timescale, 1)
        description =
            switch track.mediaType {
            case .video:
                [
                    ("media_type", "video"), ("codec_id", "rawvideo"), ("dimensions", "\(track.width)x\(track.height)"),
                    ("sar", "0/1"),
                ]
            default:
                [("media_type", "audio"), ("codec_id", "pcm_s16le"), ("sample_rate", "\(track.sampleRate)")]
            }
    }

    /// In seconds, used only to sort lines.
    var firstTime: Double { Double(lines.first?.pts ?? 0) / Double(timescale) }
    var lastTime: Double { Double(lines.last?.pts ?? 0) / Double(timescale) }

    mutating func describe(kind: String, codec: String, _ details: [(key: String, value: String)]) {
        guard !hasFrames else { return }
        hasFrames = true
        description = [("media_type", kind), ("codec_id", codec)] + details
    }

    mutating func append(pts: Int64, duration: Int64, byteCount: Int, hash: String) {
        let time = padded(pts, to: 10)
        let text = "\(time), \(time), \(padded(duration, to: 8)), \(padded(Int64(byteCount), to: 8)), \(hash)"
        lines.append(Line(pts: pts, text: text))
    }

    private func padded(_ value: Int64, to width: Int) -> String {
        let digits = String(value)
        return String(repeating: " ", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// A queue that does not move its elements on each removal.
private struct LineQueue {
    private var elements: [Stream.Line] = []
    private var head = 0

    var first: Stream.Line? { head < elements.count ? elements[head] : nil }
    var last: Stream.Line? { head < elements.count ? elements.last : nil }

    mutating func append(_ line: Stream.Line) { elements.append(line) }

    mutating func popFirst() -> Stream.Line? {
        guard let line = first else { return nil }
        head += 1
        if head > 256, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return line
    }
}
