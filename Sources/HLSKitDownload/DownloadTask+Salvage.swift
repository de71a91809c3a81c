import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitTime

/// The stored media of an interrupted run whose live stream no longer exists. No more can be loaded, but the stored
/// media can be used.
extension DownloadTask {
    /// Returns the stored media as a result if the stream cannot be opened. Returns `nil` if nothing is stored, or if
    /// another run may load more.
    func salvage(after error: HLSError) throws -> Result? {
        let journal = folder.journal
        guard [.notFound, .network, .badPlaylist].contains(error.code), journal.hasMedia,
            journal.url == Redaction.urlWithoutQuery(configuration.urlString),
            let main = journal.lanes.last(where: { $0.kind == .main && !$0.isAuxiliary && $0.isLive })
        else { return nil }
        let others = journal.lanes.filter { ($0.kind != .main || $0.isAuxiliary) && $0.isLive }
        let ownsAudio = !others.contains { $0.kind == .audio }
        let entries = ([main] + others).map { lane in
            DownloadSelection.Entry(lane: lane, url: "", wanted: lane.kind.mediaTypes(ownsAudio: ownsAudio))
        }
        let segments = journal.segments(of: main.id)
        keep(
            entries,
            try window(
                from: .microseconds(segments.first?.start ?? 0),
                to: .microseconds(segments.last.map { $0.start + $0.duration } ?? 0), isLive: true,
                start: configuration.startPosition.itemTime, end: configuration.endPosition.itemTime))
        var result = counted(Result(), of: entries.map(\.lane))
        result.resumedSegmentCount = result.segmentCount
        result.failure = error
        return result
    }
}

extension DownloadJournal.Lane.Kind {
    fileprivate func mediaTypes(ownsAudio: Bool) -> Set<MediaKind> {
        switch self {
        case .main: ownsAudio ? [.video, .audio] : [.video]
        case .audio: [.audio]
        case .subtitles: [.text]
        }
    }
}

// Dates and segment numbers need playlists, which are unavailable here.
extension StartPosition {
    fileprivate var itemTime: MediaTime? { if case .time(let time) = self { time } else { nil } }
}

extension EndPosition {
    fileprivate var itemTime: MediaTime? { if case .time(let time) = self { time } else { nil } }
}
