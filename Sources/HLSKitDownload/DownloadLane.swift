import HLSKitLoading
import HLSKitPlaylist
import HLSKitSelection
import HLSKitTime

struct DownloadLane: Sendable {
    let entry: DownloadSelection.Entry
    var tracker: PlaylistTracker
    /// The rules that choose keys, or `nil` if encrypted segments are stored encrypted.
    private let keys: KeyRules?
    /// Values added to the tracker's epochs and discontinuities, to continue the numbers of an earlier run.
    private var epochBase = 0
    private var discontinuityBase = 0
    /// The number of consecutive delta updates that were of no use although the whole playlist was.
    private var misfitCount = 0
    private static let misfitLimit = 2
    private var plan = ReloadPlan()

    /// - Parameters:
    ///   - known: The segments that earlier runs have stored, in order.
    ///   - start: The start time of the first segment, unless it is known.
    init(
        _ entry: DownloadSelection.Entry, _ playlist: MediaPlaylist, known: [DownloadJournal.Segment],
        start: Duration, keys: KeyRules?, now: Duration
    ) {
        self.entry = entry
        self.keys = keys
        let place = Self.place(of: playlist, among: known)
        tracker = PlaylistTracker(
            playlist, requestURL: entry.url, url: playlist.url, start: place?.start ?? start, loadBegan: now, now: now)
        epochBase = place?.epoch ?? 0
        discontinuityBase = place?.discontinuity ?? 0
    }

    private struct Place {
        var start: Duration
        var epoch: Int
        var discontinuity: Int
    }

    /// Returns the position at which a live playlist continues after the stored segments, or `nil` if it is unknown.
    private static func place(of playlist: MediaPlaylist, among known: [DownloadJournal.Segment]) -> Place? {
        guard !playlist.isComplete || playlist.mediaSequence > 0, let last = known.last else { return nil }
        var before = Duration.zero
        for (index, segment) in playlist.segments.enumerated() {
            let sequence = playlist.mediaSequence + index
            if let same = known.last(where: { $0.sequence == sequence && $0.name == DownloadLane.name(of: segment.uri) }
            ) {
                return Place(
                    start: .microseconds(same.start) - before, epoch: same.epoch,
                    discontinuity: same.discontinuity &- segment.discontinuitySequence)
            }
            before += segment.duration
        }
        guard !playlist.isComplete else { return nil }
        // Either segments in between were missed, or the server has restarted its numbering.
        let isLater = playlist.mediaSequence > last.sequence
        let first = playlist.segments.first?.discontinuitySequence ?? 0
        return Place(
            start: .microseconds(last.start + last.duration), epoch: isLater ? last.epoch : last.epoch + 1,
            discontinuity: isLater && playlist.hasDiscontinuitySequence ? 0 : last.discontinuity &+ 1 &- first)
    }

    /// The name that identifies a segment in later runs: the last path component, without the query.
    static func name(of uri: String) -> String {
        let path = uri.prefix { $0 != "?" && $0 != "#" }
        return Redaction.text(String(path.split(separator: "/").last ?? path))
    }

    func position(at index: Int) -> SegmentPosition {
        var position = tracker.position(at: index)
        position.epoch += epochBase
        return position
    }

    func index(of position: SegmentPosition) -> Int? {
        var position = position
        position.epoch -= epochBase
        return tracker.index(of: position)
    }

    func url(of position: SegmentPosition) -> String? {
        index(of: position).flatMap { tracker.playlist.resolve(tracker.playlist.segments[$0].uri) }
    }

    func indices(in window: TimeWindow) -> [Int] {
        tracker.playlist.segments.indices.filter { index in
            window.overlaps(tracker.starts[index], tracker.starts[index + 1])
        }
    }

    func resources(at index: Int) throws(HLSError) -> SegmentResources {
        let segment = tracker.playlist.segments[index]
        let url = tracker.playlist.resolve(segment.uri) ?? segment.uri
        return try SegmentResources(of: segment, at: url, in: tracker, keys: keys)
    }

    func isClear(_ index: Int) -> Bool {
        tracker.playlist.segments[index].keys.allSatisfy { $0.method == .sampleAES || $0.method == .sampleAESCTR }
    }

