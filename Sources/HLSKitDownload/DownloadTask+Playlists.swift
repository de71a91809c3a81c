import HLSKitAsset
import HLSKitEngine
import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

extension DownloadTask {
    func open() async throws -> (DownloadSelection, MultivariantPlaylist?, MediaPlaylist?) {
        let inspector = AssetInspector(url: currentURL, client: client.moved(to: currentURL))
        let listed = folder.journal.listedLanes
        switch try await inspector.opened() {
        case .multivariant(let playlist):
            let selection = try DownloadSelection(
                configuration, of: playlist, addingTo: listed, orThrow: otherStreamError)
            return (selection, playlist, nil)
        case .media(let playlist):
            guard listed.isEmpty || listed.contains(where: { $0.id == DownloadSelection.onlyLaneID }) else {
                throw otherStreamError
            }
            return (
                DownloadSelection(mediaPlaylistAt: currentURL, includesVideo: configuration.includesVideo), nil,
                playlist
            )
        case .file:
            throw HLSError(
                code: .badPlaylist, urlString: configuration.urlString, cause: "a media file, not a playlist",
                detail: "it has no segments to download")
        }
    }

    /// Loads a media playlist.
    ///
    /// - Parameters:
    ///   - terms: The retry terms, or `nil` if the playlist is loaded only once.
    ///   - tracker: The earlier versions of the playlist, for a reload.
    ///   - directives: The delivery directives. If they are of no use, the playlist is loaded again without them at
    ///     once.
    func playlist(
        of entry: DownloadSelection.Entry, _ variables: [String: String], _ terms: RetryTerms? = nil,
        _ account: RequestRetrier.Account? = nil, reloadOf tracker: PlaylistTracker? = nil,
        directives: DeliveryDirectives = DeliveryDirectives(), noteRequest: () -> Void = {}
    ) async throws -> MediaPlaylist {
        var options = client.parserOptions
        options.importedVariables = variables
        let heldFor = directives.awaited.flatMap { awaited in tracker.map { ReloadPlan.patience($0, for: awaited) } }
        let resourceClass: ResourceClass = entry.source == nil ? .multivariantPlaylist : .mediaPlaylist
        let playlist = try await client.load(
            entry.url, resourceClass, limit: .max, namedBy: entry.source, terms: terms, account: account,
            hedgeDelay: tracker?.hedgeDelay, timeout: tracker?.reloadTimeout,
            lesserURL: directives.isEmpty ? nil : directives.url(of: entry.url), heldFor: heldFor
        ) {
            [options] in
            noteRequest()
            return ReloadReader(PlaylistReader(url: entry.url, options: options), directives)
        }
        guard case .media(let media) = playlist else {
            throw HLSError(
                code: .badPlaylist, urlString: entry.url,
                cause: "a multivariant playlist where a media playlist belongs")
        }
        guard !media.segments.isEmpty || !media.isComplete else {
            throw HLSError(code: .badPlaylist, urlString: entry.url, cause: "the playlist lists no segment")
        }
        return media
    }

    func openLanes(
        _ selection: inout DownloadSelection, first: MediaPlaylist?, _ clock: HostClock, _ run: inout DownloadRun
    ) async throws {
        run.variables = selection.variables
        let preferred = selection
        let opened = try await withThrowingTaskGroup(of: (Int, Opened).self) { group in
            for index in preferred.entries.indices where index > 0 || first == nil {
                group.addTask { (index, try await self.opened(index, of: preferred)) }
            }
            var opened: [Int: Opened] = [:]
            if let first { opened[0] = Opened(playlist: first) }
            for try await (index, playlist) in group { opened[index] = playlist }
            return opened
        }
        for alternate in opened.values.compactMap(\.instead) { selection.take(alternate) }
        run.alternates = DownloadAlternates(selection, policies: configuration.loading.retryPolicies)
        let journal = folder.journal
        for (index, entry) in selection.entries.enumerated() {
            guard let playlist = opened[index]?.playlist else { continue }
            run.add(entry, playlist, known: journal.segments(of: entry.lane.id), now: clock.now)
        }
        run.window = try window(of: run)
        switch configuration.startPosition {
        case .time, .date: run.isStartProved = false
        case .segment, .automatic, .oldest: break
        }
    }

    private struct Opened: Sendable {
        var playlist: MediaPlaylist
        var instead: DownloadSelection.Alternate?
    }

