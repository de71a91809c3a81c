import HLSKitCodec
package import HLSKitLoading
import HLSKitMedia
import HLSKitNetwork
package import HLSKitPlaylist
import HLSKitTime
import Synchronization

/// A local file in a container that HLS does not have, such as Matroska or WAV, divided into segments.
///
/// A segment contains the samples from its cut to the next one, in the order of the file. A cut is at the first sample
/// of the reference track at or after its time at which decoding can start.
package final class ContainerFile: Sendable {
    private static let target = Duration.seconds(6)
    private static let maximumSegmentCount = 4096
    /// An index with a longer gap at its end is incomplete, because the file was not finished.
    private static let maximumIndexGap = Duration.seconds(60)
    /// The length of a file of unknown duration. Too long is safe, because the media ends it.
    private static let longestDuration = Duration.seconds(86_399)
    private static let maximumIdleCount = 4

    let url: String
    let name: String
    let byteCount: Int
    let tracks: [MediaTrack]
    let frameRates: [Double?]
    let metadata: FileMetadata
    package let duration: Duration?
    let format: ContainerReader.Format
    private let lacksTimes: Bool
    /// The index of the track that determines the cuts: the video, or else the audio.
    let reference: Int
    /// The times of the cuts in units of the reference track. The first is the start of the file.
    let cuts: [Int64]
    private let readers = Mutex(Readers())

    private struct Readers {
        var active: [Int: ContainerSegmentReader] = [:]
        var idle: [ContainerSegmentReader] = []
        var lastID = 0
    }

    // MARK: Opening

    static func format(named name: String, url: String) -> ContainerReader.Format? {
        let formats: [String: ContainerReader.Format] = [
            "Matroska": .matroska, "WAV": .wav, "AIFF": .aiff, "CAF": .caf, "FLAC": .flac, "Ogg": .ogg, "AVI": .avi,
        ]
        return LocalFile.isFileURL(url) ? formats[name] : nil
    }

    init(_ format: ContainerReader.Format, name: String, url: String) throws(HLSError) {
        let (reader, byteCount) = try Self.open(format, url)
        func first(_ kind: MediaKind) -> Int? {
            let found = reader.tracks.indices.filter { reader.tracks[$0].mediaType == kind }
            return found.first { CodecRegistry.canDecode(reader.tracks[$0].codec) } ?? found.first
        }
        guard let reference = first(.video) ?? first(.audio) else {
            throw Self.error("it has no video and no audio", url)
        }
        self.url = url
        self.name = name
        self.format = format
        self.byteCount = byteCount
        self.reference = reference
        lacksTimes = format == .avi && reader.isReordered(trackAt: reference)
        tracks = reader.tracks
        frameRates = reader.frameRates
        metadata = reader.metadata
        duration = reader.duration
        cuts = Self.cuts(reader, reference)
    }

    static func open(_ format: ContainerReader.Format, _ url: String) throws(HLSError) -> (ContainerReader, Int) {
        let bytes: FileBytes
        do throws(LoadingError) { bytes = try FileBytes(url) } catch { throw HLSError(error, as: .named) }
        let source = ContainerReader.Source(byteCount: bytes.byteCount) { bytes.read($0, $1) }
        do throws(CodecError) {
            return (try ContainerReader(format, source: source), Int(clamping: bytes.byteCount))
        } catch {
            throw Self.error(error.description, url)
        }
    }

    static func error(_ text: String, _ url: String) -> HLSError {
        HLSError(code: .badMedia, urlString: url, cause: LoadingFailure.unreadable, detail: text)
    }

    private static func cuts(_ reader: ContainerReader, _ reference: Int) -> [Int64] {
        let scale = reader.tracks[reference].timescale
        func units(_ time: Duration) -> Int64 { MediaTime(time, timescale: scale).value }
        let start = reader.startTimes[reference]
        guard let duration = reader.duration, duration < longestDuration else { return [start] }
        let length = units(duration)
        let distance = max(units(target), length / Int64(maximumSegmentCount), 1)
        guard reader.tracks[reference].mediaType == .video else {
            // Decoding of audio can start anywhere.
            return stride(from: 0, to: max(length - distance / 2, 1), by: Int(distance)).map { start + Int64($0) }
        }
        let keys = reader.keyTimes(ofTrackAt: reference)
        guard let last = keys.last, start + length - last <= units(maximumIndexGap) else { return [start] }
        var cuts = [start]
        for key in keys where key - cuts[cuts.count - 1] >= distance { cuts.append(key) }
        return cuts
    }

    /// Throws if no track can be decoded, or frames cannot be put in order.
    func check() throws(HLSError) {
        guard !lacksTimes else { throw Self.error("AVI has no presentation times for reordered frames", url) }
        let media = tracks.filter { $0.mediaType != .text }
        guard !media.contains(where: { CodecRegistry.canDecode($0.codec) }) else { return }
        throw Self.error("\(media.map(\.codec.rawValue).joined(separator: ", ")) cannot be decoded", url)
    }

    // MARK: Video

    package func videoPlaylist() throws(HLSError) -> MediaPlaylist {
        try check()
        let presentation = FilePresentation(self)
        guard let video = presentation.selection.video else { throw Self.error("it has no video", url) }
        return presentation.mediaPlaylist(of: [video.id])
    }

    package func videoSegment(_ index: Int) -> ContainerBody {
        ContainerBody(self, index, [FilePresentation(self).selection.video].compactMap { $0?.id })
    }

    // MARK: Segments

    /// The start of the file in media time. Media that starts elsewhere than at 0 is not delayed audio or video.
    var origin: Duration {
        let first = time(cuts[0])
        return max(first, .zero - first) > .milliseconds(200) ? first : .zero
    }

    var durations: [Duration] {
        let starts = [origin] + cuts.dropFirst().map(time)
        let end = max(time(cuts[0]) + (duration ?? Self.longestDuration), (starts.last ?? origin) + .milliseconds(40))
        return zip(starts, starts.dropFirst() + [end]).map { max(.milliseconds(1), $1 - $0) }
    }

    private func time(_ value: Int64) -> Duration {
        MediaTime(value: value, timescale: tracks[reference].timescale).duration ?? .zero
    }

    /// Begins to read a segment. Call ``end(_:)`` later.
    ///
    /// - Parameter trackIDs: The wanted tracks, or a text track alone.
    /// - Returns: The ID for ``read(_:)``.
    func begin(segment: Int, of trackIDs: [Int]) throws(HLSError) -> Int {
        try readers.withLock { readers throws(HLSError) in
            var reader: ContainerSegmentReader
            if let index = readers.idle.firstIndex(where: { $0.nextSegment == segment && $0.trackIDs == trackIDs }) {
                reader = readers.idle.remove(at: index)
            } else {
                reader = ContainerSegmentReader(self, try Self.open(format, url).0, trackIDs: trackIDs)
            }
            try reader.begin(segment)
            readers.lastID += 1
            readers.active[readers.lastID] = reader
            return readers.lastID
        }
    }

    /// Returns the next piece of a segment, which may be empty, or nil after the last one.
    func read(_ id: Int) throws(HLSError) -> [UInt8]? {
        try readers.withLock { readers throws(HLSError) in try readers.active[id]?.next() }
    }

    func end(_ id: Int) {
        readers.withLock { readers in
            guard let reader = readers.active.removeValue(forKey: id), reader.nextSegment != nil else { return }
            readers.idle.append(reader)
            if readers.idle.count > Self.maximumIdleCount { readers.idle.removeFirst() }
        }
    }
}

