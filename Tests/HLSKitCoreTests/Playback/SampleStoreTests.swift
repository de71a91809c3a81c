import HLSKitMedia
import Testing

@testable import HLSKitEngine
@testable import HLSKitPlayback

/// Tests frames of 40 ms with a sync sample every second, in two runs.
@Suite("Sample store")
struct SampleStoreTests {
    private static let byteCount = 3 + SampleStore.entryByteCount

    private static func track(_ type: MediaKind = .video) -> MediaTrack {
        MediaTrack(id: 1, mediaType: type, codec: type == .video ? .h264 : .aac, timescale: 1000)
    }

    /// Returns samples of `length` ms from `range`, in ms. Decoding can start at every `syncEvery`-th sample.
    private static func samples(
        _ range: Range<Int>, length: Int = 40, syncEvery: Int = 25, hasDurations: Bool = true
    ) -> [SampleStore.Element] {
        stride(from: range.lowerBound, to: range.upperBound, by: length).enumerated().map { index, time in
            .sample(
                MediaSample(
                    trackID: 1, pts: Int64(time), dts: Int64(time), duration: hasDurations ? Int64(length) : 0,
                    isSync: index % syncEvery == 0, data: SampleData([0, 1, 2])),
                offset: .zero)
        }
    }

    private static func store(
        keepsRead: Bool = true, type: MediaKind = .video, _ runs: [Range<Int>] = [0..<4000, 4000..<8000],
        hasDurations: Bool = true, isEnded: Bool = true
    ) -> SampleStore {
        var store = SampleStore(keepsRead: keepsRead)
        for run in runs {
            store.append([.track(track(type), window: PresentationWindow())])
            store.append(
                samples(run, syncEvery: type == .video ? 25 : 1, hasDurations: hasDurations))
        }
        if isEnded { store.append([.end(number: 1)]) }
        return store
    }

    /// Returns the read elements: `T` for a track, `S` for skipped media, `E` for an end, and times in ms.
    private static func read(_ store: inout SampleStore, count: Int = .max) -> [String] {
        var words: [String] = []
        while words.count < count, let item = store.next() {
            switch item {
            case .track: words.append("T")
            case .skipped: words.append("S")
            case .sample(let sample, _): words.append("\(sample.pts)")
            case .end(let number): words.append("E\(number)")
            }
        }
        return words
    }

    @Test("samples are read in order, once")
    func order() {
        var store = Self.store([0..<80, 80..<160])
        #expect(Self.read(&store) == ["T", "0", "40", "T", "80", "120", "E1"])
        #expect(store.isRead)
        #expect(Self.read(&store).isEmpty)
    }

    @Test(
        "read samples are dropped without a back buffer, and kept until evicted with one", arguments: [true, false])
    func keeping(keepsRead: Bool) {
        var store = Self.store(keepsRead: keepsRead, [0..<4000], isEnded: false)
        #expect(store.byteCount == 100 * Self.byteCount)
        _ = Self.read(&store, count: 51)
        #expect(store.byteCount == (keepsRead ? 100 : 50) * Self.byteCount)
    }

    struct Place: CustomTestStringConvertible {
        var time: Int
        var first: String
        var testDescription: String { "\(time) ms from \(first)" }
    }

    @Test(
        "reading continues at the last sync frame",
        arguments: [
            Place(time: 0, first: "0"), Place(time: 20, first: "0"), Place(time: 999, first: "0"),
            Place(time: 1000, first: "1000"), Place(time: 3999, first: "3000"), Place(time: 4000, first: "4000"),
            Place(time: 5500, first: "5000"), Place(time: 7999, first: "7000"),
            Place(time: 8000, first: "7000"), Place(time: -500, first: "0"),
        ], [true, false])
    func reposition(place: Place, hasDurations: Bool) {
        var store = Self.store(hasDurations: hasDurations)
        _ = Self.read(&store)
        store.reposition(to: .exact(.milliseconds(place.time)))
        #expect(Self.read(&store, count: 2) == ["T", place.first])
        let rest = Self.read(&store)
        #expect(rest.last == "E1")
        // Audio can start at any sample, so it starts only a little earlier.
        var audio = Self.store(type: .audio)
        audio.reposition(to: .exact(.milliseconds(3000)))
        #expect(Self.read(&audio, count: 2) == ["T", "2880"])
    }

