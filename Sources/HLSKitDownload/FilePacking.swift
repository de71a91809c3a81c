import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitSelection
import HLSKitTime
import Synchronization

/// Writes the file of a download with ``FileAssembler``, at once or while segments arrive, on a separate thread.
///
/// Early muxing is useful only if all segments arrive as expected. A segment that is finally missing, or comes from
/// another variant, affects the media before and after it. Call ``fits(_:_:_:)`` to find out, and start again if it
/// returns `false`.
final class FilePacking: Sendable {
    struct Plan: Sendable {
        var entries: [DownloadSelection.Entry]
        var window: TimeWindow
        var format: OutputFormat
        var audio: DownloadConfiguration.Choice
        fileprivate let thinning: ThinningPlan.Limits

        init(
            _ loaded: [DownloadSelection.Entry], _ window: TimeWindow, _ format: OutputFormat,
            _ configuration: DownloadConfiguration
        ) {
            entries = loaded.filter { !$0.lane.isAuxiliary }
            self.window = window
            self.format = format
            thinning = configuration.thinning
            // Renditions that a playlist names were already selected by this choice.
            audio = entries.contains(where: \.hasChosenAudio) ? .automatic : configuration.audio
        }

        fileprivate func isSame(as other: Plan) -> Bool {
            entries.map(\.lane) == other.entries.map(\.lane) && entries.map(\.wanted) == other.entries.map(\.wanted)
                && window == other.window && format == other.format && audio == other.audio
        }
    }

    private struct State {
        var assembler: FileAssembler
        var failure: (any Error)?
        var isFinished = false
        /// The plan, or `nil` if segments remain complete.
        var thinning: ThinningPlan?
        var readByteCount = 0
        /// The segments that were read and may still be needed after a crash.
        var read: [FileAssembler.ReadFile] = []
        /// The time before which all media is in finished files.
        var settled: Duration?
    }

    /// The rate, in bytes per second, above which there is no time to make thin files.
    private static let fastRate = 40e6

    /// The time by which the media of a segment may be later than listed.
    private static let settlingMargin = Duration.seconds(5)

    /// The number of bytes after which the system starts to write them to the disk.
    private static let writeBackByteCount: Int64 = 8 << 20

    let plan: Plan
    private let folder: DownloadFolder
    private let output: Output
    private let isLive: Bool
    private let state: Mutex<State>
    private let notes: NoteCollector
    private let isAbandoned = Atomic(false)
    private let news = Mutex(News())

    private enum Output: Sendable {
        case file(Remuxer)
        case parts(SplitWriter)
    }

    private struct News: Sendable {
        let stream: AsyncStream<Void>
        let sink: AsyncStream<Void>.Continuation

        init() { (stream, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }
    }

    /// - Parameters:
    ///   - expected: The segments that will be stored, by lane, or `nil` if all are already stored.
    ///   - laterAudio: The ``lateAudio`` of an earlier attempt.
    init(
        _ plan: Plan, as container: Remuxer.Container, in folder: DownloadFolder,
        expected: [String: [DownloadJournal.Segment]]? = nil, laterAudio: [FileAssembler.LateAudio] = []
    ) throws(HLSError) {
        (self.plan, self.folder, isLive) = (plan, folder, false)
        let notes = NoteCollector()
        self.notes = notes
        try folder.checkPlace()
        let name = folder.nextOutput(ending: plan.format.rawValue)
        let file = try OutputFile(path: folder.url(of: name), overwrite: true, keepsLeftover: false)
        file.writeBackByteCount = Self.writeBackByteCount
        // The output can be written again, so it need not be playable before it is complete.
        let writer = Remuxer(
            file: file, container: container, isFragmented: false,
            indexByteCount: container == .mp4 ? Self.indexByteCount(plan, folder.journal, expected: expected) : 0,
            mediaTypes: container.holdsAudioOnly ? [.audio] : [.video, .audio]
        ) { notes.add($0) }
        output = .file(writer)
        let assembler = FileAssembler(
            folder, entries: plan.entries, window: plan.window, writer: writer, includesText: container.holdsText,
            hidesLeadIn: container == .mp4, audio: plan.audio, laterAudio: laterAudio, expected: expected)
        // A Matroska cluster spans several seconds and is written at once.
        let thinning = ThinningPlan(plan.thinning, neededCount: container == .mkv ? 3 : 1)
        state = Mutex(State(assembler: assembler, thinning: thinning))
    }

