import HLSKitEngine
import HLSKitMedia

/// The samples of one kind of media of one lane, in decoding order.
///
/// Samples after the cursor wait for their renderer. Samples before it were read and can be presented again. The store
/// holds one contiguous range of the item, which a seek to another position drops completely. Samples of one track that
/// were loaded consecutively form a run, and a decoder is opened at the start of each run.
///
/// This is a value without locks: the renderer's queue protects it.
struct SampleStore: Sendable {
    enum Element: Sendable {
        /// The samples that follow belong to this track.
        case track(MediaTrack, window: PresentationWindow)
        /// Parameter sets for the track's decoders, if its samples may lack them.
        case parameterSets([UInt8])
        /// `offset` is the offset from timestamps to item time.
        case sample(MediaSample, offset: Duration)
        /// The end, unless more is added. Ends are numbered to match them with reports.
        case end(number: Int)
    }

    enum Item: Sendable {
        case track(RunStart)
        /// Unneeded samples were skipped. Decoding restarts at the sync sample that follows.
        case skipped
        case sample(MediaSample, offset: Duration)
        case end(number: Int)
    }

    struct RunStart: Sendable {
        var track: MediaTrack
        var window: PresentationWindow
        var copied: PresentationWindow
        var parameterSets: [UInt8] = []
        /// The seek that reading continues from, or `nil` if there was none.
        var landing: SeekTarget?
        /// The duration of the run's media before the first sample that is read, in units of the track.
        var skippedTicks: Int64 = 0
        var time = Duration.zero
    }

    private struct Entry {
        /// The sample, or `nil` for the end.
        var sample: MediaSample?
        var offset = Duration.zero
        var endNumber = 0
        var time = Duration.zero
        var end = Duration.zero
        /// The duration of the run's media that was added before this entry.
        var ticksBefore: Int64 = 0

        var byteCount: Int { sample.map { $0.data.count + SampleStore.entryByteCount } ?? 0 }
        var isSync: Bool { sample?.isSync ?? false }
    }

    private struct Run {
        var track: MediaTrack
        var window: PresentationWindow
        var parameterSets: [UInt8] = []
        var first: Int
        /// The start and end of the run's presentation, or `nil` without samples.
        var start: Duration?
        var end: Duration?
        var ticks: Int64 = 0

        func isPresented(after time: Duration) -> Bool { end.map { $0 > time } ?? false }
    }

    /// The lead of audio decoding: codecs overlap frames, and some depend on more of the past.
    private static let audioLead = Duration.milliseconds(120)

    /// The inaccuracy of durations in playlists.
    static let truncationTolerance = Duration.milliseconds(20)

    /// The memory used by a sample in addition to its bytes.
    static let entryByteCount = 512

    /// Whether samples that were read are kept until they are evicted.
    let keepsRead: Bool
    private(set) var landing: SeekTarget?
    /// Whether copies continue from the earlier start of reading. Samples are then never skipped.
    private var keepsCopies = false
    private var copiesFloor: Duration?
    private(set) var byteCount = 0
    private var entries: [Entry] = []
    /// The position before which entries are dropped. Entries before `head` are dropped but not removed yet.
    private var base = 0
    private var head = 0
    private var runs: [Run] = []
    /// The position of the next entry to read. Positions count from the creation of the store.
    private var cursor = 0
    /// The position of the first entry of the run that was last returned.
    private var reportedRun: Int?

    init(keepsRead: Bool, landing: SeekTarget? = nil, copiesFrom: Duration? = nil) {
        self.keepsRead = keepsRead
        self.landing = landing
        keepsCopies = copiesFrom != nil
        copiesFloor = copiesFrom
    }

    private var endPlace: Int { base + entries.count }
    private var firstPlace: Int { base + head }

    var isEmpty: Bool { firstPlace == endPlace }
    var isRead: Bool { cursor == endPlace }
    /// The item times of the earliest and latest media in presentation order, or `nil` if the store is empty.
    var extent: Range<Duration>? {
        let held = entries[head...].filter { $0.sample != nil }
        guard let start = held.map(\.time).min(), let end = held.map(\.end).max(), start <= end else { return nil }
        return start..<end
    }

    // MARK: In

