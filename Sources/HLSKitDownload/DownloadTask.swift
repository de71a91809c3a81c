public import HLSKitAsset
public import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import Synchronization

/// Downloads a stream into a folder, several segments at a time, and continues where an earlier run was interrupted.
///
/// ```swift
/// let task = try await DownloadTask(DownloadConfiguration(urlString: "https://example.com/film.m3u8"), folder: "film.download")
/// let result = try await task.run()
/// try await task.write(to: "film.mp4", format: .mp4)
/// await task.removeFolder()
/// ```
///
/// ``resume()`` runs it in the background, ``events()`` tells how it goes, and ``makePlayerItem()`` plays it meanwhile.
///
/// Everything that touches the disk does so on a thread of its own, not on the pool that tasks share.
///
/// All that is in the folder is written through to the disk piece by piece, and a journal records each piece; so a run that
/// is interrupted at any moment, by whatever, loses only the segments that were on their way. The next run looks all of
/// it through, checksums too, and loads what is missing. Segments are known again by their media sequence numbers: it
/// does not matter if the query of the URL has changed meanwhile. Live streams are followed until they end.
///
/// See S01 and S02 in docs/behaviour/features.md.
public final class DownloadTask: Sendable {
    /// How a run went that came to its end.
    public struct Result: Sendable {
        /// Segments that are not there, in the order in which that was found out.
        public var gaps: [DownloadGap] = []
        /// The segments of all gaps.
        public var missingSegmentCount: Int { gaps.reduce(0) { $0 + $1.segmentCount } }
        /// Segments that are there.
        public var segmentCount = 0
        /// The media time of the variant's segments that are there, by the playlist.
        public var duration = Duration.zero
        /// Segments of an earlier run that were used, and those of it that were damaged.
        public var resumedSegmentCount = 0
        /// Segments of an earlier run that were damaged and had to be loaded again.
        public var damagedSegmentCount = 0
        /// Segments that were taken of another variant or of another group's rendition, because the chosen one did not have
        /// them.
        public var substitutedSegmentCount = 0
        /// Interstitials that the variant's playlist schedules. They are not downloaded.
        public var numberOfInterstitials = 0
        /// Why a live stream was not followed any longer, unless the caller stopped it.
        public var failure: HLSError?

        /// Makes the result of a run that loaded nothing.
        package init() {}
    }

    private struct State {
        var progress = DownloadProgress()
        /// The URL that was given last.
        var url: String?
        var isStopping = false
        /// Receives the stop signal.
        var stopping: AsyncStream<Void>.Continuation?
        var entries: [DownloadSelection.Entry] = []
        var window = TimeWindow()
        /// The file that is being packed while its segments are loaded.
        var packing: FilePacking?
    }

    let configuration: DownloadConfiguration
    let folder: DownloadFolder
    let client: ResourceClient
    /// The stream, for playing it while it is downloaded: media that is in the folder is read from there, and what a run of
    /// the download is going to load is waited for, and loaded before the rest, so that nothing is asked for twice. Playlists,
    /// and what is not downloaded, come from the network. While no run is under way, all that is not stored does, and is not
    /// stored then.
    ///
    /// ``makePlayerItem()`` makes an item of it that plays the variant which is downloaded. A download that is complete
    /// plays without network by the playlists of ``writePlaylists()``.
    public let asset: Asset
    let downloaded: DownloadedMedia
    let demand = DownloadDemand()
    let background = BackgroundRun<Result>()
    let notices: DownloadNotices
    let tally = DownloadTally()
    private let state: Mutex<State>