    /// Writes numbered files instead of one file in the folder.
    ///
    /// - Parameter isOpen: Whether segments are listed as they arrive.
    init(
        _ plan: Plan, as container: Remuxer.Container, parts: DownloadParts, in folder: DownloadFolder, isOpen: Bool
    ) throws(HLSError) {
        (self.plan, self.folder, isLive) = (plan, folder, isOpen)
        let notes = NoteCollector()
        self.notes = notes
        try folder.checkPlace()
        // Only the last file would know which chapters are its own.
        let metadata = folder.journal.metadata.withoutChapters
        let room = Self.indexByteCount(of: parts.limit, plan)
        let writer = try SplitWriter(parts.limit) { number throws(HLSError) in
            let file = try OutputFile(path: try parts.path(number), overwrite: parts.overwrite)
            if let kept = file.keptPath { notes.add(OutputFormat.leftoverNote(kept)) }
            let remuxer = Remuxer(
                file: file, container: container, isFragmented: false, indexByteCount: container == .mp4 ? room : 0,
                mediaTypes: container.holdsAudioOnly ? [.audio] : [.video, .audio]
            ) { notes.add($0) }
            return SplitWriter.Part(remuxer, clip: ClipWriter(remuxer, metadata: metadata))
        }
        output = .parts(writer)
        let assembler = FileAssembler(
            folder, entries: plan.entries, window: plan.window, writer: writer, includesText: container.holdsText,
            audio: plan.audio, isOpen: isOpen)
        state = Mutex(State(assembler: assembler))
    }

    /// The usual maximum size of the index of a file of this length, up to an hour. A larger index, and the index of a
    /// file of a given size, follow the media.
    private static func indexByteCount(of limit: SplitWriter.Limit, _ plan: Plan) -> Int64 {
        guard case .duration(let length) = limit, let length = length.duration else { return 0 }
        let seconds = max(1, min(length / .seconds(1), 3600))
        return plan.entries.reduce(16 << 10) { sum, entry in
            sum + Int64(seconds) * (entry.lane.kind == .main ? 3 << 9 : 1 << 9)
        }
    }

    /// The usual maximum size of a file's index, at some bytes for each sample. If it is too small, the index follows
    /// the media. If it is too large, the rest is a hole in the file.
    private static func indexByteCount(
        _ plan: Plan, _ journal: DownloadJournal, expected: [String: [DownloadJournal.Segment]]?
    ) -> Int64 {
        return plan.entries.reduce(16 << 10) { sum, entry in
            let perSecond: Int64 = entry.lane.kind == .main ? 3 << 9 : 1 << 9
            let segments = expected?[entry.lane.id] ?? journal.segments(of: entry.lane.id)
            return sum + perSecond * segments.reduce(0) { $0 + max(0, min($1.duration, 600_000_000)) / 1000 } / 1000
        }
    }

    // MARK: While segments come

    func noteSegment() { news.withLock { $0.sink }.yield() }

    func end() { news.withLock { $0.sink }.finish() }

    /// Prepares another run after ``end()``.
    func reopen() { news.withLock { $0 = News() } }

    /// Whether the files are not in the folder.
    var writesParts: Bool { if case .parts = output { true } else { false } }

    /// The error that ends the run, because the files cannot be written.
    var partFailure: (any Error)? { writesParts ? state.withLock { $0.failure } : nil }

    /// - Parameter lead: The ``TimeWindow/lead`` of the run's window.
    func list(_ segments: [DownloadJournal.Segment], of lane: String, from lead: Duration?, isComplete: Bool) {
        guard isLive else { return }
        state.withLock { state in
            state.assembler.begin(at: lead)
            state.assembler.list(segments, of: lane, isComplete: isComplete)
        }
        noteSegment()
    }

    func remove(_ position: SegmentPosition, of lane: String) {
        guard isLive else { return }
        state.withLock { $0.assembler.remove(position, of: lane) }
        noteSegment()
    }

    /// Makes ``run(on:)`` end as soon as possible, because the file is no longer wanted.
    func abandon() {
        isAbandoned.store(true, ordering: .relaxed)
        end()
    }

    /// Muxes the stored segments as they arrive, until ``end()`` is called or the task is cancelled. Errors are ignored
    /// here because writing the file will find them again.
    func run(on clock: any Clock<Duration>) async {
        let source = SourceClock(clock)
        let began = source.now
        await DiskThread.run(clock) {
            self.advance(after: .zero)
            for await _ in self.news.withLock({ $0.stream }) { self.advance(after: source.now - began) }
            self.advance(after: .zero)
        }
    }

    /// - Parameter elapsed: The time since the first segment could arrive, or zero if no more will.
    private func advance(after elapsed: Duration) {
        state.withLock { state in
            guard state.failure == nil else { return }
            do {
                while try step(&state, { _ in try self.checkContinuation() }) {}
                if Double(state.readByteCount) < Self.fastRate * (elapsed / .seconds(1)) { thin(&state, isIdle: true) }
            } catch {
                state.failure = error is CancellationError ? nil : error
            }
        }
    }

    private func checkContinuation() throws {
        if isAbandoned.load(ordering: .relaxed) { throw CancellationError() }
        try Task.checkCancellation()
    }

