/// The received but unread bytes of a segment, in order.
struct UnreadBytes: Sendable {
    private var chunks: [[UInt8]] = []
    private var next = 0
    private(set) var count = 0

    var isEmpty: Bool { next == chunks.count }

    mutating func append(_ bytes: [UInt8]) {
        chunks.append(bytes)
        count += bytes.count
    }

    mutating func takeFirst() -> [UInt8]? {
        guard next < chunks.count else { return nil }
        defer {
            next += 1
            if isEmpty { (chunks, next) = ([], 0) }
        }
        // The caller must hold the only reference to the bytes.
        let bytes = chunks[next]
        chunks[next] = []
        count -= bytes.count
        return bytes
    }

    mutating func removeAll() { self = UnreadBytes() }
}
