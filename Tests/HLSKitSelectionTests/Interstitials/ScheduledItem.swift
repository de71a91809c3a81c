import HLSKitEngine
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime
import Testing

/// A short notation for an event. `a@100 30 r0 jump` is event `a` at 100 s with 30 s. It resumes where it began, and
/// the user must not jump over it.
struct EventWords: Sendable {
    var id: String
    var time: Double
    /// `DURATION`, or `nil` if it is unknown.
    var length: Double?
    var realLength: Double
    var resumeOffset: Double?
    var limit: Double?
    var flags: Set<String> = []

    init(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        let place = words[0].split(separator: "@")
        id = String(place[0])
        time = place.count > 1 ? Double(place[1]) ?? 0 : 0
        realLength = 0
        var real: Double?
        for word in words.dropFirst() {
            if let number = Double(word) {
                length = number
            } else if word.hasPrefix("r"), let number = Double(word.dropFirst()) {
                resumeOffset = number
            } else if word.hasPrefix("l"), let number = Double(word.dropFirst()) {
                limit = number
            } else if word.hasPrefix("real"), let number = Double(word.dropFirst(4)) {
                real = number
            } else {
                flags.insert(word)
            }
        }
        realLength = real ?? length ?? 0
    }

    static func all(_ text: String) -> [EventWords] {
        text.split(separator: ";").map { EventWords(String($0)) }
    }

    var tag: String {
        let date = ScheduledItem.date + .seconds(time)
        var attributes = ["ID=\"\(id)\"", "CLASS=\"com.apple.hls.interstitial\"", "START-DATE=\"\(date)\""]
        if let length { attributes.append("DURATION=\(length)") }
        attributes.append("X-ASSET-\(flags.contains("list") ? "LIST" : "URI")=\"https://ads.example/\(id)\"")
        if let resumeOffset { attributes.append("X-RESUME-OFFSET=\(resumeOffset)") }
        if let limit { attributes.append("X-PLAYOUT-LIMIT=\(limit)") }
        func list(_ name: String, _ known: [String]) {
            let words = known.filter { flags.contains($0.lowercased()) }
            if !words.isEmpty { attributes.append("\(name)=\"\(words.joined(separator: ","))\"") }
        }
        list("CUE", ["PRE", "POST", "ONCE"])
        list("X-RESTRICT", ["SKIP", "JUMP"])
        list("X-SNAP", ["OUT", "IN"])
        if flags.contains("range") { attributes.append("X-TIMELINE-OCCUPIES=\"RANGE\"") }
        if flags.contains("primary") { attributes.append("X-TIMELINE-STYLE=\"PRIMARY\"") }
        return "#EXT-X-DATERANGE:" + attributes.joined(separator: ",")
    }

    func event(byDate: Bool = false) -> InterstitialEvent {
        let content: InterstitialEvent.Content =
            flags.contains("list")
            ? .assetList("https://ads.example/\(id)")
            : .assets([InterstitialAsset(urlString: "https://ads.example/\(id)")])
        var event =
            byDate
            ? InterstitialEvent(id: id, date: ScheduledItem.date + .seconds(time), content: content)
            : InterstitialEvent(id: id, time: MediaTime(.seconds(time)), content: content)
        event.cue = flags.contains("pre") ? .joinCue : flags.contains("post") ? .leaveCue : .noCue
        event.willPlayOnce = flags.contains("once")
        event.resumptionOffset = resumeOffset.map { MediaTime(.seconds($0)) } ?? .indefinite
        event.playoutLimit = limit.map { MediaTime(.seconds($0)) }
        event.plannedDuration = length.map { .seconds($0) }
        event.alignsStartWithPrimarySegmentBoundary = flags.contains("out")
        event.alignsResumptionWithPrimarySegmentBoundary = flags.contains("in")
        if flags.contains("jump") { event.restrictions.insert(.constrainsSeekingForwardInPrimaryContent) }
        if flags.contains("skip") { event.restrictions.insert(.requiresPlaybackAtPreferredRateForAdvancement) }
        event.timelineOccupancy = flags.contains("range") ? .fill : .singlePoint
        event.supplementsPrimaryContent = flags.contains("primary")
        return event
    }
}

/// An item with 10 s segments that a test plays. Its schedule receives the events in one of three ways.
struct ScheduledItem {
    /// 2026-01-01T00:00:00Z.
    static let date = PlaylistDate(seconds: 1_767_225_600)

    /// How events are placed: by the playlist, or by the app with times or dates.
    enum Way: String, CaseIterable, CustomTestStringConvertible, Sendable {
        case playlist, programByTime, programByDate
        var testDescription: String { rawValue }
    }

    var schedule = InterstitialSchedule()
    var lists = AssetLists(primaryID: "p")
    private var reader = DateRangeReader()
    var words: [EventWords]
    var isLive: Bool
    var end: Double
    let way: Way

