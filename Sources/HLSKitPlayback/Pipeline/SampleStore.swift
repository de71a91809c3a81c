import HLSKitEngine
import HLSKitMedia

/// The samples of one kind of media of one lane, in decoding order: those that wait for their renderer, and behind its
/// cursor those that were read already and can be presented once more.
///
/// Holds one contiguous stretch of the item: what a seek leaves behind is dropped as a whole. Samples of one track that
/// were loaded in one go are a run; a decoder is opened at the start of each.
///
/// A value without locks: the renderer's queue.
struct SampleStore: Sendable {
    /// What is put in.
    enum Element: Sendable {
        /// The samples that follow are of this track.
        case track(MediaTrack, window: PresentationWindow)
        /// What decoders of that track have to know, where its samples may not tell.
        case parameterSets([UInt8])
        /// `offset` is what is added to the timestamps to get item time.
        case sample(MediaSample, offset: Duration)
        /// Nothing follows, unless more is put in. Ends are numbered, so that reports of one are known by it.
        case end(number: Int)
    }

    /// What is read.
    enum Item: Sendable {
        case track(RunStart)
        /// Samples were left away that nothing needs: decoding begins anew with the sync sample that follows.
        case skipped
        case sample(MediaSample, offset: Duration)
        case end(number: Int)
    }

    /// Where reading comes to a run.
    struct RunStart: Sendable {
        var track: MediaTrack
        var window: PresentationWindow
        /// That of outputs which take samples undecoded.
        var copied: PresentationWindow
        var parameterSets: [UInt8] = []
        /// The seek that reading goes on from; nil where there was none.
        var landing: Landing?
        /// Media of the run before its first sample that is read, in units of the track.
        var skippedTicks: Int64 = 0
        /// What is presented of it begins here.
        var time = Duration.zero
    }

    private struct Entry {
        /// nil for the end.
        var sample: MediaSample?
        var offset = Duration.zero
        var endNumber = 0
        /// When it is presented, and for how long.
        var time = Duration.zero
        var end = Duration.zero
        /// Media of its run that was put in before it.
        var ticksBefore: Int64 = 0

        var byteCount: Int { sample.map { $0.data.count + SampleStore.entryByteCount } ?? 0 }
        var isSync: Bool { sample?.isSync ?? false }
    }

    private struct Run {
        var track: MediaTrack
        var window: PresentationWindow
        var parameterSets: [UInt8] = []
        /// Place of its first entry.
        var first: Int
        /// Where its presentation starts and ends; nil without samples.
        var start: Duration?
        var end: Duration?
        var ticks: Int64 = 0

        /// Whether some of it is presented after `time`.
        func isPresented(after time: Duration) -> Bool { end.map { $0 > time } ?? false }
    }

    /// Decoding of sound begins this much before what is heard: codecs overlap, and some remember longer.
    private static let soundLead = Duration.milliseconds(120)

    /// Durations of playlists are not exact to the sample.
    static let truncationTolerance = Duration.milliseconds(20)

    /// What a sample takes besides its bytes.
    static let entryByteCount = 512

    /// What was read is kept until it is evicted.
    let keepsRead: Bool
    private(set) var landing: Landing?
    /// What is copied begins where reading began before; no sample is left away.
    private var keepsCopies = false
    private var copiesFloor: Duration?
    /// Bytes of compressed media held.
    private(set) var byteCount = 0
    private var entries: [Entry] = []
    /// Entries before this place are gone; those of `entries` before `head` as well, though not yet taken out.
    private var base = 0
    private var head = 0
    private var runs: [Run] = []
    /// Place of the entry that is read next. Places count from the making of the store.
    private var cursor = 0
    /// Place of the first entry of the run that was told to the reader.
    private var toldRun: Int?

    /// - Parameter copiesFrom: where copies begin that do so before `landing`.
    init(keepsRead: Bool, landing: Landing? = nil, copiesFrom: Duration? = nil) {
        self.keepsRead = keepsRead
        self.landing = landing
        keepsCopies = copiesFrom != nil
        copiesFloor = copiesFrom
    }

    private var endPlace: Int { base + entries.count }
    private var firstPlace: Int { base + head }

