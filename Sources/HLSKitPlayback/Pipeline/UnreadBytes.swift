/// What has arrived of a segment and was not read yet, in its order.
struct UnreadBytes: Sendable {
    private var chunks: [[UInt8]] = []
    /// Chunks before this place were taken.
    private var next = 0
    /// Bytes that were not taken yet.
    private(set) var count = 0

    var isEmpty: Bool { next == chunks.count }

    mutating func append(_ bytes: [UInt8]) {
        chunks.append(bytes)
        count += bytes.count
    }

    /// The bytes that came first of those that are left; nil when all were taken.
    mutating func takeFirst() -> [UInt8]? {
        guard next < chunks.count else { return nil }
        defer {
            next += 1
            if isEmpty { (chunks, next) = ([], 0) }
        }
        // Whoever takes the bytes is the only one who has them.
        let bytes = chunks[next]
        chunks[next] = []
        count -= bytes.count
        return bytes
    }

    mutating func removeAll() { self = UnreadBytes() }
}
