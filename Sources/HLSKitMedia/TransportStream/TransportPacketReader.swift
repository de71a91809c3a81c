/// Divides bytes into transport stream packets and resynchronizes after other bytes.
///
/// Supports packets of 188 bytes, of 192 (a timestamp of four bytes before each, as in `.m2ts`) and of 204 (a checksum
/// of 16 bytes after each).
struct TransportPacketReader {
    /// The distance of packets and the size of the prefix before the sync byte.
    struct Layout: Hashable {
        var stride: Int
        var prefix: Int
        /// In the order in which they are tried.
        static let known = [
            Layout(stride: 188, prefix: 0), Layout(stride: 192, prefix: 4), Layout(stride: 204, prefix: 0),
        ]
    }

    struct Divided: Sendable {
        var bytes: [UInt8]
        var layout: Layout
    }

    /// The incomplete packet of the previous segment, until enough bytes show whether this segment continues it.
    private var joint: Divided?
    private var pending: [UInt8] = []
    private(set) var offset = 0
    private var layout: Layout?
    private var isInSync = false
    private var garbageStart: Int?

    var hasFoundPackets: Bool { layout != nil }
    var pendingByteCount: Int { pending.count }

    /// After ``finish(process:skipped:)``, the incomplete packet at the end, or nil if the last packet is complete.
    var divided: Divided? {
        guard let layout, !pending.isEmpty, pending.count < layout.stride,
            pending.count <= layout.prefix || pending[layout.prefix] == TransportPacket.syncByte
        else { return nil }
        return Divided(bytes: pending, layout: layout)
    }

    init(continuing divided: Divided? = nil) { joint = divided }

    private static let confirmations = 3
    private static let searchByteCount = 4096

    /// Calls `process` with each complete packet (188 bytes from its sync byte) and `skipped` with each range of other
    /// bytes.
    mutating func append(
        _ bytes: ArraySlice<UInt8>, process: (Span<UInt8>, Int) -> Void, skipped: (Range<Int>) -> Void
    ) {
        var input = bytes
        if joint != nil {
            pending.append(contentsOf: bytes)
            guard join(isLast: false) else { return }
            input = []
            consumePending(isLast: false, process: process, skipped: skipped)
        }
        while !pending.isEmpty && !input.isEmpty {
            let wanted = isInSync ? max(0, (layout?.stride ?? 0) - pending.count) : Self.searchByteCount
            pending.append(contentsOf: input.prefix(wanted))
            input = input.dropFirst(wanted)
            consumePending(isLast: false, process: process, skipped: skipped)
        }
        guard !input.isEmpty else { return }
        let consumed = consume(input.span, isLast: false, process: process, skipped: skipped)
        offset += consumed
        pending.append(contentsOf: input.dropFirst(consumed))
    }

    /// Ends the bytes and accepts weaker evidence for the remaining ones.
    mutating func finish(process: (Span<UInt8>, Int) -> Void, skipped: (Range<Int>) -> Void) {
        if joint != nil { _ = join(isLast: true) }
        consumePending(isLast: true, process: process, skipped: skipped)
        if let start = garbageStart, start < offset + pending.count, hasFoundPackets {
            skipped(start..<offset + pending.count)
            offset += pending.count
            pending = []
        }
    }

    /// Completes the divided packet if the bytes continue it.
    ///
    /// - Returns: Whether the question is decided.
    private mutating func join(isLast: Bool) -> Bool {
        guard let joint else { return true }
        let stride = joint.layout.stride
        guard isLast || pending.count > 2 * stride else { return false }
        func hasPackets(from start: Int) -> Bool {
            Swift.stride(from: start + joint.layout.prefix, to: min(pending.count, start + 2 * stride + 1), by: stride)
                .allSatisfy { pending[$0] == TransportPacket.syncByte }
        }
        self.joint = nil
        guard !hasPackets(from: 0), hasPackets(from: stride - joint.bytes.count) else { return true }
        pending = joint.bytes + pending
        offset = -joint.bytes.count
        layout = joint.layout
        isInSync = true
        return true
    }

    private mutating func consumePending(
        isLast: Bool, process: (Span<UInt8>, Int) -> Void, skipped: (Range<Int>) -> Void
    ) {
        var bytes: [UInt8] = []
        swap(&bytes, &pending)
        let consumed = consume(bytes.span, isLast: isLast, process: process, skipped: skipped)
        offset += consumed
        bytes.removeFirst(consumed)
        swap(&bytes, &pending)
    }

    /// Returns the number of bytes that are no longer needed. `offset` is the offset of the first byte.
    private mutating func consume(
        _ bytes: Span<UInt8>, isLast: Bool, process: (Span<UInt8>, Int) -> Void, skipped: (Range<Int>) -> Void
    ) -> Int {
        var at = 0
        while true {
            if isInSync, let layout {
                // Bytes after the last packet (a checksum) may be missing.
                while at + layout.prefix + TransportPacket.byteCount <= bytes.count {
                    let start = at + layout.prefix
                    guard bytes[start] == TransportPacket.syncByte else {
                        isInSync = false
                        garbageStart = offset + at
                        break
                    }
                    guard at + layout.stride <= bytes.count || isLast else { return at }
                    process(bytes.extracting(start..<start + TransportPacket.byteCount), offset + start)
                    at = min(at + layout.stride, bytes.count)
                }
                if isInSync { return at }
            }
            if garbageStart == nil { garbageStart = offset + at }
            guard let next = search(bytes, from: &at, isLast: isLast) else { return at }
            if let start = garbageStart, start < offset + next.position { skipped(start..<offset + next.position) }
            garbageStart = nil
            layout = next.layout
            isInSync = true
            at = next.position
        }
    }

    /// Searches for the start of a packet. Returns nil if there is none or more bytes are needed, with `at` before the
    /// bytes that must be searched again.
    private func search(
        _ bytes: Span<UInt8>, from at: inout Int, isLast: Bool
    ) -> (position: Int, layout: Layout)? {
        let candidates = layout.map { [$0] } ?? Layout.known
        let reach = (candidates.map(\.stride).max() ?? 0) * (Self.confirmations - 1)
        var sync = at
        while sync < bytes.count {
            guard bytes[sync] == TransportPacket.syncByte else {
                sync += 1
                continue
            }
            if sync + reach >= bytes.count && !isLast { break }
            for layout in candidates where sync - at >= layout.prefix {
                let isConfirmed = (1..<Self.confirmations).allSatisfy { turn in
                    let position = sync + turn * layout.stride
                    return position >= bytes.count || bytes[position] == TransportPacket.syncByte
                }
                if isConfirmed { return (sync - layout.prefix, layout) }
            }
            sync += 1
        }
        // A packet may begin up to one prefix before the current position.
        at = max(at, min(sync, bytes.count) - (candidates.map(\.prefix).max() ?? 0))
        return nil
    }
}
