/// Finds a name of a fixed set in a range of bytes, in constant time and without creating a `String`.
struct NameTable<Name: CaseIterable & RawRepresentable & Sendable>: @unchecked Sendable  // not written after `init`
where Name.RawValue == String {
    private struct Slot {
        var head: UInt64 = 0
        var tail: UInt64 = 0
        var middle: UInt64 = 0
        /// 0 in a free slot.
        var length = 0
        var ordinal = 0
        var name: Name?
    }

    // Sendable because it is never written after `init`. It is a pointer because reference counting of a global array
    // costs more than the lookup. It lives as long as the process, like the static tables that use it. Every index is
    // masked with `slotCount - 1`.
    private let slots: UnsafePointer<Slot>
    private static var slotCount: Int { 512 }

    /// Creates a table of all names: at most 200, none of them empty.
    init() {
        precondition(Name.allCases.count <= 200, "the table is made for at most 200 names")
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: Self.slotCount)
        slots.initialize(repeating: Slot(), count: Self.slotCount)
        for (ordinal, name) in Name.allCases.enumerated() {
            let bytes = Array(name.rawValue.utf8)
            let (head, tail) = Self.key(bytes.span, 0..<bytes.count)
            var position = Self.hash(head, tail, bytes.count)
            while slots[position].length != 0 { position = (position + 1) & (Self.slotCount - 1) }
            let middle = bytes.count > 16 ? bytes.span.word(at: 8) : 0
            slots[position] = Slot(
                head: head, tail: tail, middle: middle, length: bytes.count, ordinal: ordinal, name: name)
        }
        self.slots = UnsafePointer(slots)
    }

    @inline(__always)
    func find(_ range: Range<Int>, in bytes: borrowing Span<UInt8>) -> (name: Name, ordinal: Int)? {
        guard !range.isEmpty else { return nil }
        let (head, tail) = Self.key(bytes, range)
        var position = Self.hash(head, tail, range.count)
        while slots[position].length != 0 {
            if slots[position].head == head, slots[position].tail == tail, slots[position].length == range.count,
                range.count <= 16 || slots[position].middle == bytes.word(at: range.lowerBound &+ 8),
                let name = slots[position].name, range.count <= 24 || Self.matches(name, range, bytes)
            {
                return (name, slots[position].ordinal)
            }
            position = (position &+ 1) & (Self.slotCount &- 1)
        }
        return nil
    }

    private static func matches(_ name: Name, _ range: Range<Int>, _ bytes: borrowing Span<UInt8>) -> Bool {
        var index = range.lowerBound
        for byte in name.rawValue.utf8 {
            guard bytes[index] == byte else { return false }
            index += 1
        }
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
