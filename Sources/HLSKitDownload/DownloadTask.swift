public import HLSKitAsset
public import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import Synchronization

/// A download of a stream into a folder, which can be interrupted and continued.
///
/// ```swift
/// let task = try await DownloadTask(DownloadConfiguration(urlString: "https://example.com/film.m3u8"), folder: "film.download")
/// let result = try await task.run()
/// try await task.write(to: "film.mp4", format: .mp4)
/// await task.removeFolder()
/// ```
///
/// To download in the background, call ``resume()`` and observe ``events()``. To play the stream at the same time, use
/// ``makePlayerItem()``.
///
/// All disk access runs on a separate thread, not on the shared thread pool.
///
/// Files are flushed to the disk one by one, and a journal records each of them. An interrupted run therefore loses
/// only the segments in flight. The next run verifies all files, including their checksums, and loads the missing ones.
/// It identifies segments by their media sequence numbers, so the query of the URL may have changed. Live streams are
/// followed until they end.
///
/// A task can also add to the folder of a finished download, if that has the playlists of ``writePlaylists()``. The run
/// loads the variants and renditions that the folder lacks, and the missing segments of those that it selects. The
/// variant of the folder remains the first one. Call ``writePlaylists()`` again to list the new media.
public final class DownloadTask: Sendable {
    /// The result of a completed run.
    public struct Result: Sendable {
        /// The missing segments, in the order in which they were found to be missing.
        public var gaps: [DownloadGap] = []
        /// The URLs of the segments that ended early at each request.
        package var truncatedURLs: [String] = []
        /// The number of missing segments in all gaps.
        public var missingSegmentCount: Int { gaps.reduce(0) { $0 + $1.segmentCount } }
        /// The number of stored segments.
        public var segmentCount = 0
        /// The media time of the variant's stored segments, according to the playlist.
        public var duration = Duration.zero
        /// The media time of the variant that the ``DownloadConfiguration/skipRule`` leaves out.
        public var skippedDuration = Duration.zero
        /// The number of used segments from earlier runs.
        public var resumedSegmentCount = 0
        /// The number of damaged segments from earlier runs, which had to be loaded again.
        public var damagedSegmentCount = 0
        /// The number of segments from another variant or rendition group, which the selected one lacked.
        public var substitutedSegmentCount = 0
        /// The number of interstitials that the variant's playlist schedules.
        ///
        /// Interstitials are not downloaded.
        public var numberOfInterstitials = 0
        /// Whether subtitles were requested, but the stream has none.
        package var lacksSubtitles = false
        /// The reason why following a live stream ended early, or `nil` if it ended or was stopped.
        public var failure: HLSError?

        package init() {}
    }

    private struct State {
        var progress = DownloadProgress()
        var url: String?
        var isStopping = false
        var stopping: AsyncStream<Void>.Continuation?
        var entries: [DownloadSelection.Entry] = []
        var window = TimeWindow()
        var packing: FilePacking?
        var metadataFailure: HLSError?
    }

    let configuration: DownloadConfiguration
    let folder: DownloadFolder
    let client: ResourceClient
    /// The stream, for playing it while it is downloaded.
    ///
    /// Stored media is read from the folder. If a run will load some media, the player waits for it and the run loads
    /// it first, so that nothing is requested twice. Playlists and all other media come from the network. While no run
    /// is in progress, missing media also comes from the network and is not stored.
    ///
    /// ``makePlayerItem()`` creates an item that plays the downloaded variant. To play a complete download without a
    /// network, use the playlists of ``writePlaylists()``.
    public let asset: Asset
    let downloaded: DownloadedMedia
    let demand = DownloadDemand()
    let background = BackgroundRun<Result>()
    let notices: DownloadNotices
    let tally = DownloadTally()
    private let state: Mutex<State>