/// The body of a segment, from its first request on. Releasing it ends reading.
package final class ContainerBody: Sendable {
    private struct State {
        var id: Int?
        var hasResponded = false
        var byteCount = 0
        var isOver = false
    }

    private let file: ContainerFile
    private let segment: Int
    private let trackIDs: [Int]
    private let state = Mutex(State())

    init(_ file: ContainerFile, _ segment: Int, _ trackIDs: [Int]) {
        (self.file, self.segment, self.trackIDs) = (file, segment, trackIDs)
    }

    deinit {
        if let id = state.withLock({ $0.id }) { file.end(id) }
    }

    /// Returns the next piece, which is not empty, or nil after the last one.
    package func next() throws(HLSError) -> [UInt8]? {
        try state.withLock { state throws(HLSError) in try next(&state) }
    }

    private func next(_ state: inout State) throws(HLSError) -> [UInt8]? {
        guard !state.isOver else { return nil }
        let id = try begin(&state)
        while !Task.isCancelled, let bytes = try file.read(id) {
            state.byteCount += bytes.count
            if !bytes.isEmpty { return bytes }
        }
        state.isOver = true
        return nil
    }

    private func begin(_ state: inout State) throws(HLSError) -> Int {
        if let id = state.id { return id }
        let id = try file.begin(segment: segment, of: trackIDs)
        state.id = id
        return id
    }

    func next(_ url: String) -> TransportEvent? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            do throws(HLSError) {
                guard state.hasResponded else {
                    _ = try begin(&state)
                    state.hasResponded = true
                    return .response(TransportResponse(status: 200, urlString: url))
                }
                if let bytes = try next(&state) { return .data(bytes) }
                var metrics = TransferMetrics()
                (metrics.protocolName, metrics.decodedByteCount) = ("file", state.byteCount)
                return .finished(metrics)
            } catch {
                state.isOver = true
                let text = error.detail ?? error.cause
                return .failed(LoadingError(code: .badMedia, url: url, text: text), TransferMetrics())
            }
        }
    }
}

private final class FileBytes {
    private let file: LocalFile
    private let url: String

    init(_ url: String) throws(LoadingError) {
        file = try LocalFile(at: url)
        self.url = url
    }

    var byteCount: Int64 { Int64(clamping: file.byteCount) }

    func read(_ offset: Int64, _ count: Int) -> [UInt8]? {
        UInt64(exactly: offset).flatMap { try? file.read(at: $0, count: count, url: url) }
    }
}
