import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
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
        var hasFailed = false
        /// The plan, or `nil` if segments remain complete.
        var thinning: ThinningPlan?
        var readByteCount = 0
    }

    /// The rate, in bytes per second, above which there is no time to make thin files.
    private static let fastRate = 40e6

    /// The number of bytes after which the system starts to write them to the disk.
    private static let writeBackByteCount: Int64 = 8 << 20

    let plan: Plan
    private let folder: DownloadFolder
    private let writer: Remuxer
    private let state: Mutex<State>
    private let notes: NoteCollector
    private let isAbandoned = Atomic(false)
    private let (news, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameter expected: The segments that will be stored, by lane, or `nil` if all are already stored.
    init(
        _ plan: Plan, as container: Remuxer.Container, in folder: DownloadFolder,
        expected: [String: [DownloadJournal.Segment]]? = nil
    ) throws(HLSError) {
        (self.plan, self.folder) = (plan, folder)
        let notes = NoteCollector()
        self.notes = notes
        try folder.checkPlace()
        let name = folder.nextOutput(ending: plan.format.rawValue)
        let file = try OutputFile(path: folder.url(of: name), overwrite: true, keepsLeftover: false)
        file.writeBackByteCount = Self.writeBackByteCount
        // The output can be written again, so it need not be playable before it is complete.
        writer = Remuxer(
            file: file, container: container, isFragmented: false,
            indexByteCount: container == .mp4 ? Self.indexByteCount(plan, folder.journal, expected: expected) : 0,
            mediaTypes: container.holdsAudioOnly ? [.audio] : [.video, .audio]
        ) { notes.add($0) }
        let assembler = FileAssembler(
            folder, entries: plan.entries, window: plan.window, writer: writer, includesText: container.holdsText,
            hidesLeadIn: container == .mp4, audio: plan.audio, expected: expected)
        // A Matroska cluster spans several seconds and is written at once.
        let thinning = ThinningPlan(plan.thinning, neededCount: container == .mkv ? 3 : 1)
        state = Mutex(State(assembler: assembler, thinning: thinning))
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

    func noteSegment() { sink.yield() }

    func end() { sink.finish() }

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
            for await _ in self.news { self.advance(after: source.now - began) }
            self.advance(after: .zero)
        }
    }

    /// - Parameter elapsed: The time since the first segment could arrive, or zero if no more will.
    private func advance(after elapsed: Duration) {
        state.withLock { state in
            guard !state.hasFailed else { return }
            do {
                while try step(&state, { _ in try self.checkContinuation() }) {}
                if Double(state.readByteCount) < Self.fastRate * (elapsed / .seconds(1)) { thin(&state, isIdle: true) }
            } catch {
                state.hasFailed = !(error is CancellationError)
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
        let end = place
        for file in state.assembler.takeReadFiles() {
            state.readByteCount += file.byteCount
            state.thinning?.notePacked(
                file.name, byteCount: file.byteCount, lane: file.lane, key: file.key, from: start, to: end)
        }
        thin(&state, isIdle: false)
        return true
    }

    private func thin(_ state: inout State, isIdle: Bool) {
        let due = state.thinning?.takeDue(isIdle: isIdle) ?? []
        guard !due.isEmpty else { return }
        do {
            try writer.handOver()
            try folder.keepThin(due)
        } catch {
            // Leave the segments complete. If the disk is full, muxing will report it.
            state.thinning = nil
        }
    }

    private var place: ThinningPlan.Place {
        let (path, offset) = writer.place
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ThinningPlan.Place(output: name, offset: offset)
    }

    // MARK: When all are there

    func fits(_ plan: Plan, _ journal: DownloadJournal) -> Bool {
        state.withLock { !$0.hasFailed && self.plan.isSame(as: plan) && $0.assembler.isComplete(journal) }
    }

    func finish(_ note: @escaping WriterNote, _ progress: (Duration) throws -> Void) throws {
        notes.handOn(to: note)
        try state.withLock { state in
            while try step(&state, progress) {}
            try state.assembler.finish(progress)
        }
    }

    var stem: String {
        let ending = ".\(plan.format.rawValue)"
        let path = writer.paths.first ?? ""
        return path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path
    }
    var paths: [String] { writer.paths }
    var problems: [FileAssembler.Problem] { state.withLock { $0.assembler.problems } }
    var omitted: [String] { state.withLock { $0.assembler.omitted } }
    var length: Duration { state.withLock { $0.assembler.end } }
    var lacksVideo: Bool {
        writer.mediaTypes.contains(.video) && (writer.lacksVideo || state.withLock { $0.assembler.lacksVideo })
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