    @Test("the frame before a run of frames without durations belongs to the previous run")
    func lastFrame() {
        var store = Self.store(hasDurations: false)
        store.reposition(to: .exact(.milliseconds(3990)))
        #expect(Self.read(&store, count: 2) == ["T", "3000"])
    }

    @Test("the first of two overlapping runs is presented, up to the end of its window")
    func overlap() {
        var store = Self.store([0..<4000, 2000..<8000])
        store.reposition(to: .exact(.milliseconds(3500)))
        #expect(Self.read(&store, count: 2) == ["T", "3000"])
        store = SampleStore(keepsRead: true)
        store.append([.track(Self.track(), window: PresentationWindow(until: .seconds(3)))])
        store.append(Self.samples(0..<4000))
        store.append([.track(Self.track(), window: PresentationWindow(dropsOverlap: true))])
        store.append(Self.samples(2000..<8000))
        store.reposition(to: .exact(.milliseconds(3500)))
        #expect(Self.read(&store, count: 2) == ["T", "3000"])
        #expect(Self.read(&store).filter { $0 == "T" }.isEmpty)
    }

    @Test(
        "eviction keeps unread samples and those needed from its time on",
        arguments: [(2500, 8000, 2000), (4000, 8000, 4000), (6000, 3000, 3000), (0, 8000, 0)])
    func evict(time: Int, read: Int, first: Int) {
        var store = Self.store(isEnded: false)
        while let item = store.next() {
            if case .sample(let sample, _) = item, sample.pts == read - 40 { break }
        }
        store.evict(before: .milliseconds(time))
        #expect(store.extent?.lowerBound == .milliseconds(first))
        #expect(store.byteCount == Self.byteCount * (8000 - first) / 40)
        store.reposition(to: .exact(.milliseconds(first + 10)))
        #expect(Self.read(&store, count: 2) == ["T", "\(first)"])
    }

    @Test("a recorded end is void when more samples arrive, whether it was read or not", arguments: [true, false])
    func reopened(isRead: Bool) {
        var store = Self.store([0..<80])
        if isRead { _ = Self.read(&store) }
        store.append([.track(Self.track(), window: PresentationWindow())])
        store.append(Self.samples(80..<160) + [.end(number: 2)])
        let words = Self.read(&store)
        #expect(words == (isRead ? [] : ["T", "0", "40"]) + ["T", "80", "120", "E2"])
        store.reposition(to: .exact(.zero))
        #expect(Self.read(&store) == ["T", "0", "40", "T", "80", "120", "E2"])
    }

    @Test(
        "truncation removes later media, except read samples",
        arguments: [(4000, 0, 4000), (6000, 0, 6000), (4000, 5000, 5000), (9000, 0, 8000)])
    func truncate(time: Int, read: Int, end: Int) {
        var store = Self.store()
        while read > 0, let item = store.next() {
            if case .sample(let sample, _) = item, sample.pts == read - 40 { break }
        }
        store.truncate(from: .milliseconds(time))
        #expect(store.extent?.upperBound == .milliseconds(end))
        #expect(store.byteCount == Self.byteCount * end / 40)
        store.append([.track(Self.track(), window: PresentationWindow(dropsOverlap: true))])
        store.append(Self.samples(end..<end + 1000))
        store.reposition(to: .exact(.milliseconds(end + 10)))
        #expect(Self.read(&store, count: 2) == ["T", "\(end)"])
    }

    @Test(
        "steps go from the shown frame to its neighbours",
        arguments: [(1000, 1, 1040), (1020, 1, 1040), (1020, -1, 960), (0, -1, nil), (7960, 1, nil), (40, 0, 40)])
    func step(time: Int, count: Int, target: Int?) {
        var store = Self.store()
        _ = Self.read(&store)
        #expect(store.time(stepping: count, from: .milliseconds(time)) == target.map { .milliseconds($0) })
        #expect(store.time(stepping: .max, from: .zero) == nil)
    }

