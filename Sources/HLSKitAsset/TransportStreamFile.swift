import HLSKitLoading
import HLSKitMedia
import HLSKitTime
import Synchronization

/// A transport stream without a playlist, presented as segments whose positions are found on request.
///
/// A segment begins with the last frame at or before its start time at which decoding can start. It ends where the next
/// segment begins. The file is searched for that frame by bisection over its timestamps. Segments that are read in
/// sequence need no search.
final class TransportStreamFile: Sendable {
    private static let shortestSegment = Duration.seconds(6)
    /// The minimum and maximum number of bytes to read for one probe, and the time that they should contain.
    private static let windowByteCounts = (64 << 10)...(2 << 20)
    private static let window = Duration.milliseconds(300)
    /// The maximum distance, in bytes, of the search for a frame at which decoding can start.
    private static let maximumReach = 16 << 20
    private static let maximumProbeCount = 16
    /// A frame this much later than a time shows that no earlier frames follow.
    static let reordering = Duration.milliseconds(500)

    private struct Places {
        var known = [0: 0]
        var reading: [Int: Int] = [:]
    }

    let url: String
    let byteCount: Int
    let stride: Int
    let tables: TransportStreamPreamble
    /// The PID of the track that determines where segments begin.
    let pid: Int
    let takesAll: Bool
    /// The timestamp of the start of the file, in units of 1/90,000 s.
    let origin: Int64
    let duration: Duration
    let segmentDuration: Duration
    private let client: ResourceClient
    private let windowByteCount: Int
    private let places = Gate(Places())
    private let rest = Mutex<(offset: Int, bytes: [UInt8])?>(nil)

    /// - Parameter duration: The duration according to the last timestamps.
    /// - Returns: `nil` if the timestamps cannot be searched.
    init?(
        _ head: MediaHead, bytes: [UInt8], stride: Int, url: String, byteCount: Int, duration: Duration,
        selection: FileSelection, client: ResourceClient
    ) {
        guard let track = selection.video ?? selection.audio.first, duration > .zero,
            let tables = TransportStreamPreamble(head: bytes, stride: stride, holding: [track.id])
        else { return nil }
        self.url = url
        self.byteCount = byteCount
        self.stride = stride
        self.tables = tables
        pid = track.id
        takesAll = track.mediaType == .audio
        origin = head.origin.converted(to: 90_000).value
        self.duration = duration
        self.client = client
        let share = Double(byteCount) * min(1, Self.window / duration)
        windowByteCount = min(max(Int(share), Self.windowByteCounts.lowerBound), Self.windowByteCounts.upperBound)
        // Longer than the maximum distance between sync frames at the beginning of the file.
        let syncs = (head.extents[track.id]?.times ?? []).filter(\.isSync).map(\.pts)
        let distance = takesAll ? 0 : zip(syncs, syncs.dropFirst()).map { $1 - $0 }.max() ?? 0
        segmentDuration = max(Self.shortestSegment, .milliseconds(min(max(distance, 0) / 45, 60_000)))
    }

    var segmentCount: Int { max(1, Int((duration / segmentDuration).rounded(.up))) }

    func time(ofSegment index: Int) -> Duration { segmentDuration * index }

    func durations() -> [Duration] {
        (0..<segmentCount).map { min(segmentDuration, duration - time(ofSegment: $0)) }
    }

    func time(_ pts: Int64) -> Duration {
        let period = Int64(1) << 33
        var distance = (pts - origin) & (period - 1)
        // Treat a time a little before the start as negative, not as one after the wrap.
        if distance > period - 90_000 * 60 { distance -= period }
        return .microseconds(distance * 100 / 9)
    }

    func byteCount(of time: Duration) -> Int { Int(max(0, time / duration) * Double(byteCount)) }

    // MARK: Places

    func begin(_ index: Int) { places.withLock { $0.reading[index, default: 0] += 1 } }

    /// Notes that a task has read a segment or gives up on it.
    func end(_ index: Int) {
        places.signal { places in
            let count = places.reading[index, default: 0] - 1
            places.reading[index] = count > 0 ? count : nil
        }
    }

    func note(start: Int, ofSegment index: Int) {
        places.signal { $0.known[index] = start }
    }

    /// Returns the start offset of a segment. If it is unknown, waits for the reader of the previous segment, or
    /// searches for it with requests.
    func start(ofSegment index: Int) async throws -> Int {
        await places.wait { places in
            places.known[index] == nil && places.reading[index - 1] != nil ? nil : ()
        }
        try Task.checkCancellation()
        if let start = places.withLock({ $0.known[index] }) { return start }
        let start = try await search(index)
        note(start: start, ofSegment: index)
        return start
    }

    func keep(_ bytes: [UInt8], from offset: Int) { rest.withLock { $0 = bytes.isEmpty ? nil : (offset, bytes) } }

    /// The bytes kept from this offset on. They are not removed, because another track may also be read from there.
    func rest(from offset: Int) -> [UInt8] {
        rest.withLock { $0?.offset == offset ? $0?.bytes ?? [] : [] }
    }