    private func named(_ keys: [EncryptionKey], at index: Int) -> [DownloadJournal.NamedKey] {
        guard self.keys == nil else { return [] }
        return keys.compactMap { key in
            guard let uri = key.uri.flatMap(tracker.playlist.resolve) else { return nil }
            // Write an explicit vector, because the folder's playlist has other sequence numbers.
            let isOwn = key.iv != nil || key.effectiveKeyFormat == "identity"
            let vector = key.initializationVector(forMediaSequence: tracker.playlist.segments[index].mediaSequence)
            return DownloadJournal.NamedKey(
                method: key.method.rawValue, uri: uri, vector: isOwn ? vector.hexadecimalText : nil,
                format: key.keyFormat, formatVersions: key.keyFormatVersions)
        }
    }

    /// The journal entry of a segment, without the values that are known only after loading.
    func description(at index: Int) -> DownloadJournal.Segment {
        let segment = tracker.playlist.segments[index]
        let position = position(at: index)
        var result = DownloadJournal.Segment(
            lane: entry.lane.id, epoch: position.epoch, sequence: position.sequence, name: Self.name(of: segment.uri),
            range: segment.loadedRange, start: tracker.starts[index].wholeMicroseconds,
            duration: segment.duration.wholeMicroseconds)
        result.discontinuity = tracker.discontinuity(at: index) &+ discontinuityBase
        result.date = segment.programDateTime?.description
        result.namedKeys = named(segment.keys, at: index)
        result.namedMapKeys = named(segment.map?.keys ?? [], at: index)
        return result
    }

    func isEncrypted(_ map: ResourceID) -> Bool {
        tracker.playlist.segments.contains { segment in
            guard let own = segment.map, own.loadedRange == map.byteRange,
                tracker.playlist.resolve(own.uri) == map.url
            else { return false }
            return own.keys.contains { $0.method == .aes128 }
        }
    }

    func isSame(_ stored: DownloadJournal.Segment, at index: Int) -> Bool {
        let wanted = description(at: index)
        let isGap = tracker.playlist.segments[index].isGap
        // Keys that were not loaded then may be wanted now.
        let isReadable = keys == nil || stored.namedKeys.isEmpty && stored.namedMapKeys.isEmpty
        return isReadable && !stored.isSkipped && stored.name == wanted.name && stored.range == wanted.range
            && stored.duration == wanted.duration
            && (stored.file == nil) == isGap
    }

    // MARK: Reloads

    var refusesDeltas: Bool { misfitCount >= Self.misfitLimit }

    /// The position that an immediate blocking reload waits for, or `nil` for a timed reload.
    var awaited: PartPosition? { plan.next(in: tracker) }

    mutating func beginReload(awaiting awaited: PartPosition?) { plan.send(DeliveryDirectives(awaited: awaited)) }

    /// Notes the end of a reload.
    ///
    /// - Parameters:
    ///   - update: The kind of update, or `nil` if no playlist was loaded.
    ///   - wasInVain: Whether the request had delivery directives that were of no use.
    mutating func endReload(_ update: PlaylistTracker.Update?, askedForDelta: Bool, wasInVain: Bool) {
        if askedForDelta, update != nil { misfitCount = wasInVain ? misfitCount + 1 : 0 }
        if wasInVain || update == nil { _ = plan.fail(update == nil ? .other : .timeout) }
        if let update { plan.take(edge: tracker.writtenEdge, isNewCount: update == .restarted) }
    }

    /// Notes that the playlist could not be loaded. The next attempt is timed as if the playlist had not changed.
    mutating func noteFailedReload(at time: Duration) {
        let playlist = tracker.playlist
        _ = tracker.update(with: playlist, url: tracker.url, loadBegan: time, now: time)
    }

    // MARK: Files

    var folder: String { Self.folder(of: entry.lane) }

    static func folder(of lane: DownloadJournal.Lane) -> String { "\(lane.kind.rawValue)-\(hash(of: lane.id))" }

    /// A 32-bit FNV-1a hash as 8 digits.
    static func hash(of id: String) -> String {
        id.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }.hexadecimal(8)
    }

    /// The name of a segment's file. Names never come from the network, except a known file name extension (R65).
    func fileName(of segment: DownloadJournal.Segment) -> String {
        let prefix = segment.epoch == 0 ? "" : "\(segment.epoch)-"
        return "\(folder)/\(prefix)\(segment.sequence.digits(6)).\(Self.ending(of: segment.name))"
    }

    private static let endings: Set<String> = [
        "ts", "m2ts", "mts", "mp4", "m4s", "m4a", "m4v", "m4f", "cmfv", "cmfa", "cmft", "aac", "ac3", "ec3", "eac3",
        "mp3", "vtt", "webvtt",
    ]

    static func ending(of name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return "ts" }
        let ending = name[name.index(after: dot)...].lowercased()
        return endings.contains(ending) ? ending : "ts"
    }
}