    private func opened(_ index: Int, of selection: DownloadSelection) async throws -> Opened {
        var left = selection.alternates.filter { $0.target == index && $0.isEquivalent }[...]
        var instead: DownloadSelection.Alternate?
        var first: HLSError?
        while true {
            let entry = instead?.entry ?? selection.entries[index]
            do {
                let terms = RetryTerms(
                    kind: entry.source == nil ? .firstPlaylist : .mediaPlaylist, hasAlternative: !left.isEmpty)
                return Opened(playlist: try await playlist(of: entry, selection.variables, terms), instead: instead)
            } catch let error as HLSError where error.domain != .output {
                try Task.checkCancellation()
                first = first ?? error
                guard let next = left.popFirst() else { throw first ?? error }
                instead = next
            }
        }
    }

    private func window(of run: DownloadRun) throws(HLSError) -> TimeWindow {
        guard let main = run.lanes.first?.tracker else { return TimeWindow(from: .zero, until: .zero) }
        return try window(in: main, run.multivariant?.start)
    }

    /// - Parameter tag: `EXT-X-START` of the multivariant playlist.
    private func window(in main: PlaylistTracker, _ tag: StartPoint?) throws(HLSError) -> TimeWindow {
        var preferences = PlayerItemPreferences()
        preferences.startPosition = configuration.startPosition
        preferences.endPosition = configuration.endPosition
        if StartPlace.lacksDates(preferences, in: main) { throw HLSError(lackOfDatesIn: configuration.urlString) }
        let start: MediaTime? =
            switch configuration.startPosition {
            case .time(let time): time
            case .date(let date): main.place(of: date).map { MediaTime($0) }
            case .segment(let number): MediaTime(main.start(ofSegment: number))
            case .automatic: startOfLive(in: main, preferences, tag).map { MediaTime($0) }
            case .oldest: nil
            }
        let end: MediaTime? =
            switch configuration.endPosition {
            case .time(let time): time
            case .date(let date): main.place(of: date).map { MediaTime($0) }
            case .segment(let number):
                if let end = main.end(ofSegment: number) {
                    MediaTime(end)
                } else {
                    throw HLSError(
                        code: .notAvailable, urlString: configuration.urlString,
                        cause: "segment \(number) is not listed yet",
                        detail: "the last one is \(main.playlist.mediaSequence + main.segmentCount - 1)")
                }
            case .duration(let length): length.duration.map { MediaTime((start?.duration ?? main.start) + $0) }
            case .automatic: nil
            }
        return try window(from: main.start, to: main.end, isLive: main.isLive, start: start, end: end)
    }

    /// The listed media before the live edge that a download keeps. A short window loses nothing.
    private static let keptBeforeEdge = Duration.seconds(60)

    /// The position at which the download of a live stream starts, or `nil` to load it from its oldest segment.
    ///
    /// It is the start of playback, or earlier if the stream does not set the start and the download has no duration.
    private func startOfLive(
        in main: PlaylistTracker, _ preferences: PlayerItemPreferences, _ tag: StartPoint?
    ) -> Duration? {
        // An earlier run has begun the file.
        guard configuration.startsAtLiveEdge, main.isLive, !folder.journal.hasMedia else { return nil }
        let tag = main.playlist.start ?? tag
        var start = StartPlace(in: main, preferences: preferences, tag: tag, liveOffset: main.holdBack).start
        var keepsEarlier = tag == nil
        if case .duration = preferences.endPosition { keepsEarlier = false }
        if keepsEarlier { start = min(start, max(main.start, main.end - Self.keptBeforeEdge)) }
        // Whole segments are loaded.
        return main.entryIndex(containing: start).map { main.starts[$0] } ?? start
    }

    func window(
        from first: Duration, to last: Duration, isLive: Bool, start: MediaTime?, end: MediaTime?
    ) throws(HLSError) -> TimeWindow {
        func time(_ alternateRequest: MediaTime?) -> Duration? {
            alternateRequest?.duration.map { $0 < .zero ? last + $0 : $0 }
        }
        // Nothing exists before the first segment, so the file begins with it.
        let start = time(start).map { max($0, first) }
        let end = time(end)
        if let start, let end, start >= end {
            throw HLSError(
                code: .notAvailable, urlString: configuration.urlString, cause: "the requested range is empty")
        }
        if !isLive, let start, start >= last {
            throw HLSError(
                code: .notAvailable, urlString: configuration.urlString,
                cause: "the stream ends before the requested start",
                detail: "it lasts \(last.wholeMicroseconds / 1_000_000) s")
        }
        return TimeWindow(from: start, until: end)
    }
}
