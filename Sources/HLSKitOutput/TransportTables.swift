import HLSKitMedia

struct TransportTables {
    private var count = 0
    /// The PIDs, by the kind of the stream and its number among streams of this kind.
    private var pids: [String: Int] = [:]

    /// Returns the version of the next tables. Readers detect new tables by their version.
    mutating func nextVersion() -> String {
        defer { count += 1 }
        return String(count % 32)
    }

    /// Returns the PIDs of the tracks. A PID is never reused for another kind of stream.
    mutating func pids(of tracks: [MediaTrack]) -> [Int] {
        var counts: [String: Int] = [:]
        return tracks.map { track in
            let kind = "\(track.mediaType.rawValue) \(track.codec.rawValue)"
            let number = counts[kind, default: 0]
            counts[kind] = number + 1
            let pid = pids["\(kind) \(number)"] ?? 0x100 + pids.count
            pids["\(kind) \(number)"] = pid
            return pid
        }
    }
}