    /// Makes the folder, or takes up what an earlier run has left there. Loads nothing.
    ///
    /// - Throws: ``HLSError`` where the folder cannot be written, is of something else, or is in use.
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
        // A media file is loaded as the segments that it can be cut into.
        var loading = configuration.loading
        loading.transport = tally.transport(over: loading.transport)
        // What comes from the cache is in the folder of the download afterwards: once on disk is enough.
        client = ResourceClient(
            url: configuration.urlString, options: loading, opensFiles: true, storesOnDisk: false)
    }

    /// Nothing is stored that another run could use.
    public var isEmpty: Bool { !folder.journal.hasMedia }

    /// How long what is on its way may take once nothing more is wanted (R71).
    private static let stopLimit = Duration.seconds(1)

    /// Size and bit rate of the variant that is stored first, as its playlist declares them; nil where it does not, and
    /// before it was chosen.
    package var storedVariant: (size: PixelSize?, bandwidth: Int?) {
        let (entries, _) = loaded
        let lanes = entries.map(\.lane).filter { $0.kind == .main }
        guard let lane = lanes.first(where: { !$0.isAuxiliary }) ?? lanes.first else { return (nil, nil) }
        let size = lane.size.map { PixelSize(width: $0.width, height: $0.height) }
        return (size, lane.bandwidth > 0 ? lane.bandwidth : nil)
    }

    /// How far it is; before the first run, what an earlier process has left. Changes all the time; look at it as often as
    /// it is shown.
    public var progress: DownloadProgress { state.withLock { $0.progress } }

    /// Loads no more segments of a live stream than those that are on their way and come within a second; ``run()`` then
    /// ends as if the stream had ended. Of other streams, what is not on its way is missing in the result. Holds for the run
    /// that is under way, else for the next.
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
    public func removeFolder() async {
        downloaded.removeAll()
        takePacking()?.end()
        await DiskThread.run(configuration.loading.clock) { self.folder.remove() }
    }

    /// Gives the folder another name, where it is to stay as it is: the journal goes, and nothing can be resumed.
    /// Segments of other variants that earlier runs have loaded go too.
    public func moveFolder(to path: String) async throws(HLSError) {
        try await DiskThread.run(configuration.loading.clock) { () async throws(HLSError) in
            let (entries, _) = self.loaded
            if !entries.isEmpty { self.folder.removeLanes(except: Set(entries.map(\.lane.id))) }
            try self.folder.move(to: path)
        }
    }

    // MARK: Running

    /// Loads what is missing. May be called again after a failure.
    ///
    /// A task has one run at a time: while one is under way, of ``resume()`` or of another caller, this waits for it and has its
    /// result; cancelling the caller's task then ends the wait alone.
    ///
    /// - Throws: ``HLSError`` if something that is needed cannot be loaded: what was loaded stays, and another run
    ///   continues from there, and also where it cannot be stored; with ``HLSError/Code/cancelled`` when its task is cancelled.
    public func run() async throws(HLSError) -> Result {
        try await HLSError.typed { try await background.run { try await runOnce() } }
    }

    /// The run that is under way.
    func runOnce() async throws(HLSError) -> Result {
        notices.begin(with: storedProgress)
        tally.reset()
        defer { state.withLock { ($0.isStopping, $0.stopping) = (false, nil) } }
        let clock = HostClock(configuration.loading.clock)
        do {
            let result = try await DiskThread.run(configuration.loading.clock) {
                do {
                    let result = try await self.loadAll()
                    // What is about to be packed will be on the disk as the file.
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
        // Who plays it waits from now on.
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
                    // A fresh URL that brought nothing is no better than none.
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

    /// The URL of the stream: a fresh one where that which was given has run out.
    var currentURL: String { state.withLock(\.url) ?? configuration.urlString }

    /// Loads what is not stored.
    ///
    /// - Parameters:
    ///   - news: has an element where players wait for something.
    ///   - before: how it went until the URL ran out.
    /// - Throws: also ``ExpiredDownload``.
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
        keep(run.followed.map { run.lanes[$0].entry }, run.window)
        update { $0.phase = .loading }
        try takeUp(clock, &run)
        if let before { run.result.resumedSegmentCount = before.resumedSegmentCount }
        try await loadAndPack(clock, news, &run)
        run.result.numberOfInterstitials = run.numberOfInterstitials
        let result = counted(run.result, of: run.followed.map { run.lanes[$0].entry.lane })
        // Where all is missing, that is no download.
        if result.segmentCount == 0, let error = run.firstLoss { throw error }
        return result
    }

    /// A file that cannot be made of what the playlist declares is known before anything is loaded: a format that holds one
    /// form of audio, and no stream of that.
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

    /// The playlists of what is downloaded.
    private func opened(_ clock: HostClock) async throws -> DownloadRun {
        var (selection, first) = try await open()
        var run = DownloadRun(
            plan: DownloadPlan(capacity: configuration.connectionCount),
            alternates: DownloadAlternates(selection, policies: configuration.loading.retryPolicies),
            result: Result(), keys: configuration.keepsEncryption ? nil : KeyRules(configuration.loading.hooks),
            started: clock.now)
        try await openLanes(&selection, first: first, clock, &run)
        return run
    }

    /// Notes what is loaded, for what is written.
    func keep(_ entries: [DownloadSelection.Entry], _ window: TimeWindow) {
        state.withLock { ($0.entries, $0.window) = (entries, window) }
    }

    /// Completes a result with what is there of these lanes, the variant's first.
    func counted(_ result: Result, of lanes: [DownloadJournal.Lane]) -> Result {
        var result = result
        let journal = folder.journal
        for (index, lane) in lanes.enumerated() {
            for segment in journal.segments(of: lane.id) where segment.file != nil {
                result.segmentCount += 1
                if segment.variant != nil { result.substitutedSegmentCount += 1 }
                if index == 0 { result.duration += .microseconds(segment.duration) }
            }
        }
        return result
    }

    /// What the last run has loaded, the variant first, and the item times that were wanted.
    var loaded: (entries: [DownloadSelection.Entry], window: TimeWindow) {
        state.withLock { ($0.entries, $0.window) }
    }

    func update(_ body: (inout DownloadProgress) -> Void) {
        state.withLock { body(&$0.progress) }
    }

    func setPacking(_ packing: FilePacking) { state.withLock { $0.packing = packing } }

    func takePacking() -> FilePacking? {
        state.withLock { state in
            defer { state.packing = nil }
            return state.packing
        }
    }

    // MARK: Loading

    /// What can be had again, and has come, is on the disk after this time: the most that a power cut costs besides.
    private static let syncDelay = Duration.seconds(1)

    enum Outcome: Sendable {
        case resource(ResourceID, lane: Int, Swift.Result<DownloadJournal.File, any Error>)
        case segment(DownloadPlan.ItemID, Swift.Result<DownloadLoader.Loaded, any Error>)
        case playlist(Reload)
        case alternate(DownloadAlternates.Wish, began: Duration, Swift.Result<MediaPlaylist, any Error>)
        /// Players wait for something.
        case demand
        /// None will any more.
        case demandEnded
        /// Nothing more is wanted of a live stream.
        case stop
        /// What was on its way then has had its time.
        case deadline
        /// What had come is on the disk.
        case synced(HLSError?)
    }

    var loader: DownloadLoader {
        DownloadLoader(client: client, folder: folder) { [self] count in
            update { $0.receivedByteCount += count }
        }
    }

    func load(_ clock: HostClock, _ news: AsyncStream<Void>, _ run: inout DownloadRun) async throws {
        let stops = stopRequests()
        // The group's closure may throw with `run` half changed: it is handed back whole.
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
                for wish in run.alternates.takeWaiting() { open(wish, clock, &run, &group) }
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
                    case .alternate(let wish, let began, let result):
                        try take(result, of: wish, began: began, clock, &run)
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
                if case .segment = outcome { state.withLock(\.packing)?.noteSegment() }
                publish(run)
            }
            group.cancelAll()
            return run
        }
        // A run that was cancelled has not come to its end, though it also looks like one that was stopped.
        try Task.checkCancellation()
    }

    /// Writes through what has come, in a while, and on a thread of its own.
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

    /// Waits until players wait for something.
    private func addDemand(_ news: AsyncStream<Void>, _ group: inout ThrowingTaskGroup<Outcome, any Error>) {
        group.addTask {
            for await _ in news { return .demand }
            return .demandEnded
        }
    }

    /// What there is of a live stream is kept, whatever ends it: it cannot be had again (R42).
    private func end(after error: HLSError, _ run: inout DownloadRun) throws {
        guard !run.isOver else { return }
        if !isStopping, let expired = expired(error, run) { throw expired }
        guard run.beganLive, run.isLive || error.code != .network, folder.journal.hasMedia else { throw error }
        run.result.failure = error
        run.isOver = true
        run.plan.stop()
    }

    /// Ends a run whose requests bring nothing (R74).
    private func checkRequests() throws(HLSError) {
        guard client.retrier.isExhausted else { return }
        throw HLSError(
            code: .network, urlString: configuration.urlString, cause: "too many requests in a row failed")
    }

    private var isStopping: Bool { state.withLock { $0.isStopping } }
}

extension HLSError {
    /// One segment that is not there ends no download; a server that refuses, or a network that is gone, does.
    var mayBeSkipped: Bool {
        switch code {
        case .notFound: statusCode.map { ![401, 403, 407].contains($0) } ?? true
        case .badMedia: true
        default: false
        }
    }
}