    @Test(
        "media arriving piecemeal after a seek is read from the last sync sample before the target"
    )
    func laterSyncSample() {
        var store = SampleStore(keepsRead: false)
        store.removeAll(landing: .exact(.milliseconds(2500)))
        store.append([.track(Self.track(), window: PresentationWindow())])
        let samples = Self.samples(0..<4000)
        store.append(Array(samples[..<10]))
        #expect(Self.read(&store, count: 4) == ["T", "0", "40", "80"])
        store.append(Array(samples[10..<30]))
        #expect(Self.read(&store, count: 3) == ["S", "1000", "1040"])
        store.append(Array(samples[30...]))
        #expect(Self.read(&store, count: 3) == ["S", "2000", "2040"])
        #expect(Self.read(&store).last == "3960")
        // If nothing was read yet or nothing is sought, nothing is skipped.
        for landing in [SeekTarget.exact(.milliseconds(2500)), .sync(.milliseconds(2000)), .segmentStart(.seconds(2))] {
            store.removeAll(landing: landing)
            store.append([.track(Self.track(), window: PresentationWindow())])
            store.append(samples)
            #expect(Self.read(&store, count: 2) == ["T", landing.floor == nil ? "0" : "2000"])
        }
        store.removeAll(landing: .exact(.milliseconds(2500)))
        store.append([.track(Self.track(.audio), window: PresentationWindow())])
        store.append(samples)
        #expect(Self.read(&store, count: 2) == ["T", "0"])
    }

    @Test("a seek drops earlier windows, but its target applies")
    func window() {
        var store = SampleStore(keepsRead: true)
        store.append([.track(Self.track(), window: PresentationWindow(from: .seconds(3)))])
        store.append(Self.samples(0..<4000))
        func start(_ store: inout SampleStore) -> SampleStore.RunStart? {
            if case .track(let start) = store.next() { start } else { nil }
        }
        #expect(start(&store)?.window.from == .seconds(3))
        store.reposition(to: .sync(.seconds(1)))
        #expect(start(&store)?.window.from == .seconds(1))
        store.reposition(to: .segmentStart(.seconds(0)))
        #expect(start(&store)?.window.from == nil)
        store.reposition(to: .exact(.milliseconds(2500)))
        #expect(start(&store)?.skippedTicks == 2000)
        store.removeAll(landing: .undecided(near: .seconds(1)))
        store.append([.track(Self.track(), window: PresentationWindow())])
        store.append(Self.samples(0..<4000))
        #expect(Self.read(&store).isEmpty)
        store.reposition(to: .exact(.seconds(1)))
        #expect(Self.read(&store, count: 2) == ["T", "1000"])
    }

    @Test("remuxing may begin before presentation, with all stored samples")
    func copiesBefore() {
        var store = SampleStore(keepsRead: false, landing: .exact(.milliseconds(500)), copiesFrom: .zero)
        store.append([.track(Self.track(), window: PresentationWindow(from: .milliseconds(500)))])
        store.append(Self.samples(0..<1000))
        guard case .track(let start) = store.next() else {
            Issue.record("no track")
            return
        }
        #expect(start.window.from == .milliseconds(500))
        #expect(start.copied.from == .zero)
        #expect(Self.read(&store, count: 1) == ["0"])
        store.reposition(to: .exact(.milliseconds(700)), keepsCopies: true)
        guard case .track(let moved) = store.next() else {
            Issue.record("no track")
            return
        }
        #expect(moved.window.from == .milliseconds(700))
        #expect(moved.copied.from == .zero)
    }

    @Test(
        "before a sought frame, all known frames except the sought one are skipped",
        arguments: [true, false])
    func skipped(keepsRead: Bool) {
        var store = SampleStore(keepsRead: keepsRead, landing: .exact(.milliseconds(500)))
        store.append([.track(Self.track(), window: PresentationWindow())])
        store.append(Self.samples(0..<1000))
        var skipped: [Int64] = []
        while let item = store.next() {
            if case .sample(let sample, _) = item, store.isSkipped(item) { skipped.append(sample.pts) }
        }
        // The frame of 480 ms is shown at 500 ms.
        #expect(skipped == (0..<12).map { $0 * 40 })
        // Without later samples, the last frame may be the one shown at 500 ms.
        var short = SampleStore(keepsRead: keepsRead, landing: .exact(.milliseconds(500)))
        short.append([.track(Self.track(), window: PresentationWindow())] + Self.samples(0..<80))
        skipped = []
        while let item = short.next() {
            if case .sample(let sample, _) = item, short.isSkipped(item) { skipped.append(sample.pts) }
        }
        #expect(skipped == [0])
    }
}