    mutating func append(_ elements: [Element]) {
        for element in elements { append(element) }
    }

    private mutating func append(_ element: Element) {
        removeEnd()
        switch element {
        case .track(let track, let window):
            if runs.last?.first == endPlace { runs.removeLast() }
            runs.append(Run(track: track, window: window, first: endPlace))
        case .parameterSets(let sets):
            if !runs.isEmpty { runs[runs.count - 1].parameterSets = sets }
        case .end(let number): entries.append(Entry(endNumber: number))
        case .sample(let sample, let offset):
            guard let run = runs.last else { return }
            let time = ItemTimeline.duration(sample.pts, run.track.timescale) + offset
            let length = max(.zero, ItemTimeline.duration(sample.duration, run.track.timescale))
            entries.append(
                Entry(sample: sample, offset: offset, time: time, end: time + length, ticksBefore: run.ticks))
            // A frame without a duration is shown for at least a moment.
            let end = max(time + length, time + .nanoseconds(1))
            let shownEnd = min(end, run.window.until ?? end)
            runs[runs.count - 1].start = min(run.start ?? time, time)
            runs[runs.count - 1].end = max(run.end ?? shownEnd, shownEnd)
            runs[runs.count - 1].ticks = run.ticks.addingReportingOverflow(max(0, sample.duration)).partialValue
            byteCount += sample.data.count + Self.entryByteCount
        }
    }

    private mutating func removeEnd() {
        guard let last = entries.last, last.sample == nil, head < entries.count else { return }
        entries.removeLast()
        cursor = min(cursor, endPlace)
    }

    // MARK: Out

    mutating func next() -> Item? {
        let index = cursor - base
        guard index < entries.count else { return nil }
        if case .undecided = landing { return nil }
        if let place = laterSyncPlace {
            let isReported = run(of: cursor).map { $0.first == reportedRun } ?? false
            cursor = place
            if !keepsRead { dropRead() }
            if isReported { return .skipped }
        }
        let entry = entries[cursor - base]
        guard let sample = entry.sample else {
            cursor += 1
            // Keep the entry, because reading reaches it again after a seek.
            return .end(number: entry.endNumber)
        }
        if let run = run(of: cursor), run.first != reportedRun {
            reportedRun = run.first
            return .track(start(of: run, at: entry))
        }
        cursor += 1
        if !keepsRead { dropRead() }
        return .sample(sample, offset: entry.offset)
    }

    /// The longest time by which a frame may follow frames that are shown after it.
    private static let longestReordering = Duration.seconds(1)

    /// The position of a later sync sample that is still before the start of presentation.
    ///
    /// Media that arrives gradually is read before the best sync sample is available.
    private var laterSyncPlace: Int? {
        guard !keepsCopies, let floor = landing?.floor, entries[cursor - base].time < floor, let run = run(of: cursor),
            run.track.mediaType == .video
        else { return nil }
        let end = min(runs.first { $0.first > cursor }?.first ?? endPlace, endPlace)
        var best: Int?
        for place in (cursor + 1)..<max(end, cursor + 1) {
            let entry = entries[place - base]
            if entry.time > floor + Self.longestReordering { break }
            if entry.isSync, entry.time <= floor { best = place }
        }
        return best
    }

    private func start(of run: Run, at entry: Entry) -> RunStart {
        var window = run.window
        if let landing { window.from = landing.floor }
        var copied = window
        if keepsCopies { copied.from = copiesFloor ?? run.window.from }
        return RunStart(
            track: run.track, window: window, copied: copied, parameterSets: run.parameterSets, landing: landing,
            skippedTicks: entry.ticksBefore, time: max(entry.time, window.from ?? entry.time))
    }

    private func run(of place: Int) -> Run? { runs.last { $0.first <= place } }

    /// The number of samples to search for a frame that replaces another.
    private static let lookahead = 32

    /// Whether the last sample read is certainly not shown, because another frame precedes the start of presentation.
    ///
    /// It need not be decoded if no other frame depends on it.
    func isSkipped(_ item: Item) -> Bool {
        guard case .sample(let sample, let offset) = item, let run = run(of: cursor - 1),
            run.track.mediaType == .video, let from = landing.map(\.floor) ?? run.window.from
        else { return false }
        let time = ItemTimeline.duration(sample.pts, run.track.timescale) + offset
        guard time < from, cursor >= base else { return false }
        let end = min(entries.count, cursor - base + Self.lookahead)
        return entries[(cursor - base)..<max(end, cursor - base)].contains { entry in
            entry.sample != nil && entry.time > time && entry.time <= from
        }
    }