    /// Nothing is held.
    var isEmpty: Bool { firstPlace == endPlace }
    /// Everything was read.
    var isRead: Bool { cursor == endPlace }
    /// Item times of the first and the last media held, in the order of presentation; nil without any.
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
            // A picture without a duration lasts at least a moment.
            let end = max(time + length, time + .nanoseconds(1))
            let shownEnd = min(end, run.window.until ?? end)
            runs[runs.count - 1].start = min(run.start ?? time, time)
            runs[runs.count - 1].end = max(run.end ?? shownEnd, shownEnd)
            runs[runs.count - 1].ticks = run.ticks.addingReportingOverflow(max(0, sample.duration)).partialValue
            byteCount += sample.data.count + Self.entryByteCount
        }
    }

    /// A recorded end is void once more samples arrive.
    private mutating func removeEnd() {
        guard let last = entries.last, last.sample == nil, head < entries.count else { return }
        entries.removeLast()
        cursor = min(cursor, endPlace)
    }

    // MARK: Out

    /// The next thing to do; nil where everything was read.
    mutating func next() -> Item? {
        let index = cursor - base
        guard index < entries.count else { return nil }
        if case .undecided = landing { return nil }
        if let place = laterSyncPlace {
            let isTold = run(of: cursor).map { $0.first == toldRun } ?? false
            cursor = place
            if !keepsRead { dropRead() }
            if isTold { return .skipped }
        }
        let entry = entries[cursor - base]
        guard let sample = entry.sample else {
            cursor += 1
            // Kept: after a seek it is come to once more.
            return .end(number: entry.endNumber)
        }
        if let run = run(of: cursor), run.first != toldRun {
            toldRun = run.first
            return .track(start(of: run, at: entry))
        }
        cursor += 1
        if !keepsRead { dropRead() }
        return .sample(sample, offset: entry.offset)
    }

    /// Pictures are not put in by the time that they are shown at: this far behind it one may come that is shown before.
    private static let longestReordering = Duration.seconds(1)

    /// Place of a sync sample between the one that is read next and where presentation begins: media that comes bit by
    /// bit is read before the best place to begin at is there.
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

    /// Samples that are looked at for one that takes the place of another.
    private static let lookahead = 32

    /// Whether the sample that was read last is surely not shown: what is held comes between it and where presentation
    /// begins. It need not be decoded, if no other picture needs it.
    func isPassedOver(_ item: Item) -> Bool {
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

    /// Goes on reading where presentation from `landing` on has to begin.
    ///
    /// - Parameter keepsCopies: what is copied goes on with what came before `landing`: it is read, though not presented.
    mutating func reposition(to landing: Landing, keepsCopies: Bool = false) {
        let before = self.landing.map { place(for: $0.time) } ?? firstPlace
        if keepsCopies, !self.keepsCopies { copiesFloor = self.landing?.floor }
        self.keepsCopies = keepsCopies
        self.landing = landing
        cursor = place(for: landing.time)
        if keepsCopies { cursor = min(cursor, before) }
        toldRun = nil
    }

    /// The entry at which decoding begins so that what is presented at `time` comes out.
    private func place(for time: Duration) -> Int {
        // What two runs have is presented from the first of them.
        guard var index = runs.firstIndex(where: { $0.isPresented(after: time) }) ?? runs.indices.last else {
            return firstPlace
        }
        // Pictures of transport streams do not tell how long they are: the last one stays until the next run begins.
        if index > 0, runs[index].start.map({ $0 > time }) ?? true, runs[index - 1].end != nil { index -= 1 }
        let run = runs[index]
        let from = run.track.mediaType == .audio ? time - Self.soundLead : time
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

    /// Drops what was read and is not needed to present anything from `time` on.
    mutating func evict(before time: Duration) {
        drop(upTo: min(place(for: time), cursor))
    }

    /// Drops what was not read yet and is presented from `time` on. What is put in next comes in its place.
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
        if let told = toldRun, told >= place { toldRun = nil }
        guard let last = runs.indices.last else { return }
        let rest = entries[max(0, runs[last].first - base)...]
        if let end = rest.map(\.end).max() { runs[last].end = runs[last].end.map { min($0, max(end, time)) } }
    }

    /// The time of the picture that is `count` after (or before) the one that is shown at `time`; nil where that is not
    /// held.
    func time(stepping count: Int, from time: Duration) -> Duration? {
        let times = entries[head...].filter { $0.sample != nil }.map(\.time).sorted()
        guard let shown = times.lastIndex(where: { $0 <= time }) else { return nil }
        let (index, overflow) = shown.addingReportingOverflow(count)
        return !overflow && times.indices.contains(index) ? times[index] : nil
    }

    /// Drops everything; what comes next is presented from `landing` on.
    mutating func removeAll(landing: Landing?) {
        base = endPlace
        cursor = base
        head = 0
        entries = []
        runs = []
        byteCount = 0
        toldRun = nil
        keepsCopies = false
        self.landing = landing
    }

    private mutating func dropRead() {
        // All but an end, which a seek comes to again.
        drop(upTo: cursor)
    }

    private mutating func drop(upTo place: Int) {
        while firstPlace < place, head < entries.count {
            byteCount -= entries[head].byteCount
            entries[head] = Entry()  // lets go of the sample
            head += 1
        }
        guard head >= 512 || head == entries.count else { return }
        entries.removeFirst(head)
        base += head
        head = 0
        while runs.count > 1, runs[1].first <= base { runs.removeFirst() }
    }
}