    init(_ text: String, isLive: Bool = false, end: Double = 600, way: Way = .playlist) throws {
        words = EventWords.all(text)
        self.isLive = isLive
        self.end = end
        self.way = way
        try reload()
    }

    mutating func reload() throws {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:10", "#EXT-X-PROGRAM-DATE-TIME:\(Self.date)"]
        if way == .playlist { lines += words.map(\.tag) }
        lines += (0..<Int(end / 10)).map { "#EXTINF:10,\n\($0).ts" }
        if !isLive { lines.append("#EXT-X-ENDLIST") }
        let playlist = try MediaPlaylist(
            parsing: lines.joined(separator: "\n") + "\n", url: "https://example.com/v.m3u8")
        let tracker = PlaylistTracker(
            playlist, requestURL: playlist.url, url: playlist.url, start: .zero, loadBegan: .zero, now: .zero)
        let primary = PrimaryTimeline(
            start: tracker.start, end: tracker.end, isLive: isLive, targetDuration: playlist.targetDuration,
            boundaries: [tracker.segmentStarts])
        schedule.update(primary) { tracker.place(of: $0) }
        if way == .playlist {
            if reader.read(tracker) { _ = schedule.read(reader.groups, base: playlist.url) }
        } else {
            schedule.set(words.map { $0.event(byDate: way == .programByDate) }) { tracker.place(of: $0) }
        }
    }

    // MARK: Playing

    struct Seek: Sendable {
        var at: Double
        var target: Double
    }

    /// Plays the item and returns the played parts in order.
    ///
    /// `0-100` is a part of the item, `a:30` an event, and `a+10:20` an event from its middle on. `end` is the end, and
    /// `...` a live stream without one.
    mutating func played(from start: Double, seeks: [Seek] = [], waited: Double = 0, latest: Double? = nil) -> String {
        var (words, seeks) = ([String](), seeks[...])
        var (time, began) = (Duration.seconds(start), Duration.seconds(start))
        var next = schedule.start(at: time)
        func stretch() {
            if time > began { words.append("\(Self.text(began))-\(Self.text(time))") }
        }
        for _ in 0..<100 {
            if let running = next {
                next = nil
                let over = play(running)
                if !over.words.isEmpty { stretch() }
                words += over.words
                let place = time
                switch schedule.finish(
                    over.end, waited: .seconds(waited), latest: latest.map { .seconds($0) })
                {
                case .primary(let resumption):
                    if over.words.isEmpty, resumption != place { stretch() }
                    time = resumption
                    if !over.words.isEmpty || resumption != place { began = time }
                case .another(let other):
                    if over.words.isEmpty { stretch() }
                    (time, began, next) = (place, place, other)
                case .later:
                    if over.words.isEmpty { stretch() }
                    return (words + ["later"]).joined(separator: " ")
                case .end:
                    if over.words.isEmpty { stretch() }
                    return (words + ["end"]).joined(separator: " ")
                }
            } else if let seek = seeks.first, .seconds(seek.at) >= time,
                schedule.next(after: time).map({ .seconds(seek.at) <= $0 }) ?? true
            {
                seeks.removeFirst()
                time = .seconds(seek.at)
                stretch()
                switch schedule.seek(from: time, to: .seconds(seek.target)) {
                case .free:
                    (time, began) = (.seconds(seek.target), .seconds(seek.target))
                    next = schedule.arrive(at: time)
                case .first(let first): (began, next) = (time, first)
                }
            } else if let place = schedule.next(after: time), place <= .seconds(end) {
                time = place
                next = schedule.arrive(at: time)
            } else {
                time = .seconds(end)
                guard !isLive, let last = schedule.end() else {
                    stretch()
                    return (words + [isLive ? "..." : "end"]).joined(separator: " ")
                }
                next = last
            }
        }
        return (words + ["forever"]).joined(separator: " ")
    }

    func play(_ running: InterstitialBreak) -> (end: InterstitialBreak, words: [String]) {
        var (running, words) = (running, [String]())
        for _ in 0..<100 {
            let offset = running.startOffset
            let isFirst = running.played == .zero
            switch running.step(lists, now: .zero) {
            case .over: return (running, words)
            case .wait: running.assetFailed(at: nil)
            case .play(let asset, let from, let limit):
                let id = asset.urlString.split(separator: "/").last.map(String.init) ?? ""
                guard let event = self.words.first(where: { $0.id == id }), !event.flags.contains("dead") else {
                    running.assetFailed(at: nil)
                    continue
                }
                let last = min(.seconds(event.realLength), limit ?? .seconds(event.realLength))
                running.assetEnded(at: last)
                guard last > from else { continue }
                let begin = isFirst && offset > .zero ? "+\(Self.text(offset))" : ""
                words.append("\(id)\(begin):\(Self.text(last - from))")
            }
        }
        return (running, words + ["forever"])
    }

    static func text(_ time: Duration) -> String {
        let text = MediaTime(time, timescale: 10_000).description
        return String(text.prefix { $0 != " " })
    }
}