    /// Creates the folder, or opens the folder of an earlier run.
    ///
    /// The initializer makes no requests.
    ///
    /// - Throws: ``HLSError`` if the folder cannot be written, is not a download's folder, or is in use.
    public init(_ configuration: DownloadConfiguration, folder: String) async throws(HLSError) {
        self.configuration = configuration
        self.folder = try await DiskThread.run(configuration.loading.clock) { () async throws(HLSError) in
            try DownloadFolder(path: folder)
        }
        downloaded = DownloadedMedia(self.folder, demand: demand, clock: configuration.loading.clock)
        asset = Asset(urlString: configuration.urlString, options: configuration.loading, stored: downloaded)
        let progress = DownloadProgress(of: self.folder.journal)
        notices = DownloadNotices(progress)
        state = Mutex(State(progress: progress))
        // Load a media file as the segments that it can be divided into.
        var loading = configuration.loading
        loading.transport = tally.transport(over: loading.transport)
        // The download's folder stores the resources, so the cache need not store them too.
        client = ResourceClient(
            url: configuration.urlString, options: loading, opensFiles: true, storesOnDisk: false)
    }

    /// A Boolean value that indicates whether no media is stored that another run could use.
    public var isEmpty: Bool { !folder.journal.hasMedia }

    /// The time for requests in flight to complete after a stop (R71).
    private static let stopLimit = Duration.seconds(1)

    package var storedVariant: (size: PixelSize?, bandwidth: Int?) {
        let (entries, _) = loaded
        let lanes = entries.map(\.lane).filter { $0.kind == .main }
        guard let lane = lanes.first(where: { !$0.isAuxiliary }) ?? lanes.first else { return (nil, nil) }
        let size = lane.size.map { PixelSize(width: $0.width, height: $0.height) }
        return (size, lane.bandwidth > 0 ? lane.bandwidth : nil)
    }

    /// The current progress or, before the first run, the progress stored by an earlier process.
    ///
    /// The value changes continuously. Read it whenever you display it.
    public var progress: DownloadProgress { state.withLock { $0.progress } }

    /// Stops the current run or, if there is none, the next one.
    ///
    /// Requests in flight have one second to complete. ``run()`` then returns as if the stream had ended. For a stream
    /// that is not live, the result lists the other segments as missing.
    public func stop() {
        let stopping = state.withLock { state in
            state.isStopping = true
            return state.stopping
        }
        stopping?.finish()
    }

