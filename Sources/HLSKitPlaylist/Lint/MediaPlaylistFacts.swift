/// A small set of facts about a media playlist for comparison with others of its presentation.
///
/// Its size does not depend on the size of the playlist.
public struct MediaPlaylistFacts: Sendable, Hashable {
    struct Discontinuity: Sendable, Hashable {
        /// The discontinuity sequence number of the segment that starts with it.
        var sequence: Int
        var mediaSequence: Int
        var offset: Duration
    }

    let targetDuration: Duration
    let targetDurationLine: Int?
    let playlistType: PlaylistType?
    let hasEndList: Bool
    let isIFramesOnly: Bool
    let mediaSequence: Int
    let segmentCount: Int
    let duration: Duration
    let firstDate: PlaylistDate?
    let discontinuityCount: Int
    /// The first of them, at most ``maximumDiscontinuityCount``.
    let discontinuities: [Discontinuity]
    private let firstDiscontinuitySequence: Int
    let bitRates: SegmentBitRates?

    private static let maximumDiscontinuityCount = 1000

    /// Collects the facts of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - bitRates: The measured bit rates, or `nil` if they were not measured.
    public init(_ playlist: MediaPlaylist, bitRates: SegmentBitRates? = nil) {
        self.bitRates = bitRates
        targetDuration = playlist.targetDuration
        playlistType = playlist.playlistType
        hasEndList = playlist.hasEndList
        isIFramesOnly = playlist.isIFramesOnly
        mediaSequence = playlist.segments.first?.mediaSequence ?? playlist.mediaSequence
        segmentCount = playlist.segments.count
        firstDate = playlist.segments.first?.derivedProgramDateTime
        firstDiscontinuitySequence = playlist.segments.first?.discontinuitySequence ?? playlist.discontinuitySequence
        var duration = Duration.zero
        var count = 0
        var discontinuities: [Discontinuity] = []
        for segment in playlist.segments {
            if segment.hasDiscontinuity {
                count += 1
                if discontinuities.count < Self.maximumDiscontinuityCount {
                    discontinuities.append(
                        Discontinuity(
                            sequence: segment.discontinuitySequence, mediaSequence: segment.mediaSequence,
                            offset: duration))
                }
            }
            duration += segment.duration
        }
        self.duration = duration
        discontinuityCount = count
        self.discontinuities = discontinuities
        var line: Int?
        var number = 0
        if let text = playlist.source.value?.store.text {
            // The tag is in front of the segments.
            let end = playlist.source.value?.store.tables.records.first.map { Int($0.uri.start) } ?? text.count
            text.forEachLine(in: 0..<min(end, text.count)) {
                number += 1
                if case .tag(.targetDuration) = $0.content, line == nil { line = number }
            }
        }
        targetDurationLine = line
    }

    package var measuredSegmentCount: Int { bitRates?.measuredSegmentCount ?? 0 }

    var hasDiscontinuities: Bool { discontinuityCount > 0 }

    func discontinuitySequence(at mediaSequence: Int) -> Int {
        discontinuities.last { $0.mediaSequence <= mediaSequence }?.sequence ?? firstDiscontinuitySequence
    }
}
