import HLSKitEngine
import HLSKitLoading
import HLSKitMedia
import HLSKitTime

/// What an interrupted run has left of a live stream that is gone: nothing more can be loaded of it, but what there is can
/// be had.
extension DownloadTask {
    /// What counts as loaded where the stream cannot be opened any more; nil where there is nothing, or where another run
    /// may bring more.
    func salvage(after error: HLSError) throws -> Result? {
        let journal = folder.journal
        guard [.notFound, .network, .badPlaylist].contains(error.code), journal.hasMedia,
            journal.url == Redaction.urlWithoutQuery(configuration.urlString),
            let main = journal.lanes.last(where: { $0.kind == .main && !$0.isAuxiliary && $0.isLive })
        else { return nil }
        let others = journal.lanes.filter { ($0.kind != .main || $0.isAuxiliary) && $0.isLive }
        let ownsSound = !others.contains { $0.kind == .audio }
        let entries = ([main] + others).map { lane in
            DownloadSelection.Entry(lane: lane, url: "", wanted: lane.kind.mediaTypes(ownsSound: ownsSound))
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
    fileprivate func mediaTypes(ownsSound: Bool) -> Set<MediaKind> {
        switch self {
        case .main: ownsSound ? [.video, .audio] : [.video]
        case .audio: [.audio]
        case .subtitles: [.text]
        }
    }
}

// Dates and numbers of segments are in playlists, which are not to be had.
extension StartPosition {
    fileprivate var itemTime: MediaTime? { if case .time(let time) = self { time } else { nil } }
}

extension EndPosition {
    fileprivate var itemTime: MediaTime? { if case .time(let time) = self { time } else { nil } }
}