    private func stopRequests() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        let isStopping = state.withLock { state in
            state.stopping = continuation
            return state.isStopping
        }
        if isStopping { continuation.finish() }
        return stream
    }

    /// Removes the files of the download, and the folder if it is then empty.
    public func removeFolder() async {
        downloaded.removeAll()
        takePacking()?.end()
        await DiskThread.run(configuration.loading.clock) { self.folder.remove() }
    }

    /// Moves the folder to another path, or leaves it if this is its path, and ends the task.
    ///
    /// Segments from earlier runs that are neither selected nor in the playlists of ``writePlaylists()`` are removed.
    /// Another task for the folder can add variants and languages.
    public func moveFolder(to path: String) async throws(HLSError) {
        try await DiskThread.run(configuration.loading.clock) { () async throws(HLSError) in
            let (entries, _) = self.loaded
            if !entries.isEmpty { try self.folder.removeLanes(except: Set(entries.map(\.lane.id))) }
            try self.folder.move(to: path)
        }
    }

    package static func isDownload(_ folder: String) -> Bool { DownloadFolder.hasJournal(folder) }

    // MARK: Running

    /// Downloads the missing segments.
    ///
    /// You can call it again after a failure. A task has only one run at a time. If a run is in progress, from
    /// ``resume()`` or another caller, this call waits for it and returns its result. Cancelling the caller's task then
    /// ends only the wait.
    ///
    /// - Throws: ``HLSError`` if a required resource cannot be loaded or stored. Stored media is kept, and another run
    ///   continues from there. The code is ``HLSError/Code/cancelled`` if the task was cancelled.
    public func run() async throws(HLSError) -> Result {
        try await HLSError.typed { try await background.run { try await runOnce() } }
    }

    func runOnce() async throws(HLSError) -> Result {
        notices.begin(with: storedProgress)
        tally.reset()
        defer { state.withLock { ($0.isStopping, $0.stopping) = (false, nil) } }
        let clock = HostClock(configuration.loading.clock)
        do {
            let result = try await DiskThread.run(configuration.loading.clock) {
                do {
                    let result = try await self.loadAll()
                    // The muxed file will be flushed, so the segments need not be.
                    if self.state.withLock({ $0.packing == nil }) { try self.folder.sync() }
                    return result
                } catch {
                    try? self.folder.sync()
                    throw error
                }
            }
            end(result, nil, after: clock.now)
            return result
        } catch {
            let error = HLSError(error)
            end(nil, error, after: clock.now)
            throw error
        }
    }

    private func loadAll() async throws -> Result {
        let clock = HostClock(configuration.loading.clock)
        update { $0 = storedProgress }
        state.withLock { $0.url = nil }
        client.retrier.reset()
        // Players that play the download wait from here on.
        var news = demand.begin()
        defer { demand.end() }
        let damagedCount = folder.verify()
        var before: ExpiredDownload?
        while true {
            let storedCount = storedSegmentCount
            do {
                var result = try await run(clock, news, after: before)
                result.damagedSegmentCount = damagedCount
                return result
            } catch let expired as ExpiredDownload {
                do {
                    // A fresh URL that delivered nothing is not worth another refresh.
                    guard before == nil || storedSegmentCount > storedCount else { throw expired.error }
                    let url = try await freshURL(insteadOf: expired)
                    state.withLock { $0.url = url }
                    client.retrier.reset()
                    news = demand.begin()
                    before = expired
                } catch let error as HLSError where error.domain != .output {
                    guard var result = try salvage(after: error) else { throw error }
                    result.damagedSegmentCount = damagedCount
                    return result
                }
            }
        }
    }

    /// The URL of the stream: the given one or, if it expired, a fresh one.
    var currentURL: String { state.withLock(\.url) ?? configuration.urlString }

    /// Loads the missing segments.
    ///
    /// - Parameters:
    ///   - news: Has an element when players wait for a resource.
    ///   - before: The state at which the earlier URL expired.
    /// - Throws: Also ``ExpiredDownload``.
    private func run(
        _ clock: HostClock, _ news: AsyncStream<Void>, after before: ExpiredDownload?
    ) async throws -> Result {
        var run: DownloadRun
        do {
            run = try await opened(clock)
        } catch let error as HLSError where error.domain != .output {
            if let expired = expired(error, nil) { throw expired }
            guard let result = try salvage(after: error) else { throw error }
            return result
        }
        if let before {
            run.window = before.window ?? run.window
            run.result.gaps = before.gaps
        }
        try checkFormat(run)
        try await checkOrigin(run)
        try noteLanes(run)
        try await noteMetadata(of: run.multivariant)
        keep(run.followed.map { run.lanes[$0].entry }, run.window)
        update { $0.phase = .loading }
        try takeUp(clock, &run)
        if let before { run.result.resumedSegmentCount = before.resumedSegmentCount }
        try await loadAndPack(clock, news, &run)
        run.result.numberOfInterstitials = run.numberOfInterstitials
        run.result.lacksSubtitles =
            configuration.subtitles != .none && configuration.subtitles != .automatic
            && !run.lanes.contains { $0.entry.lane.kind == .subtitles }
        let result = counted(run.result, of: run.followed.map { run.lanes[$0].entry.lane })
        // If all segments are missing, the download has failed.
        if result.segmentCount == 0, let error = run.firstLoss { throw error }
        return result
    }

    /// Checks, before anything is loaded, that the stream declares audio which fits a format for only one kind of
    /// audio.
    private func checkFormat(_ run: DownloadRun) throws(HLSError) {
        guard let format = configuration.fileFormat, let container = Remuxer.Container(format), container.holdsAudioOnly
        else { return }
        let codecs = run.followed.first.map { run.lanes[$0].entry.declaredCodecs } ?? []
        let audio = codecs.map { CodecString(rawValue: $0) }.filter { $0.mediaType == .audio }
        guard let codec = audio.first?.codec, audio.allSatisfy({ $0.codec.map { !container.holds($0) } ?? false })
        else { return }
        throw HLSError(
            code: .unsupported, urlString: nil, cause: "\(format.rawValue) cannot hold \(codec.rawValue)",
            detail: ".m4a and .mka can")
    }

    private func opened(_ clock: HostClock) async throws -> DownloadRun {
        var (selection, playlist, first) = try await open()
        var run = DownloadRun(
            plan: DownloadPlan(capacity: configuration.connectionCount),
            alternates: DownloadAlternates(selection, policies: configuration.loading.retryPolicies),
            result: Result(), keys: configuration.keepsEncryption ? nil : KeyRules(configuration.loading.hooks),
            started: clock.now)
        run.multivariant = playlist
        run.skips = SegmentSkips(configuration.skipRule)
        try await openLanes(&selection, first: first, clock, &run)
        return run
    }

    func keep(_ entries: [DownloadSelection.Entry], _ window: TimeWindow) {
        state.withLock { ($0.entries, $0.window) = (entries, window) }
    }

    /// Completes a result with the stored segments of these lanes, the variant's first.
    func counted(_ result: Result, of lanes: [DownloadJournal.Lane]) -> Result {
        var result = result
        let journal = folder.journal
        for (index, lane) in lanes.enumerated() {
            for segment in journal.segments(of: lane.id) {
                if segment.isSkipped, index == 0 { result.skippedDuration += .microseconds(segment.duration) }
                guard segment.file != nil else { continue }
                result.segmentCount += 1
                if segment.variant != nil { result.substitutedSegmentCount += 1 }
                if index == 0 { result.duration += .microseconds(segment.duration) }
            }
        }
        return result
    }

    /// The playlists of the last run, the variant's first, and the requested window.
    var loaded: (entries: [DownloadSelection.Entry], window: TimeWindow) {
        state.withLock { ($0.entries, $0.window) }
    }

    func update(_ body: (inout DownloadProgress) -> Void) {
        state.withLock { body(&$0.progress) }
    }

    func keep(metadataFailure: HLSError) { state.withLock { $0.metadataFailure = metadataFailure } }

    var metadataFailure: HLSError? { state.withLock { $0.metadataFailure } }

    var packing: FilePacking? { state.withLock { $0.packing } }

    func setPacking(_ packing: FilePacking) { state.withLock { $0.packing = packing } }

    func takePacking() -> FilePacking? {
        state.withLock { state in
            defer { state.packing = nil }
            return state.packing
        }
    }

    // MARK: Loading

    /// The delay after which files that can be loaded again are flushed, and thus the maximum loss in a power failure.
    private static let syncDelay = Duration.seconds(1)

    enum Outcome: Sendable {
        case resource(ResourceID, lane: Int, Swift.Result<DownloadJournal.File, any Error>)
        case segment(DownloadPlan.ItemID, Swift.Result<DownloadLoader.Loaded, any Error>)
        case playlist(Reload)
        case alternate(DownloadAlternates.Request, began: Duration, Swift.Result<MediaPlaylist, any Error>)
        /// Players wait for resources.
        case demand
        /// Players will no longer wait for resources.
        case demandEnded
        /// The run should stop.
        case stop
        /// After a stop, the requests in flight have had their time.
        case deadline
        /// The files have been flushed.
        case synced(HLSError?)
    }

    var loader: DownloadLoader {
        DownloadLoader(client: client, folder: folder) { [self] count in
            update { $0.receivedByteCount += count }
        }
    }

    func load(_ clock: HostClock, _ news: AsyncStream<Void>, _ run: inout DownloadRun) async throws {
        let stops = stopRequests()
        // The closure may throw while `run` is half changed, so it works on a copy and returns it.
        run = try await withThrowingTaskGroup(of: Outcome.self) { [run] group in
            var run = run
            for lane in run.followed where run.lanes[lane].tracker.isLive { addReload(of: lane, clock, &run, &group) }
            group.addTask {
                for await _ in stops { break }
                return .stop
            }
            addDemand(news, &group)
            var isSyncing = false
            loop: while true {
                for work in run.plan.next() { add(work, clock, &run, &group) }
                for alternateRequest in run.alternates.takeWaiting() { open(alternateRequest, clock, &run, &group) }
                if run.plan.isIdle, !run.alternates.isBusy, !run.isLive || isStopping { break }
                guard let outcome = try await group.next() else { break }
                do {
                    switch outcome {
                    case .stop:
                        group.addTask {
                            try? await clock.sleep(until: clock.now + Self.stopLimit)
                            return .deadline
                        }
                    case .deadline: break loop
                    case .demand:
                        for wanted in demand.takeUrgent() { run.plan.hasten(wanted) }
                        addDemand(news, &group)
                    case .demandEnded: break
                    case .synced(let error?): throw error
                    case .synced(nil):
                        isSyncing = folder.needsSync
                        if isSyncing { addSync(clock, &group) }
                        continue loop
                    case .resource(let id, let lane, let result): try take(result, of: id, lane: lane, clock, &run)
                    case .segment(let id, let result): try take(result, of: id, clock, &run)
                    case .alternate(let alternateRequest, let began, let result):
                        try take(result, of: alternateRequest, began: began, clock, &run)
                    case .playlist(let answer): try take(answer, clock, &run)
                    }
                    try checkRequests()
                } catch let error as HLSError where error.domain != .output {
                    try end(after: error, &run)
                }
                if case .playlist(let answer) = outcome, run.lanes[answer.lane].tracker.isLive, !run.isOver {
                    addReload(of: answer.lane, clock, &run, &group)
                }
                if isStopping { run.plan.stop() }
                if !isSyncing, folder.needsSync {
                    isSyncing = true
                    addSync(clock, &group)
                }
                if case .segment = outcome, let packing {
                    packing.noteSegment()
                    if let error = packing.partFailure { throw error }
                }
                publish(run)
            }
            group.cancelAll()
            return run
        }
        // A cancelled run looks like a stopped one, but must throw.
        try Task.checkCancellation()
    }

    private func addSync(_ clock: HostClock, _ group: inout ThrowingTaskGroup<Outcome, any Error>) {
        group.addTask { [configuration, folder] in
            guard (try? await clock.sleep(until: clock.now + Self.syncDelay)) != nil else { return .synced(nil) }
            do throws(HLSError) {
                try await DiskThread.run(configuration.loading.clock) { () async throws(HLSError) in
                    try folder.sync()
                }
                return .synced(nil)
            } catch { return .synced(error) }
        }
    }

    private func addDemand(_ news: AsyncStream<Void>, _ group: inout ThrowingTaskGroup<Outcome, any Error>) {
        group.addTask {
            for await _ in news { return .demand }
            return .demandEnded
        }
    }

    /// Ends a run after an error. The stored media of a live stream is kept, because it cannot be loaded again (R42).
    private func end(after error: HLSError, _ run: inout DownloadRun) throws {
        guard !run.isOver else { return }
        if !isStopping, let expired = expired(error, run) { throw expired }
        guard run.beganLive, run.isLive || error.code != .network, folder.journal.hasMedia else { throw error }
        run.result.failure = error
        run.isOver = true
        run.plan.stop()
    }

    /// Ends a run whose requests are all unsuccessful (R74).
    private func checkRequests() throws(HLSError) {
        guard client.retrier.isExhausted else { return }
        throw HLSError(
            code: .network, urlString: configuration.urlString, cause: "too many requests in a row failed")
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }
}

extension HLSError {
    /// Whether the download can skip the segment. A server that refuses, or a lost network, ends the download instead.
    ///
    /// An empty body is not the fault of the network.
    var isSkippable: Bool {
        switch code {
        case .notFound: statusCode.map { ![401, 403, 407].contains($0) } ?? true
        case .badMedia: true
        case .network: loadingError?.code == .emptyBody
        default: false
        }
    }
}