    // MARK: Opening

    static let smallestByteCount = 128 << 10
    private static let endByteCount = 256 << 10

    /// - Returns: `nil` if the file should be read as one segment.
    static func open(
        _ url: String, byteCount: Int, stride: Int, client: ResourceClient
    ) async throws -> FilePresentation? {
        func read(_ range: Range<Int>) async throws -> (MediaHead, [UInt8]) {
            let bytes = try await client.bytes(
                url, .segment, range: UInt64(range.lowerBound)..<UInt64(range.upperBound), limit: range.count,
                namedBy: nil)
            var reader = MediaHeadReader(.all)
            do {
                _ = try reader.take(bytes)
                return (try reader.finish(), bytes)
            } catch let error as MediaError {
                throw HLSError(error, url: url)
            }
        }
        do {
            let (head, bytes) = try await read(0..<min(endByteCount, byteCount))
            let (tail, _) = try await read(max(0, byteCount - endByteCount)..<byteCount)
            guard let end = tail.end(after: head.origin), let length = (end - head.origin).duration else { return nil }
            let selection = FileSelection(head.tracks)
            guard
                let file = TransportStreamFile(
                    head, bytes: bytes, stride: stride, url: url, byteCount: byteCount, duration: length,
                    selection: selection, client: client),
                try await file.hasSteadyTime()
            else { return nil }
            return FilePresentation(file, selection: selection)
        } catch let error as HLSError where error.code == .badMedia {
            return nil
        }
    }

    // MARK: Search

    private struct Place {
        var offset: Int
        var time: Duration
    }

    private func search(_ index: Int) async throws -> Int {
        let target = time(ofSegment: index)
        var low = Place(offset: 0, time: .zero)
        var high = Place(offset: byteCount, time: duration)
        for (other, offset) in places.withLock({ $0.known }) {
            let place = Place(offset: offset, time: time(ofSegment: other))
            if place.time < target, place.time > low.time { low = place }
            if place.time > target, place.time < high.time { high = place }
        }
        var probeCount = 0
        while high.offset - low.offset > windowByteCount * 4, target - low.time > .seconds(1),
            high.time > low.time, probeCount < Self.maximumProbeCount
        {
            probeCount += 1
            var share = min(max((target - low.time) / (high.time - low.time), 0), 1)
            // If the bit rate varies much, plain halving converges.
            if probeCount > 6 { share = 0.5 }
            let guess = low.offset + Int(Double(high.offset - low.offset) * share)
            let offset = min(max(guess - windowByteCount / 2, low.offset + stride), high.offset - windowByteCount)
            let points = try await points(from: offset, to: min(offset + windowByteCount, byteCount))
            guard let first = points.first, time(first.pts) < duration + .seconds(10) else { break }
            if time(first.pts) <= target {
                low = Place(offset: first.offset, time: time(first.pts))
            } else {
                high = Place(offset: offset, time: time(first.pts))
            }
        }
        return try await lastSyncPoint(near: low.offset, target)
    }

    /// Finds the last position at or before `target` at which decoding can start. The search begins at `offset`, before
    /// it.
    private func lastSyncPoint(near offset: Int, _ target: Duration) async throws -> Int {
        var found: Int?
        var from = offset
        while from < byteCount, from - offset < Self.maximumReach {
            let end = min(from + windowByteCount, byteCount)
            // Packets across the window boundary belong to one of the two windows.
            let points = try await points(from: from, to: min(end + stride * 8, byteCount))
            for point in points where point.isRandomAccess && time(point.pts) <= target { found = point.offset }
            if points.contains(where: { time($0.pts) > target + Self.reordering }) { break }
            from = end
        }
        if let found { return found }
        var end = offset
        var step = windowByteCount * 2
        while end > 0, offset - end < Self.maximumReach {
            let start = max(0, end - step)
            let points = try await points(from: start, to: min(end + stride * 8, byteCount))
            if let sync = points.last(where: { $0.isRandomAccess && time($0.pts) <= target }) { return sync.offset }
            end = start
            step = min(step * 2, 1 << 20)
        }
        return 0
    }

    private func points(from start: Int, to end: Int) async throws -> [TransportStreamScanner.Point] {
        guard start < end else { return [] }
        let bytes = try await client.bytes(
            url, .segment, range: UInt64(start)..<UInt64(end), limit: end - start, namedBy: nil)
        var scanner = TransportStreamScanner(pid: pid, start: start, stride: stride, takesAll: takesAll)
        return scanner.append(bytes)
    }

    /// Whether timestamps increase steadily through the file. The timestamps of several concatenated streams cannot be
    /// searched.
    func hasSteadyTime() async throws -> Bool {
        var last = Duration.zero
        for quarter in 1...3 {
            let offset = byteCount / 4 * quarter
            let points = try await points(from: offset, to: min(offset + windowByteCount, byteCount))
            guard let first = points.first else { continue }
            let time = time(first.pts)
            guard time > last, time < duration else { return false }
            last = time
        }
        return true
    }
}
