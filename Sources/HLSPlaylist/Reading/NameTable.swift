/// Finds which of a fixed set of names a few bytes are, in constant time and without making a `String`.
struct NameTable: Sendable {
    private struct Slot: Sendable {
        var head: UInt64 = 0
        var tail: UInt64 = 0
        var length = 0
        var index: UInt8 = 0
    }

    private let slots: [Slot]
    private let names: [[UInt8]]
    private static let slotCount = 512

    /// At most 200 different, non-empty names.
    init(_ names: [String]) {
        precondition(names.count <= 200, "the table is made for at most 200 names")
        var slots = [Slot](repeating: Slot(), count: Self.slotCount)
        self.names = names.map { Array($0.utf8) }
        for (index, name) in self.names.enumerated() {
            let (head, tail) = Self.key(name.span, 0..<name.count)
            var position = Self.hash(head, tail, name.count)
            while slots[position].length != 0 { position = (position + 1) & (Self.slotCount - 1) }
            slots[position] = Slot(head: head, tail: tail, length: name.count, index: UInt8(index))
        }
        self.slots = slots
    }

    /// The index of the name that `range` holds.
    @inline(__always)
    func index(of range: Range<Int>, in bytes: borrowing Span<UInt8>) -> UInt8? {
        guard !range.isEmpty else { return nil }
        let (head, tail) = Self.key(bytes, range)
        var position = Self.hash(head, tail, range.count)
        while true {
            let slot = slots[position]
            if slot.length == 0 { return nil }
            if slot.head == head, slot.tail == tail, slot.length == range.count {
                if slot.length <= 16 || matches(names[Int(slot.index)], range, bytes) { return slot.index }
            }
            position = (position &+ 1) & (Self.slotCount &- 1)
        }
    }

    private func matches(_ name: [UInt8], _ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> Bool {
        for offset in 8..<name.count where bytes[range.lowerBound + offset] != name[offset] { return false }
        return true
    }

    /// The first eight bytes and, of a longer name, the last eight.
    @inline(__always)
    private static func key(_ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> (UInt64, UInt64) {
        let start = range.lowerBound
        let length = range.count
        if length >= 8 {
            return (bytes.word(at: start), length == 8 ? 0 : bytes.word(at: range.upperBound &- 8))
        }
        if start &+ 8 <= bytes.count {
            return (bytes.word(at: start) & ((1 as UInt64) &<< UInt64(length &* 8) &- 1), 0)
        }
        var head: UInt64 = 0
        for offset in 0..<length { head |= UInt64(bytes[start &+ offset]) &<< UInt64(offset &* 8) }
        return (head, 0)
    }

    @inline(__always)
    private static func hash(_ head: UInt64, _ tail: UInt64, _ length: Int) -> Int {
        let mixed = (head ^ (tail &* 0x9E37_79B9_7F4A_7C15) ^ UInt64(length)) &* 0xD6E8_FEB8_6659_FD93
        return Int(truncatingIfNeeded: mixed &>> 55)
    }
}
