import HLSKitMedia
import HLSKitPlaylist
import HLSKitTime

/// A media file presented as a stream: its generated playlists and the byte ranges of its segments.
struct FilePresentation: Sendable {
    /// The minimum duration of a segment, if the file has enough sync samples.
    private static let target = Duration.seconds(6)
    /// Gaps between wanted samples up to this size are loaded too, because another request costs more.
    private static let maximumGap = 64 << 10

    private enum Content {
        case tables(MP4FileSegments)
        case index(IndexedSegments)
        case stream(TransportStreamFile)
        case container(ContainerFile)
    }

    let selection: FileSelection
    private let url: String
    private let byteCount: Int?
    private let headerBytes: [UInt8]
    private let content: Content

    /// - Returns: `nil` if the positions of the file's parts are unknown.
    init?(_ file: MediaFile, url: String) {
        guard case .mp4(let header, _, let index) = file.content else { return nil }
        if let segments = MP4FileSegments(header, target: Self.target) {
            content = .tables(segments)
            selection = FileSelection(segments.tracks)
        } else if header.isFragmented, let segments = index.flatMap({ IndexedSegments($0, target: Self.target) }) {
            content = .index(segments)
            selection = FileSelection(file.playableTracks)
        } else {
            return nil
        }
        self.url = url
        byteCount = file.byteCount
        headerBytes = file.headerBytes
    }

    init(_ stream: TransportStreamFile, selection: FileSelection) {
        content = .stream(stream)
        self.selection = selection
        url = stream.url
        byteCount = stream.byteCount
        headerBytes = []
    }

    init(_ file: ContainerFile) {
        content = .container(file)
        selection = FileSelection(file.tracks)
        url = file.url
        byteCount = file.byteCount
        headerBytes = []
    }

    var container: ContainerFile? {
        if case .container(let file) = content { file } else { nil }
    }

    var transportStream: TransportStreamFile? {
        if case .stream(let stream) = content { stream } else { nil }
    }

    func tracks(except trackIDs: [Int]) -> Set<Int> {
        Set(([selection.video].compactMap(\.self) + selection.audio).map(\.id)).subtracting(trackIDs)
    }

    // MARK: Playlists

    var playlist: String {
        guard selection.hasOptions else { return playlist(of: selection.mainTrackIDs) }
        let text = selection.multivariantPlaylist(url: url, bitRate: bitRate).text
        return String(decoding: text, as: UTF8.self)
    }

    func playlist(of trackIDs: [Int]) -> String {
        String(decoding: mediaPlaylist(of: trackIDs).text, as: UTF8.self)
    }

    func mediaPlaylist(of trackIDs: [Int]) -> MediaPlaylist {
        let header = FileKey(trackIDs: trackIDs, part: .header).fragment
        let map =
            transportStream == nil && container == nil ? MediaInitializationSection(uri: header) : nil
        var longest = Duration.seconds(1)
        let segments = durations.enumerated().map { index, duration in
            longest = max(longest, duration)
            let key = FileKey(trackIDs: trackIDs, part: .segment(index))
            return MediaSegment(uri: url + key.fragment, duration: duration, map: map)
        }
        var playlist = MediaPlaylist(
            url: url, targetDuration: .seconds(longest.components.seconds + 1), segments: MediaSegments(segments))
        playlist.version = 7
        playlist.playlistType = .vod
        playlist.hasEndList = true
        return playlist
    }

    private var durations: [Duration] {
        switch content {
        case .tables(let segments):
            zip(segments.starts, segments.starts.dropFirst() + [segments.end]).map { $1 - $0 }
        case .index(let segments): segments.durations
        case .stream(let stream): stream.durations()
        case .container(let file): file.durations
        }
    }

    private var bitRate: Int {
        let seconds = durations.reduce(.zero, +) / .seconds(1)
        guard let byteCount, seconds > 0 else { return 1 }
        return Int(exactly: (Double(byteCount) * 8 / seconds).rounded()) ?? 1
    }

    // MARK: Parts

    func part(_ key: FileKey) -> FilePart? {
        switch (key.part, content) {
        case (.playlist, _), (_, .stream), (_, .container): return nil
        case (.header, _):
            let head = try? MP4InitializationSection.fragmented(headerBytes, keeping: key.trackIDs)
            return head.map { FilePart(head: $0, ranges: []) }
        case (.segment(let index), .tables(let segments)):
            guard let fragment = segments.fragment(index, of: key.trackIDs, maximumGap: Self.maximumGap) else {
                return nil
            }
            return FilePart(head: fragment.head, ranges: fragment.ranges.compactMap(clipped))
        case (.segment(let index), .index(let segments)):
            guard let range = segments.range(index).flatMap(clipped) else { return nil }
            return FilePart(head: [], ranges: [range])
        }
    }

    /// Limits a range to the file's size, because the file may have been truncated.
    private func clipped(_ range: Range<Int>) -> Range<UInt64>? {
        let end = min(range.upperBound, byteCount ?? .max)
        guard range.lowerBound >= 0, range.lowerBound < end else { return nil }
        return UInt64(range.lowerBound)..<UInt64(end)
    }
}

struct IndexedSegments: Sendable {
    private(set) var durations: [Duration] = []
    private var ranges: [Range<Int>] = []

    /// - Parameter target: The duration up to which subsegments are joined.
    /// - Returns: `nil` if the index refers to other indexes.
    init?(_ index: SegmentIndex, target: Duration) {
        var offset = index.firstByteOffset
        var time = UInt64(0)
        var start = Duration.zero
        for reference in index.references {
            let (end, overflow) = offset.addingReportingOverflow(reference.byteCount)
            guard !reference.isIndex, !overflow else { return nil }
            time += UInt64(reference.duration)
            let until = Self.duration(time, index.timescale)
            let mayCut = reference.startsWithSAP || reference.sapType == 0
            if let last = durations.last, !mayCut || last + (until - start) <= target {
                durations[durations.count - 1] += until - start
                ranges[ranges.count - 1] = ranges[ranges.count - 1].lowerBound..<end
            } else {
                durations.append(until - start)
                ranges.append(offset..<end)
            }
            start = until
            offset = end
        }
        guard !durations.isEmpty, start > .zero else { return nil }
    }

    func range(_ index: Int) -> Range<Int>? { ranges.indices.contains(index) ? ranges[index] : nil }

    /// Computes from the start, so that rounding errors do not add up.
    private static func duration(_ time: UInt64, _ timescale: UInt32) -> Duration {
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: UInt64(timescale))
        return .seconds(Int64(clamping: seconds)) + .nanoseconds(Int64(rest * 1_000_000_000 / UInt64(timescale)))
    }
}

extension MediaFile {
    /// The tracks that can be played, without chapter tracks.
    var playableTracks: [MediaTrack] {
        switch content {
        case .mp4(let header, _, _):
            return header.tracks.filter { !$0.holdsChapters }
        case .elementary(let head): return head.tracks
        case .container(let file): return file.tracks
        }
    }
}
