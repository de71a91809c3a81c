import HLSMedia
import HLSPlaylist
import Synchronization

/// Downloads a stream into a folder, several segments at a time, and goes on where an earlier run was interrupted.
///
/// ```swift
/// let task = try DownloadTask(DownloadConfiguration(url: "https://example.com/film.m3u8"), folder: "film.download")
/// let result = try await task.run()
/// try task.write(to: "film.mp4", format: .mp4)
/// task.removeFolder()
/// ```
///
/// What is in the folder is written through to the disk piece by piece, and a journal tells of each piece; so a run that is
/// interrupted at any moment, by whatever, loses only the segments that were on their way. The next run looks all of it
/// through, checksums too, and loads what is missing. Segments are known again by their media sequence numbers: it does not
/// matter if the query of the URL has changed meanwhile. Live streams are followed until they end.
///
/// Source: FEATURES S01, S02.
public final class DownloadTask: Sendable {
    /// How a run went that came to its end.
    public struct Result: Sendable {
        /// Segments that are not there, in the order in which that was found out.
        public var gaps: [DownloadGap] = []
        /// Segments that are there.
        public var segmentCount = 0
        /// The media time of the variant's segments that are there, by the playlist.
        public var duration = Duration.zero
        /// Segments of an earlier run that were used, and those of it that were damaged.
        public var resumedSegmentCount = 0
        public var damagedSegmentCount = 0
        /// Segments that were taken of another variant or of another group's rendition, because the chosen one did not have
        /// them.
        public var substitutedSegmentCount = 0
        /// Why a live stream was not followed any longer, where that was no wish.
        public var failure: PlayerError?

        public init() {}
    }

    private struct State {
        var progress = DownloadProgress()
        var isStopping = false
        /// Hears of the wish to stop.
        var stopping: AsyncStream<Void>.Continuation?
        var entries: [DownloadSelection.Entry] = []
        var window = Range<Duration>(uncheckedBounds: (.seconds(Int64.min / 4), .seconds(Int64.max / 4)))
    }

    private let configuration: DownloadConfiguration
    let folder: DownloadFolder
    private let client: ResourceClient
    private let state = Mutex(State())

    /// Makes the folder, or takes up what an earlier run has left there. Loads nothing.
    ///
    /// - Throws: ``OutputError`` where the folder cannot be written, is of something else, or is in use.
    public init(_ configuration: DownloadConfiguration, folder: String) throws(OutputError) {
        self.configuration = configuration
        self.folder = try DownloadFolder(path: folder)
        client = ResourceClient(url: configuration.url, options: configuration.loading)
    }

    /// How far it is. Changes all the time; look at it as often as it is shown.
    public var progress: DownloadProgress { state.withLock { $0.progress } }

    /// Loads no more segments of a live stream than those that are on their way; ``run()`` then ends as if the stream had
    /// ended. Of other streams, what is not on its way is missing in the result.
    public func stop() {
        let stopping = state.withLock { state in
            state.isStopping = true
            return state.stopping
        }
        stopping?.finish()
    }

