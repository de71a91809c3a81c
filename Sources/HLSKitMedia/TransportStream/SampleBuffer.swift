import Glibc

/// A buffer whose bytes become samples without copying: the sample takes over the memory, cut to its size.
///
/// If the buffer has been copied, the first copy to change allocates new memory.
struct SampleBuffer: Sendable {
    private final class Memory: @unchecked Sendable {  // changed only while there is a single reference
        var base: UnsafeMutableRawPointer
        var capacity: Int
        var isGiven = false

        init(capacity: Int) {
            base = .allocate(byteCount: capacity + SampleData.paddingByteCount, alignment: 16)
            self.capacity = capacity
        }

        deinit { if !isGiven { base.deallocate() } }
    }

    /// The minimum capacity for a sample, and the maximum before any of its bytes exist.
    private static let leastCapacity = 1 << 10
    private static let largestGuess = 96 << 10
    /// The largest number of bytes in front of a sample that may remain in its memory.
    private static let largestLead = 64

    private var memory: Memory?
    private(set) var count = 0
    /// The size of a recent large sample, which is allocated in advance for the next one.
    private var guess = 0
    /// The number of bytes copied outside ``append(_:)``, for tests.
    private(set) var recopiedByteCount = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(count + bytes.count)
        memory?.base.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    private mutating func reserve(_ needed: Int) {
        if memory != nil, isKnownUniquelyReferenced(&memory), let memory {
            guard memory.capacity < needed else { return }
            let capacity = max(needed, 2 * memory.capacity)
            guard let base = realloc(memory.base, capacity + SampleData.paddingByteCount) else {
                return move(to: capacity)
            }
            // The usual case.
            recopiedByteCount += count
            memory.base = base
            memory.capacity = capacity
        } else {
            move(to: max(needed, min(guess, Self.largestGuess), Self.leastCapacity))
        }
    }

    private mutating func move(to capacity: Int) {
        let new = Memory(capacity: capacity)
        if let memory, count > 0 {
            new.base.copyMemory(from: memory.base, byteCount: count)
            recopiedByteCount += count
        }
        memory = new
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: memory?.base, count: count))
    }

    func bytes(_ range: Range<Int>) -> [UInt8] {
        withUnsafeBytes { bytes in
            let range = range.clamped(to: 0..<bytes.count)
            return Array(bytes[range])
        }
    }

    /// Returns a sample with a copy of some of the bytes, which remain in the buffer.
    mutating func copy(_ range: Range<Int>) -> SampleData {
        let range = range.clamped(to: 0..<count)
        recopiedByteCount += range.count
        return withUnsafeBytes { bytes in
            SampleData(count: range.count) { $0.copyMemory(from: .init(rebasing: bytes[range])) }
        }
    }

    /// Returns a sample of some of the bytes and removes them, along with all bytes before them.
    mutating func take(_ range: Range<Int>) -> SampleData {
        let range = range.clamped(to: 0..<count)
        guard range.lowerBound <= Self.largestLead, isKnownUniquelyReferenced(&memory), let memory else {
            let data = copy(range)
            removeFirst(range.upperBound)
            return data
        }
        guess = max(range.count, guess - guess / 256)
        let restCount = count - range.upperBound
        var rest: Memory?
        if restCount > 0 {
            let new = Memory(capacity: max(restCount, min(guess, Self.largestGuess), Self.leastCapacity))
            new.base.copyMemory(from: memory.base + range.upperBound, byteCount: restCount)
            recopiedByteCount += restCount
            rest = new
        }
        let size = range.upperBound + SampleData.paddingByteCount
        let base = realloc(memory.base, size) ?? memory.base
        memory.isGiven = true
        self.memory = rest
        count = restCount
        return SampleData(adopting: base, from: range.lowerBound, count: range.count)
    }

    mutating func removeFirst(_ byteCount: Int) {
        guard byteCount > 0 else { return }
        guard byteCount < count else { return removeAll() }
        if !isKnownUniquelyReferenced(&memory) { move(to: count) }
        guard let memory else { return }
        memmove(memory.base, memory.base + byteCount, count - byteCount)
        recopiedByteCount += count - byteCount
        count -= byteCount
    }

    /// Removes all bytes but keeps the memory for reuse.
    mutating func removeAll() {
        count = 0
        if !isKnownUniquelyReferenced(&memory) { memory = nil }
    }
}