    // MARK: Moving

    /// Continues reading so that presentation can start at `landing`.
    ///
    /// - Parameter keepsCopies: Whether copies continue with media before `landing`, which is read but not presented.
    mutating func reposition(to landing: SeekTarget, keepsCopies: Bool = false) {
        let before = self.landing.map { place(for: $0.time) } ?? firstPlace
        if keepsCopies, !self.keepsCopies { copiesFloor = self.landing?.floor }
        self.keepsCopies = keepsCopies
        self.landing = landing
        cursor = place(for: landing.time)
        if keepsCopies { cursor = min(cursor, before) }
        reportedRun = nil
    }

    private func place(for time: Duration) -> Int {
        // Media in two runs is presented from the first of them.
        guard var index = runs.firstIndex(where: { $0.isPresented(after: time) }) ?? runs.indices.last else {
            return firstPlace
        }
        // Frames in transport streams have no duration: the last one is shown until the next run starts.
        if index > 0, runs[index].start.map({ $0 > time }) ?? true, runs[index - 1].end != nil { index -= 1 }
        let run = runs[index]
        let from = run.track.mediaType == .audio ? time - Self.audioLead : time
        let first = max(run.first, firstPlace)
        let end = index + 1 < runs.count ? runs[index + 1].first : endPlace
        guard first < end else { return firstPlace }
        var best: Int?
        for place in first..<end where entries[place - base].isSync {
            if entries[place - base].time > from, best != nil { break }
            best = place
            if entries[place - base].time > from { break }
        }
        return best ?? first
    }

    // MARK: Dropping

    /// Drops read media that is not needed to present media from `time` on.
    mutating func evict(before time: Duration) {
        drop(upTo: min(place(for: time), cursor))
    }

    /// Drops unread media presented from `time` on. Media added next replaces it.
    mutating func truncate(from time: Duration) {
        removeEnd()
        let from = time - Self.truncationTolerance
        guard let index = entries.indices.first(where: { base + $0 >= cursor && entries[$0].time >= from }) else {
            return
        }
        for entry in entries[index...] { byteCount -= entry.byteCount }
        entries.removeSubrange(index...)
        let place = endPlace
        runs.removeAll { $0.first >= place }
        if let reported = reportedRun, reported >= place { reportedRun = nil }
        guard let last = runs.indices.last else { return }
        let rest = entries[max(0, runs[last].first - base)...]
        if let end = rest.map(\.end).max() { runs[last].end = runs[last].end.map { min($0, max(end, time)) } }
    }

    /// Returns the time of the frame `count` frames after the one shown at `time`, or `nil` if it is not held.
    ///
    /// A negative count steps backwards.
    func time(stepping count: Int, from time: Duration) -> Duration? {
        let times = entries[head...].filter { $0.sample != nil }.map(\.time).sorted()
        guard let shown = times.lastIndex(where: { $0 <= time }) else { return nil }
        let (index, overflow) = shown.addingReportingOverflow(count)
        return !overflow && times.indices.contains(index) ? times[index] : nil
    }

    /// Drops all media. Presentation restarts at `landing` with the media added next.
    mutating func removeAll(landing: SeekTarget?) {
        base = endPlace
        cursor = base
        head = 0
        entries = []
        runs = []
        byteCount = 0
        reportedRun = nil
        keepsCopies = false
        self.landing = landing
    }

    private mutating func dropRead() {
        // The cursor is never past an unread end, so an end stays for a seek to reach again.
        drop(upTo: cursor)
    }

    private mutating func drop(upTo place: Int) {
        while firstPlace < place, head < entries.count {
            byteCount -= entries[head].byteCount
            entries[head] = Entry()  // release the sample
            head += 1
        }
        guard head >= 512 || head == entries.count else { return }
        entries.removeFirst(head)
        base += head
        head = 0
        while runs.count > 1, runs[1].first <= base { runs.removeFirst() }
    }
}