    /// Ends when nothing more is wanted.
    private func stopRequests() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let isStopping = state.withLock { state in
            state.stopping = continuation
            return state.isStopping
        }
        if isStopping { continuation.finish() }
        return stream
    }

    /// Removes the files of the download, and the folder.
    public func removeFolder() { folder.remove() }

    /// Gives the folder another name, where it is to stay as it is: the journal goes, and nothing can be resumed.
    public func moveFolder(to path: String) throws(OutputError) { try folder.move(to: path) }

    // MARK: Running

    /// Loads what is missing. May be called again after a failure.
    ///
    /// - Throws: ``AssetError`` where something that is needed cannot be had: what was loaded stays, and another run goes
    ///   on from there; ``OutputError`` where it cannot be stored; `CancellationError`.
    public func run() async throws -> Result {
        let clock = HostClock(configuration.loading.clock)
        update { $0 = DownloadProgress() }
        let opened = try await open()
        var (selection, first) = opened
        var run = DownloadRun(
            plan: DownloadPlan(capacity: configuration.connectionCount),
            alternates: DownloadAlternates(selection, policies: configuration.loading.retryPolicies),
            result: Result(), started: clock.now)
        run.result.damagedSegmentCount = folder.verify()
        try await openLanes(&selection, first: first, clock, &run)
        try await checkOrigin(run)
        try noteLanes(selection)
        state.withLock { [window = run.window, entries = selection.entries] in
            $0.entries = entries
            $0.window = window
        }
        update { $0.phase = .loading }
        try takeUp(&run)
        try await load(clock, &run)
        run.result.segmentCount = 0
        for index in run.followed {
            let lane = run.lanes[index]
            for segment in folder.journal.segments(of: lane.entry.lane.id) where segment.file != nil {
                run.result.segmentCount += 1
                if segment.variant != nil { run.result.substitutedSegmentCount += 1 }
                if index == 0 { run.result.duration += .microseconds(segment.duration) }
            }
        }
        return run.result
    }

    /// What the last run has loaded, the variant first, and the item times that were wanted.
    var loaded: (entries: [DownloadSelection.Entry], window: Range<Duration>) {
        state.withLock { ($0.entries, $0.window) }
    }

    func update(_ body: (inout DownloadProgress) -> Void) {
        state.withLock { body(&$0.progress) }
    }

    // MARK: Playlists

    private func open() async throws -> (DownloadSelection, MediaPlaylist?) {
        let inspector = AssetInspector(url: configuration.url, options: configuration.loading)
        switch try await inspector.opened() {
        case .multivariant(let playlist): return (try DownloadSelection(configuration, of: playlist), nil)
        case .media(let playlist): return (DownloadSelection(mediaPlaylistAt: configuration.url), playlist)
        case .file:
            throw AssetError(
                code: .badPlaylist, url: configuration.url, cause: "a media file and no playlist",
                detail: "it has no segments to download")
        }
    }

    func playlist(
        of entry: DownloadSelection.Entry, _ variables: [String: String]
    ) async throws -> MediaPlaylist {
        var options = client.parserOptions
        options.importedVariables = variables
        let resourceClass: ResourceClass = entry.source == nil ? .multivariantPlaylist : .mediaPlaylist
        let playlist = try await client.load(entry.url, resourceClass, limit: .max, namedBy: entry.source) {
            [options] in PlaylistReader(url: entry.url, options: options)
        }
        guard case .media(let media) = playlist else {
            throw AssetError(
                code: .badPlaylist, url: entry.url, cause: "a multivariant playlist where a media playlist belongs")
        }
        guard !media.segments.isEmpty || !media.hasEndList else {
            throw AssetError(code: .badPlaylist, url: entry.url, cause: "the playlist lists no segment")
        }
        return media
    }

    private func openLanes(
        _ selection: inout DownloadSelection, first: MediaPlaylist?, _ clock: HostClock, _ run: inout DownloadRun
    ) async throws {
        run.variables = selection.variables
        let wished = selection
        let opened = try await withThrowingTaskGroup(of: (Int, Opened).self) { group in
            for index in wished.entries.indices where index > 0 || first == nil {
                group.addTask { (index, try await self.opened(index, of: wished)) }
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
    }

    private struct Opened: Sendable {
        var playlist: MediaPlaylist
        /// What it was taken of, in the place of what was chosen.
        var instead: DownloadSelection.Alternate?
    }

    /// The playlist of an entry, or one that can take its place.
    private func opened(_ index: Int, of selection: DownloadSelection) async throws -> Opened {
        do {
            return Opened(playlist: try await playlist(of: selection.entries[index], selection.variables))
        } catch let error as AssetError {
            for alternate in selection.alternates where alternate.target == index && alternate.isEquivalent {
                guard let playlist = try? await playlist(of: alternate.entry, selection.variables) else { continue }
                return Opened(playlist: playlist, instead: alternate)
            }
            try Task.checkCancellation()
            throw error
        }
    }

    private func window(of run: DownloadRun) throws(AssetError) -> Range<Duration> {
        guard let main = run.lanes.first?.tracker else { return .zero..<(.zero) }
        func time(_ wish: Duration?) -> Duration? { wish.map { $0 < .zero ? main.end + $0 : $0 } }
        let start = time(configuration.start) ?? .seconds(Int64.min / 4)
        let end = time(configuration.end) ?? .seconds(Int64.max / 4)
        guard start < end else {
            throw AssetError(
                code: .notAvailable, url: configuration.url, cause: "there is nothing between --from and --to")
        }
        if !main.isLive, start >= main.end {
            throw AssetError(
                code: .notAvailable, url: configuration.url, cause: "the stream ends before --from",
                detail: "it lasts \(main.end.wholeMicroseconds / 1_000_000) s")
        }
        return start..<end
    }

    // MARK: Taking up what is there

    /// Without query, user and fragment.
    static func bare(_ url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let slashes = path.firstRange(of: "//") else { return String(path) }
        let rest = path[slashes.upperBound...]
        let authority = rest.prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(path) }
        return String(path[..<slashes.upperBound] + rest[rest.index(after: at)...])
    }

    /// Makes sure that what an earlier run has left is of the same stream: by the URL, or, where that is another (a token in
    /// its path), by one segment that has to be the same.
    private func checkOrigin(_ run: DownloadRun) async throws {
        let journal = folder.journal
        guard !journal.url.isEmpty, journal.url != Self.bare(configuration.url), !journal.segments.isEmpty else {
            return
        }
        search: for lane in run.lanes {
            for stored in journal.segments(of: lane.entry.lane.id) {
                guard stored.file != nil, let index = lane.index(of: stored.position), lane.isSame(stored, at: index),
                    let request = request(at: index, of: lane)
                else { continue }
                var probe = request
                probe.file = "probe.\(DownloadLane.ending(of: stored.name))"
                let loaded = try await loader.segment(probe)
                folder.discard(probe.file)
                if loaded.file?.md5 == stored.file?.md5 { return }
                break search
            }
        }
        throw OutputError(
            code: .fileExists, path: folder.path,
            text: "it holds what was loaded of \(journal.url.escapingControls); remove it to begin anew")
    }

    private func noteLanes(_ selection: DownloadSelection) throws(OutputError) {
        let journal = folder.journal
        var entries: [DownloadJournal.Entry] = []
        if journal.url.isEmpty { entries.append(.header(url: Self.bare(configuration.url))) }
        for entry in selection.entries where !journal.lanes.contains(entry.lane) { entries.append(.lane(entry.lane)) }
        if !entries.isEmpty { try folder.add(entries) }
    }

    /// Puts into the plan what is wanted and not there.
    func takeUp(_ run: inout DownloadRun) throws {
        let journal = folder.journal
        var entries: [DownloadJournal.Entry] = []
        for laneIndex in run.followed {
            let lane = run.lanes[laneIndex]
            let known = journal.segments[lane.entry.lane.id] ?? [:]
            var items: [DownloadPlan.Item] = []
            for index in lane.indices(in: run.window) {
                let position = lane.position(at: index)
                let id = DownloadPlan.ItemID(lane: laneIndex, position: position)
                guard run.seen.insert(id).inserted else { continue }
                let duration = lane.tracker.duration(at: index)
                run.totals.segmentCount += 1
                run.totals.duration += duration
                if laneIndex == 0 { run.mediaDuration += duration }
                if let stored = known[position], lane.isSame(stored, at: index) {
                    run.result.resumedSegmentCount += 1
                    run.done.segmentCount += 1
                    run.done.duration += duration
                    run.storedByteCount += stored.file?.byteCount ?? 0
                    continue
                }
                let segment = lane.tracker.playlist.segments[index]
                if segment.isGap {
                    entries.append(.segment(lane.description(at: index)))
                    run.done.segmentCount += 1
                    run.done.duration += duration
                    run.result.gaps.append(
                        DownloadGap(
                            url: lane.tracker.playlist.resolve(segment.uri) ?? segment.uri,
                            cause: "the stream says that a segment is missing", isDeclared: true))
                    continue
                }
                items.append(
                    DownloadPlan.Item(
                        lane: laneIndex, position: position, start: lane.tracker.starts[index],
                        resources: try resources(of: segment, in: lane)))
            }
            run.plan.add(items)
        }
        if !entries.isEmpty { try folder.add(entries) }
        publish(run)
    }

    private func publish(_ run: DownloadRun) {
        let isLive = run.isLive
        update { progress in
            progress.segmentCount = run.done.segmentCount
            progress.duration = run.done.duration
            progress.totalSegmentCount = run.totals.segmentCount
            progress.totalDuration = run.totals.duration
            progress.storedByteCount = run.storedByteCount
            progress.mediaDuration = run.mediaDuration
            progress.isLive = isLive
        }
    }

    // MARK: Loading

    enum Outcome: Sendable {
        case resource(ResourceID, lane: Int, Swift.Result<DownloadJournal.File, any Error>)
        case segment(DownloadPlan.ItemID, Swift.Result<DownloadJournal.Segment, any Error>)
        case playlist(lane: Int, began: Duration, Swift.Result<MediaPlaylist, any Error>)
        case alternate(DownloadAlternates.Wish, began: Duration, Swift.Result<MediaPlaylist, any Error>)
        /// Nothing more is wanted of a live stream.
        case stop
    }

    private var loader: DownloadLoader {
        DownloadLoader(client: client, folder: folder) { [self] count in
            update { $0.receivedByteCount += count }
        }
    }

    private func load(_ clock: HostClock, _ run: inout DownloadRun) async throws {
        let stops = stopRequests()
        // The group's closure may throw with `run` half changed: it is handed back whole.
        run = try await withThrowingTaskGroup(of: Outcome.self) { [run] group in
            var run = run
            for lane in run.followed where run.lanes[lane].tracker.isLive { addReload(of: lane, clock, run, &group) }
            group.addTask {
                for await _ in stops { break }
                return .stop
            }
            while true {
                for work in run.plan.next() { add(work, run, &group) }
                for wish in run.alternates.takeWaiting() { open(wish, clock, run, &group) }
                if run.plan.isIdle, !run.alternates.isBusy, !run.isLive || isStopping { break }
                guard let outcome = try await group.next() else { break }
                switch outcome {
                case .stop: run.plan.stop()
                case .resource(let id, let lane, let result): try take(result, of: id, lane: lane, clock, &run)
                case .segment(let id, let result): try take(result, of: id, clock, &run)
                case .alternate(let wish, let began, let result):
                    try take(result, of: wish, began: began, clock, &run)
                case .playlist(let lane, let began, let result):
                    try take(result, of: lane, began: began, clock, &run)
                    if run.lanes[lane].tracker.isLive, !run.isOver { addReload(of: lane, clock, run, &group) }
                }
                if isStopping { run.plan.stop() }
                publish(run)
            }
            group.cancelAll()
            return run
        }
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }

    private func add(
        _ work: DownloadPlan.Work, _ run: DownloadRun, _ group: inout ThrowingTaskGroup<Outcome, any Error>
    ) {
        let loader = loader
        switch work {
        case .resource(let id, let lane):
            let source = run.lanes[lane].tracker.url
            let name = run.lanes[lane].folder
            group.addTask {
                do {
                    return .resource(
                        id, lane: lane, .success(try await loader.resource(id, namedBy: source, in: name)))
                } catch { return .resource(id, lane: lane, .failure(error)) }
            }
        case .segment(let id):
            let lane = run.lanes[id.lane]
            guard let index = lane.index(of: id.position), var request = request(at: index, of: lane) else {
                let error = AssetError(
                    code: .notFound, url: lane.entry.url, cause: "the segment is gone from the playlist",
                    detail: "number \(id.position.sequence)")
                group.addTask { .segment(id, .failure(error)) }
                return
            }
            run.describe(&request, at: index, of: lane)
            group.addTask { [request] in
                do { return .segment(id, .success(try await loader.segment(request))) } catch {
                    return .segment(id, .failure(error))
                }
            }
        }
    }

    private func request(at index: Int, of lane: DownloadLane) -> DownloadLoader.Request? {
        let segment = lane.tracker.playlist.segments[index]
        guard let url = lane.tracker.playlist.resolve(segment.uri) else { return nil }
        let description = lane.description(at: index)
        let isWhole = segment.keys.contains { $0.method == .aes128 }
        var request = DownloadLoader.Request(
            url: url, source: lane.tracker.url, segment: description, file: lane.fileName(of: description),
            limit: ResourceLimits.segmentByteCount(
                duration: segment.duration,
                bitRate: lane.entry.lane.bandwidth > 0 ? lane.entry.lane.bandwidth : nil),
            isClear: !isWhole)
        if lane.tracker.isAtEdge(index) { request.patience = lane.tracker.pacingTarget * 3 }
        return request
    }

    // MARK: What came

    private func take(
        _ result: Swift.Result<DownloadJournal.File, any Error>, of id: ResourceID, lane: Int,
        _ clock: HostClock, _ run: inout DownloadRun
    ) throws {
        switch result {
        case .success(let file):
            try folder.add([.resource(file)])
            run.files[id] = file.name
            _ = run.plan.finish(.resource(id, lane: lane))
        case .failure(let error):
            // Without a key nothing is of use (R50); a map is needed by some segments.
            guard let error = error as? AssetError, id.kind == .map, error.code == .notFound || error.code == .badMedia
            else {
                if id.kind == .key, var error = error as? AssetError, error.code == .notFound {
                    (error.code, error.cause) = (.contentKey, "the key cannot be had")
                    throw error
                }
                throw error
            }
            for dropped in run.plan.finish(.resource(id, lane: lane), succeeded: false) {
                try look(for: dropped, after: error, clock, &run)
            }
        }
    }

    private func take(
        _ result: Swift.Result<DownloadJournal.Segment, any Error>, of id: DownloadPlan.ItemID,
        _ clock: HostClock, _ run: inout DownloadRun
    ) throws {
        _ = run.plan.finish(.segment(id))
        switch result {
        case .success(let loaded):
            guard let segment = run.stored(loaded, of: id) else { return }
            try folder.add([.segment(segment)])
            run.done.segmentCount += 1
            run.done.duration += .microseconds(segment.duration)
            run.storedByteCount += segment.file?.byteCount ?? 0
        case .failure(let error):
            guard let error = error as? AssetError else { throw error }
            try look(for: id, after: error, clock, &run)
        }
    }

    // MARK: Resources

    func resources(of segment: MediaSegment, in lane: DownloadLane) throws(AssetError) -> [ResourceID] {
        var ids: [ResourceID] = []
        if let map = segment.map {
            if let url = lane.tracker.playlist.resolve(map.uri) {
                ids.append(ResourceID(kind: .map, url: url, byteRange: map.byteRange?.range))
            }
            if let key = DownloadRun.key(of: map.keys, in: lane) { ids.append(key.id) }
        }
        guard !segment.keys.isEmpty else { return ids }
        guard let key = DownloadRun.key(of: segment.keys, in: lane) else {
            let offered = segment.keys.map { "\($0.method.rawValue) (\($0.effectiveKeyFormat))" }
            throw AssetError(
                code: .contentKey, url: lane.tracker.url, cause: "no supported key system",
                detail: offered.joined(separator: ", ").escapingControls)
        }
        if !ids.contains(key.id) { ids.append(key.id) }
        return ids
    }
}

extension AssetError {
    /// One segment that is not there ends no download; a server that refuses, or a network that is gone, does.
    var mayBeSkipped: Bool {
        switch code {
        case .notFound: status.map { ![401, 403, 407].contains($0) } ?? true
        case .badMedia: true
        default: false
        }
    }
}
