import HLSKitLoading
import HLSKitMedia
import HLSKitOutput
import HLSKitTime
import Synchronization

/// Makes the file of a download, as ``FileAssembler`` says: at once, or while the segments come, on a thread of its own.
///
/// What is made before all is there is of use only if all comes as it was expected: a segment that is missing in the end, or
/// was taken of another variant later, changes what is before and behind it. Whoever wants the file asks by
/// ``fits(_:_:_:)``, and makes it anew otherwise.
final class FilePacking: Sendable {
    /// What a file is made of.
    struct Plan: Sendable {
        /// The playlists that go into the file, the variant's first.
        var entries: [DownloadSelection.Entry]
        /// The item times that are wanted.
        var window: TimeWindow
        var format: OutputFormat
        var audio: DownloadConfiguration.Choice
        fileprivate let thinning: ThinningPlan.Limits

        /// - Parameter loaded: what a run has loaded, the variant first.
        init(
            _ loaded: [DownloadSelection.Entry], _ window: TimeWindow, _ format: OutputFormat,
            _ configuration: DownloadConfiguration
        ) {
            entries = loaded.filter { !$0.lane.isAuxiliary }
            self.window = window
            self.format = format
            thinning = configuration.thinning
            // Renditions of a playlist were chosen by this already.
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
        /// nil where segments stay as they are.
        var thinning: ThinningPlan?
        var readByteCount = 0
    }

    /// Segments that come faster than this (in bytes a second) leave no time to look for what is in the file as well.
    private static let fastRate = 40e6

    /// The system begins to write so much of the file at a time.
    private static let writeBackByteCount: Int64 = 8 << 20

    let plan: Plan
    private let folder: DownloadFolder
    private let writer: Remuxer
    private let state: Mutex<State>
    private let notes: NoteCollector
    private let isAbandoned = Atomic(false)
    private let (news, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - container: of the plan's format.
    ///   - expected: by lanes, the segments that will be there; nil where no more will be there than is.
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
        // What is written can be written again: it need not play before it is whole.
        writer = Remuxer(
            file: file, container: container, isFragmented: false,
            indexByteCount: container == .mp4 ? Self.indexByteCount(plan, folder.journal, expected: expected) : 0,
            mediaTypes: container.holdsAudioOnly ? [.audio] : [.video, .audio]
        ) { notes.add($0) }
        let assembler = FileAssembler(
            folder, entries: plan.entries, window: plan.window, writer: writer, includesText: container.holdsText,
            audio: plan.audio, expected: expected)
        // A cluster of Matroska has some seconds, and is written whole.
        let thinning = ThinningPlan(plan.thinning, neededCount: container == .mkv ? 3 : 1)
        state = Mutex(State(assembler: assembler, thinning: thinning))
    }

    /// What the index of a file has at the most, as a rule: some bytes for each sample. Room that is too small puts it behind the
    /// media; room that is left over is a hole on the disk.
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

    /// Another segment is there.
    func noteSegment() { sink.yield() }

    /// No more segments come.
    func end() { sink.finish() }

    /// Nothing more is wanted of it: ``run(on:)`` ends as soon as it can.
    func abandon() {
        isAbandoned.store(true, ordering: .relaxed)
        end()
    }

    /// Packs what is there whenever there is more of it, until ``end()``, or until its task is cancelled. What goes wrong is
    /// found out again by whoever makes the file.
    func run(on clock: any Clock<Duration>) async {
        let source = SourceClock(clock)
        let began = source.now
        await DiskThread.run(clock) {
            self.advance(after: .zero)
            for await _ in self.news { self.advance(after: source.now - began) }
            self.advance(after: .zero)
        }
    }

    /// - Parameter elapsed: since the first segment could come; zero where no more will.
    private func advance(after elapsed: Duration) {
        state.withLock { state in
            guard !state.hasFailed else { return }
            do {
                while try step(&state, { _ in try self.checkGoesOn() }) {}
                if Double(state.readByteCount) < Self.fastRate * (elapsed / .seconds(1)) { thin(&state, isIdle: true) }
            } catch {
                state.hasFailed = !(error is CancellationError)
            }
        }
    }

    private func checkGoesOn() throws {
        if isAbandoned.load(ordering: .relaxed) { throw CancellationError() }
        try Task.checkCancellation()
    }

    /// Packs one more segment, if it is there, and sees that not too much stands on the disk twice.
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
            // They stay as they are; if that is because the disk is full, packing finds it out as well.
            state.thinning = nil
        }
    }

    /// Where the file is that is being written.
    private var place: ThinningPlan.Place {
        let (path, offset) = writer.place
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return ThinningPlan.Place(output: name, offset: offset)
    }

    // MARK: When all are there

    /// Whether it can be gone on with.
    func fits(_ plan: Plan, _ journal: DownloadJournal) -> Bool {
        state.withLock { !$0.hasFailed && self.plan.isSame(as: plan) && $0.assembler.isComplete(journal) }
    }

    /// Packs the rest.
    ///
    /// - Parameters:
    ///   - note: receives what had to be changed so that the media fits the format.
    ///   - progress: is told the item time that was reached; throws to end early.
    func finish(_ note: @escaping WriterNote, _ progress: (Duration) throws -> Void) throws {
        notes.handOn(to: note)
        try state.withLock { state in
            while try step(&state, progress) {}
            try state.assembler.finish(progress)
        }
    }

    /// The path of the first file, without its ending.
    var stem: String {
        let ending = ".\(plan.format.rawValue)"
        let path = writer.paths.first ?? ""
        return path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path
    }
    /// The files that were begun, the first the one that was asked for.
    var paths: [String] { writer.paths }
    var problems: [FileAssembler.Problem] { state.withLock { $0.assembler.problems } }
    var leftOut: [String] { state.withLock { $0.assembler.leftOut } }
    /// From the start of the file to the end of its last sample.
    var length: Duration { state.withLock { $0.assembler.end } }
}

/// Keeps what a writer has to say until somebody wants to know.
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
    /// Subtitles can be in it.
    var holdsText: Bool { self == .mp4 || self == .mkv }

    /// - Returns: nil for a format that is none of a download.
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