    private func step(_ state: inout State, _ progress: (Duration) throws -> Void) throws -> Bool {
        let start = place
        guard try state.assembler.step(progress) else { return false }
        guard let start, let end = place else {
            removeSettled(&state)
            return true
        }
        for file in state.assembler.takeReadFiles() {
            state.readByteCount += file.byteCount
            state.thinning?.notePacked(
                file.name, byteCount: file.byteCount, lane: file.lane, key: file.key, from: start, to: end)
        }
        thin(&state, isIdle: false)
        return true
    }

    /// Removes the segments of a live stream that are in finished files.
    private func removeSettled(_ state: inout State) {
        guard case .parts(let writer) = output, isLive else { return }
        state.read += state.assembler.takeReadFiles()
        guard let settled = writer.settledTime?.duration, settled != state.settled else { return }
        state.settled = settled
        let end = settled + state.assembler.zero - Self.settlingMargin
        // Maps and keys may be needed by later segments.
        for file in state.read where file.end <= end { folder.discard(file.name) }
        state.read.removeAll { $0.end <= end }
    }

    private func thin(_ state: inout State, isIdle: Bool) {
        let due = state.thinning?.takeDue(isIdle: isIdle) ?? []
        guard !due.isEmpty, case .file(let writer) = output else { return }
        do {
            try writer.handOver()
            try folder.keepThin(due)
        } catch {
            // Leave the segments complete. If the disk is full, muxing will report it.
            state.thinning = nil
        }
    }

    private var place: ThinningPlan.Place? {
        guard case .file(let writer) = output else { return nil }
        let (path, offset) = writer.place
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ThinningPlan.Place(output: name, offset: offset)
    }

    // MARK: When all are there

    func fits(_ plan: Plan, _ journal: DownloadJournal) -> Bool {
        state.withLock { state in
            state.failure == nil && self.plan.isSame(as: plan) && state.assembler.isComplete(journal)
                && state.assembler.lateAudio.isEmpty
        }
    }

    /// The audio tracks that the file lacks because they begin after the others. If the file is written again, it can
    /// contain them.
    var lateAudio: [FileAssembler.LateAudio] { state.withLock { $0.assembler.lateAudio } }

    /// Passes on the notes so far, and the later ones.
    func handOn(to note: @escaping WriterNote) { notes.handOn(to: note) }

    func finish(_ progress: (Duration) throws -> Void) throws {
        try state.withLock { state in
            if writesParts, let error = state.failure { throw error }
            guard !state.isFinished else { return }
            state.isFinished = true
            state.assembler.close()
            while try step(&state, progress) {}
            try state.assembler.finish(progress)
        }
    }

    var stem: String {
        let ending = ".\(plan.format.rawValue)"
        let path = paths.first ?? ""
        return path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path
    }
    var paths: [String] {
        switch output {
        case .file(let writer): writer.paths
        case .parts(let writer): writer.finishedPaths
        }
    }
    var problems: [FileAssembler.Problem] { state.withLock { $0.assembler.problems } }
    /// The ranges of item time whose audio is missing although all segments were loaded.
    var holes: [Range<Duration>] { state.withLock { $0.assembler.holes } }
    var omitted: [String] {
        state.withLock { $0.assembler.omitted + $0.assembler.lateAudio.map(\.note) }
    }
    var pictureSize: PixelSize? { state.withLock { $0.assembler.pictureSize } }
    var length: Duration { state.withLock { $0.assembler.end } }
    var lacksVideo: Bool {
        let isAbsent = state.withLock { $0.assembler.lacksVideo }
        return switch output {
        case .file(let writer): writer.mediaTypes.contains(.video) && (writer.lacksVideo || isAbsent)
        case .parts(let writer): writer.mediaTypes.contains(.video) && isAbsent
        }
    }
}

private final class NoteCollector: Sendable {
    private struct State {
        var texts: [String] = []
        var receiver: WriterNote?
    }

    private let state = Mutex(State())

    func add(_ text: String) {
        let receiver = state.withLock { state in
            if state.receiver == nil { state.texts.append(text) }
            return state.receiver
        }
        receiver?(text)
    }

    func handOn(to receiver: @escaping WriterNote) {
        let texts = state.withLock { state in
            state.receiver = receiver
            defer { state.texts = [] }
            return state.texts
        }
        for text in texts { receiver(text) }
    }
}

extension Remuxer.Container {
    var holdsText: Bool { self == .mp4 || self == .mkv }

    /// - Returns: `nil` for a format that downloads do not support.
    init?(_ format: OutputFormat) {
        switch format {
        case .ts: self = .ts
        case .mp4: self = .mp4
        case .mkv: self = .mkv
        case .aac: self = .adts
        case .mp3: self = .mp3
        default: return nil
        }
    }
}
