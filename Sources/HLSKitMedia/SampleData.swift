/// The bytes of one access unit in memory that a decoder may read directly.
///
/// The memory does not change after initialization. It is followed by 64 zero bytes, so decoders that read ahead of
/// their input (like libavcodec) need no copy.
public final class SampleData: @unchecked Sendable {  // immutable after init, and only the class owns `memory`
    /// The zero bytes after the last byte of each access unit.
    package static let paddingByteCount = 64

    package let base: UnsafeMutableRawPointer
    private let memory: UnsafeMutableRawPointer
    /// The number of bytes without the padding.
    public let count: Int

    /// Allocates `count` bytes (plus padding) and calls `fill` to write all of them.
    package init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        precondition(count >= 0, "a sample cannot have a negative size")
        memory = .allocate(byteCount: count + Self.paddingByteCount, alignment: 16)
        base = memory
        self.count = count
        fill(UnsafeMutableRawBufferPointer(start: base, count: count))
        (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.paddingByteCount)
    }

    /// Takes ownership of allocated memory with room for the padding. The sample begins after `offset` bytes.
    init(adopting memory: UnsafeMutableRawPointer, from offset: Int, count: Int) {
        self.memory = memory
        base = memory + offset
        self.count = count
        (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: Self.paddingByteCount)
    }

    package convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { buffer in buffer.copyBytes(from: bytes) }
    }

    deinit { memory.deallocate() }

    /// Calls `body` with the bytes of the sample.
    ///
    /// The pointer is valid only during the call.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }
}
